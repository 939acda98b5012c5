// Rewriting: where rules apply in a graph, and what applying them gives.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/rule.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// A place where a rule applies: the ports bound to the rule's inputs and the graph's nodes for the source's nodes.
struct Match {
  std::size_t rule = 0;  ///< Position in the rule list.
  std::vector<Port> inputs;
  std::vector<NodeId> nodes;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< Size variables that are not sizes of inputs.
};

/// The rules over a graph: where they apply, and what applying gives.
class REWRIGHT_API RewriteSystem {
 public:
  virtual ~RewriteSystem();
  [[nodiscard]] virtual std::span<const Rule> rules() const = 0;
  /// All matches whose preconditions hold, in one fixed order.
  [[nodiscard]] virtual std::vector<Match> matches(const Graph& graph) const = 0;
  /// The graph with the match replaced. Errors: kShape or kInternal where the rule does not hold what it promises;
  /// kUnsupported where its operators do not take the graph's element types.
  [[nodiscard]] virtual Result<Graph> apply(const Graph& graph, const Match& match) const = 0;
  /// What a search remembers of the graphs it has seen: equal for graphs that differ in names, in node order or in
  /// the order of a commutative operator's operands only.
  [[nodiscard]] virtual Hash128 hash(const Graph& graph) const = 0;
};

}  // namespace rewright
