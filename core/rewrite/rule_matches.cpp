#include "rewrite/rule_matches.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "rewrite/match_table.h"
#include "rewrite/node_pool.h"
#include "rewrite/pool_rewriter.h"
#include "rewrite/rule_set.h"

namespace rewright {
namespace {

/// One rule over one graph.
class SingleRule {
 public:
  SingleRule(const Rule& rule, const Graph& graph)
      : rules_({rule}), pool_(graph), nodes_(pool_.size()), rewriter_(pool_, rules_) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    for (std::uint32_t i = 0; i < pool_.start_nodes().size(); ++i) first_.emplace(pool_.start_nodes()[i], i);
  }

  [[nodiscard]] Status check_usable() const {
    if (rules_.unusable().empty()) return {};
    return make_error(ErrorCode::kUnsupported, "the rule never matches: {}", rules_.unusable().front().reason);
  }

  /// Those that can be replaced, with the outputs that this gives.
  [[nodiscard]] std::vector<std::pair<RuleMatch, std::vector<Port>>> all() {
    MatchTable table(pool_, rules_);
    std::vector<MatchRecord> records;
    table.find(nodes_, records);
    std::vector<std::pair<RuleMatch, std::vector<Port>>> found;
    for (const MatchRecord& record : records) {
      Binding binding;
      table.read(record, binding);
      std::vector<Port> outputs;
      if (rewriter_.apply(nodes_, pool_.start_outputs(), record.program, binding, outputs) !=
          PoolRewriter::Outcome::kDone)
        continue;
      found.emplace_back(in_graph(binding), std::move(outputs));
    }
    return found;
  }
  [[nodiscard]] Result<Graph> graph(std::span<const Port> outputs) const { return pool_.graph(outputs); }

 private:
  [[nodiscard]] RuleMatch in_graph(const Binding& binding) const {
    RuleMatch match;
    for (const Port& port : binding.inputs) match.inputs.push_back({NodeId{first_.at(port.node.value)}, port.output});
    for (const std::uint32_t node : binding.nodes) match.nodes.push_back(NodeId{first_.at(node)});
    return match;
  }

  RuleSet rules_;
  NodePool pool_;
  std::vector<std::uint32_t> nodes_;  ///< Of the graph.
  PoolRewriter rewriter_;
  std::map<std::uint32_t, std::uint32_t> first_;  ///< By node of the pool: the graph's first one that is it.
};

}  // namespace

Result<std::vector<RuleMatch>> find_matches(const Rule& rule, const Graph& graph) {
  SingleRule single(rule, graph);
  REWRIGHT_CHECK(single.check_usable());
  std::vector<RuleMatch> matches;
  for (auto& [match, outputs] : single.all()) matches.push_back(std::move(match));
  return matches;
}

Result<Graph> apply_match(const Rule& rule, const Graph& graph, const RuleMatch& match) {
  SingleRule single(rule, graph);
  REWRIGHT_CHECK(single.check_usable());
  for (const auto& [found, outputs] : single.all())
    if (found == match) return single.graph(outputs);
  return make_error(ErrorCode::kMismatch, "this is no match of rule {} in this graph; matches are found for one graph",
                    rule.name);
}

}  // namespace rewright
