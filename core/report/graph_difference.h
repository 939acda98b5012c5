// Which parts of a graph have no counterpart in another one: what rewriting has changed, for drawings.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace rewright {

/// By node of a graph: which node of another one it is, if any. No two are one.
using Counterparts = std::vector<std::optional<std::uint32_t>>;

/// Nodes are one where both are the same operator with the same parameters and types and, the first that holds: are
/// computed the same way from the inputs; give the outputs in the same way; have all operands, or all uses, in common;
/// have the same neighbours. Names do not count, other than inputs'.
[[nodiscard]] REWRIGHT_API Counterparts counterparts(const Graph& graph, const Graph& other);
/// The other way round, for a graph of `size` nodes.
[[nodiscard]] REWRIGHT_API Counterparts reversed(const Counterparts& counterparts, std::size_t size);

/// Nodes without a counterpart, and those whose counterpart takes another weight, or other work on weights.
[[nodiscard]] REWRIGHT_API std::vector<bool> touched_nodes(const Graph& graph, const Counterparts& counterparts,
                                                           const Graph& other);
/// The same of two graphs.
[[nodiscard]] REWRIGHT_API std::vector<bool> changed_nodes(const Graph& graph, const Graph& other);

}  // namespace rewright
