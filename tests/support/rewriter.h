// A list of rules over graphs, one rule after the other: where each applies (matcher.h), and the graph after one of
// them was applied. Searches have faster ways to the same (rule_set.h, pool_rewriter.h), which are held against this.
//
// Applying a match redirects each tensor that the source's outputs stand for to the target's output, everywhere, and
// drops what nothing needs any more. It costs one pass over the graph.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/rule/rule.h>

#include <span>
#include <string>
#include <vector>

#include "support/matcher.h"

namespace rewright {

class Rewriter {
 public:
  explicit Rewriter(std::vector<Rule> rules);

  /// A rule that is in the list and never matches.
  struct Unusable {
    std::size_t rule;
    std::string reason;
  };
  [[nodiscard]] std::span<const Unusable> unusable() const { return unusable_; }

  [[nodiscard]] std::span<const Rule> rules() const { return rules_; }
  /// By rule, then by the nodes that match. Rules whose operators the graph lacks cost a look-up: on a ResNet-50 of 444
  /// nodes, 300 rules take 0.04 ms and 9,766 rules 0.9 ms on one core.
  [[nodiscard]] std::vector<Match> matches(const Graph& graph) const;
  /// The graph with the match replaced. Errors: kShape or kInternal where the rule does not hold what it promises;
  /// kUnsupported where its operators do not take the graph's element types.
  [[nodiscard]] Result<Graph> apply(const Graph& graph, const Match& match) const;

 private:
  std::vector<Rule> rules_;
  std::vector<std::pair<std::size_t, CompiledRule>> compiled_;  ///< By rule position, ascending.
  std::vector<Unusable> unusable_;
};

}  // namespace rewright
