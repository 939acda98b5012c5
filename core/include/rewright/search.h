// Search strategies: plugins that walk the graphs which the rules reach, towards a cheaper one.
#pragma once

#include <rewright/cost.h>
#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/rewrite.h>
#include <rewright/verifier.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rewright {

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
  std::uint64_t steps = 1000;  ///< Graphs expanded at most.
  std::uint64_t seed = 1;
  /// Called at each step with (steps done, candidates seen, best cost); false ends the search early.
  std::function<bool(std::uint64_t, std::uint64_t, double)> progress;
};

struct SearchResult {
  Graph best;
  double cost_before_us = 0;
  double cost_after_us = 0;
  std::vector<RewriteStep> path;  ///< From the start to `best`.
  std::uint64_t steps = 0;
  std::uint64_t candidates = 0;  ///< Graphs made by applying a rule.
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
