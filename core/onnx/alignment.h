// Which node of a rewritten graph stands where which node of the original stood.
//
// Two nodes correspond if they apply the same operator with the same parameters to tensors of the same types (or are
// the same opaque node) and
//   (1) their operands correspond: then they compute the same; or
//   (2) they make the same output of the graphs, or the same operand of corresponding nodes; or
//   (3) they are the only such users of corresponding tensors; or
//   (4) of nodes like them they alone work on a weight, which may have been worked on itself (a convolution, into whose
//       weight a scale went); or
//   (5) of nodes like them, both graphs have as many left: they are the n-th ones.
// (2) to (5) are guesses that names are given by, not claims about values: what is written is a node that applies the
// operator to the operands of the rewritten graph, whatever the guess.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rewright::model {

/// How far guesses go: none, (2) and (3), (4) as well, all. Each further one may be a wrong one more often.
enum class Guesses : std::uint8_t { kNone, kNeighbours, kWeights, kAll };

class Alignment {
 public:
  /// Borrows both.
  Alignment(const Graph& now, const Graph& then, Guesses guesses = Guesses::kAll);

  [[nodiscard]] std::optional<NodeId> then_of(NodeId now) const { return then_of_[now.value]; }
  [[nodiscard]] std::optional<NodeId> now_of(NodeId then) const { return now_of_[then.value]; }
  [[nodiscard]] std::optional<Port> now_of(Port then) const {
    const auto node = now_of(then.node);
    return node ? std::optional(Port{*node, then.output}) : std::nullopt;
  }
  /// True where the node, and all that it is computed from, is as in the original.
  [[nodiscard]] bool is_same(NodeId now) const { return same_[now.value]; }

 private:
  void match_inputs();
  void match_same();
  void match_outputs();
  void match_users();
  void match_weights();
  void match_rest();
  bool match(NodeId now, NodeId then);
  void match_operands();
  void match_neighbours();
  void match_users_of(NodeId now);

  const Graph& now_;
  const Graph& then_;
  std::vector<std::optional<NodeId>> then_of_;
  std::vector<std::optional<NodeId>> now_of_;
  std::vector<bool> same_;
  std::vector<std::vector<NodeId>> users_now_;
  std::vector<std::vector<NodeId>> users_then_;
  std::vector<NodeId> matched_;         ///< Nodes of the rewritten graph, in the order in which guesses found them.
  std::size_t operands_looked_at_ = 0;  ///< Of so many of them.
  std::size_t users_looked_at_ = 0;
};

/// By node: who uses it, each user once per operand, ascending.
[[nodiscard]] std::vector<std::vector<NodeId>> users_of(const Graph& graph);

}  // namespace rewright::model
