// Where one rule matches in a graph, and the graph after one match was replaced: for people and programs that look at
// single steps. Searches hold their graphs in a pool (node_pool.h) and keep it.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/rule/rule.h>

#include <vector>

namespace rewright {

struct RuleMatch {
  std::vector<Port> inputs;   ///< Of the graph, by input of the rule.
  std::vector<NodeId> nodes;  ///< Of the graph, by node of the source.
  friend bool operator==(const RuleMatch&, const RuleMatch&) = default;
};

/// Every match that can be replaced, in an order that depends on both alone. Equal nodes of the graph are one: the
/// first stands for them. Errors: kUnsupported, a rule that never matches, and why.
[[nodiscard]] REWRIGHT_API Result<std::vector<RuleMatch>> find_matches(const Rule& rule, const Graph& graph);

/// The graph with the match replaced; inputs stay, what nothing needs any more goes. Errors: kMismatch, it is no match
/// of the rule in this graph; kUnsupported, as find_matches, and operators that do not take the graph's types.
[[nodiscard]] REWRIGHT_API Result<Graph> apply_match(const Rule& rule, const Graph& graph, const RuleMatch& match);

}  // namespace rewright
