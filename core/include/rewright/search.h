// Search strategies: plugins that walk the graphs which the rules reach, towards a cheaper one.
#pragma once

#include <rewright/cost.h>
#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/rule.h>
#include <rewright/verifier.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
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
  /// The graph with the match replaced. Errors: kShape or kInternal where the rule does not hold what it promises.
  [[nodiscard]] virtual Result<Graph> apply(const Graph& graph, const Match& match) const = 0;
};

/// One step from the original towards the result.
struct RewriteStep {
  std::string rule_id;
  std::string rule_name;
  double cost_before_us = 0;
  double cost_after_us = 0;
  Graph graph;  ///< After the step.
};

struct SearchProblem {
  const Graph& start;
  const RewriteSystem& rewrites;
  GraphCost& cost;
  std::uint64_t steps = 1000;       ///< Graphs expanded at most.
  std::uint64_t seed = 1;
  /// Called at each step with (steps done, candidates seen, best cost); false ends the search early.
  std::function<bool(std::uint64_t, std::uint64_t, double)> progress;
};

struct SearchResult {
  Graph best;
  double cost_before_us = 0;
  double cost_after_us = 0;
  std::vector<RewriteStep> path;    ///< From the start to `best`.
  std::uint64_t steps = 0;
  std::uint64_t candidates = 0;     ///< Graphs made by applying a rule.
  bool stopped_early = false;
};

class REWRIGHT_API SearchStrategy {
 public:
  virtual ~SearchStrategy();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  virtual Status configure(const Options& options) = 0;
  /// Deterministic for one problem and seed. The result is never dearer than the start.
  [[nodiscard]] virtual Result<SearchResult> run(const SearchProblem& problem) = 0;
  [[nodiscard]] virtual std::unique_ptr<SearchStrategy> clone() const = 0;
};

}  // namespace rewright
