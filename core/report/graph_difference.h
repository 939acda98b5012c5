// Which parts of a graph have no counterpart in another one: what rewriting has changed, for drawings.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <vector>

namespace rewright {

/// By node of `graph`: true where `other` has no node that is computed the same way from the inputs, nor one from which
/// the outputs are computed the same way, nor one with the same neighbours. Names do not count, other than inputs'.
[[nodiscard]] REWRIGHT_API std::vector<bool> changed_nodes(const Graph& graph, const Graph& other);

}  // namespace rewright
