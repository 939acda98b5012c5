// Are two graphs the same but for what does not matter? One form for all that are.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>

namespace rewright {

enum class InputMatching : std::uint8_t {
  kByPosition,  ///< The first input is the first input.
  kAny,         ///< Inputs of equal type and kind may be exchanged.
};

/// Are the graphs the same up to names, the order of nodes and the order of commutative operators' operands? Outputs
/// are compared in order; constants and opaque nodes by their bytes. VF2 (Cordella et al., IEEE TPAMI 26(10), 2004),
/// guided by hashes of what each node computes: near-linear in practice, exponential at worst where inputs may be
/// exchanged.
[[nodiscard]] bool isomorphic(const Graph& a, const Graph& b, InputMatching inputs = InputMatching::kByPosition);

/// One graph for all that are isomorphic by position: nodes in depth-first order from the outputs, operands of
/// commutative operators in the order of their hashes, inputs named x0, x1, ..., no other names. (Equal opaque nodes on
/// equal operands are kept apart, since they may be random; where a commutative operator exchanges two such, the form
/// depends on which comes first.)
[[nodiscard]] Graph canonical(const Graph& graph);

}  // namespace rewright
