// Questions about the structure of graphs, answered by Boost.Graph's algorithms (on "graph/data_flow.h").
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace rewright {

enum class InputMatching : std::uint8_t {
  kByPosition,  ///< The first input is the first input.
  kAny,         ///< Inputs of equal type and kind may be exchanged.
};

/// Are the graphs the same up to names, the order of nodes and the order of commutative operators' operands? Outputs
/// are compared in order; constants and opaque nodes by their bytes. VF2 (Cordella et al., IEEE TPAMI 26(10), 2004),
/// guided by hashes of what each node computes: near-linear in practice, exponential at worst where inputs may be
/// exchanged.
[[nodiscard]] REWRIGHT_API bool isomorphic(const Graph& a, const Graph& b,
                                           InputMatching inputs = InputMatching::kByPosition);

/// One graph for all that are isomorphic by position: nodes in depth-first order from the outputs, operands of
/// commutative operators in the order of their hashes, inputs named x0, x1, ..., no other names. (Equal opaque nodes on
/// equal operands are kept apart, since they may be random; where a commutative operator exchanges two such, the form
/// depends on which comes first.)
[[nodiscard]] REWRIGHT_API Graph canonical(const Graph& graph);

/// Which nodes are computed from which. Quadratic in memory, one bit per pair: for graphs of up to some ten thousand
/// nodes.
class REWRIGHT_API Reachability {
 public:
  explicit Reachability(const Graph& graph);
  /// Is there a path of one edge or more?
  [[nodiscard]] bool reaches(NodeId from, NodeId to) const { return bits_[from.value * nodes_ + to.value]; }

 private:
  std::size_t nodes_;
  std::vector<bool> bits_;
};

/// By node: the first other node that everything flowing from it to the outputs must pass, its immediate
/// post-dominator; nothing where there is none but the end. What is computed for one node alone lies between the two.
/// Lengauer-Tarjan.
[[nodiscard]] REWRIGHT_API std::vector<std::optional<NodeId>> post_dominators(const Graph& graph);

}  // namespace rewright
