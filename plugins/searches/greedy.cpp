/// Steepest descent: of all graphs one rewrite away take the cheapest, as long as it is cheaper; of equal ones the
/// first. Deterministic, no options.
#include <rewright/plugin.h>

#include <optional>

namespace {
using namespace rewright;

struct Step {
  Graph graph;
  double cost_us;
  std::size_t rule;
};

/// The cheapest graph one rewrite away; nothing if the search was stopped.
Result<std::optional<Step>> cheapest(const SearchProblem& problem, const Graph& graph, double cost_us,
                                     SearchResult& result) {
  Step best{graph, cost_us, 0};
  for (const Match& match : problem.rewrites.matches(graph)) {
    Result<Graph> candidate = problem.rewrites.apply(graph, match);
    if (!candidate) continue;  // The rewrites keep account of what they refuse.
    ++result.candidates;
    REWRIGHT_TRY(const double cost, problem.cost.cost_us(*candidate));
    if (cost < best.cost_us) best = {*std::move(candidate), cost, match.rule};
    if (result.candidates % 64 == 0 && problem.progress &&
        !problem.progress(result.steps, result.candidates, best.cost_us)) {
      result.stopped_early = true;
      break;  // The best so far is a step all the same.
    }
  }
  if (!(best.cost_us < cost_us)) return std::optional<Step>();
  return std::optional<Step>(std::move(best));
}

class Greedy final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "greedy"; }
  [[nodiscard]] std::string summary() const override {
    return "Steepest descent: the best single rewrite, again and again";
  }
  Status configure(const Options& options) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "search greedy has no option '{}'; it has none", options.begin()->first);
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    SearchResult result;
    result.best = problem.start;
    REWRIGHT_TRY(result.cost_before_us, problem.cost.cost_us(problem.start));
    result.cost_after_us = result.cost_before_us;
    while (result.steps < problem.steps && !result.stopped_early) {
      if (problem.progress && !problem.progress(result.steps, result.candidates, result.cost_after_us)) {
        result.stopped_early = true;
        break;
      }
      REWRIGHT_TRY(std::optional<Step> step, cheapest(problem, result.best, result.cost_after_us, result));
      ++result.steps;
      if (!step) break;
      const Rule& rule = problem.rewrites.rules()[step->rule];
      result.path.push_back({rule.id, rule.name, result.cost_after_us, step->cost_us, step->graph});
      result.best = std::move(step->graph);
      result.cost_after_us = step->cost_us;
    }
    return result;
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Greedy>(); }
};

}  // namespace

REWRIGHT_PLUGIN("search.greedy", "1.0.0", "Steepest descent") {
  registry.add<SearchStrategy>(std::make_unique<Greedy>());
}
