#include "optimize/optimizer.h"

#include <chrono>
#include <utility>

#include "optimize/concat_form.h"
#include "optimize/normal_form.h"
#include "optimize/regions.h"

namespace rewright {
namespace {

/// Puts the step to the normal form before the path, or takes the graph as it was given where the whole way does not
/// pay.
void enter_normal_form(const Graph& given, double given_us, const Graph& start, SearchResult& search) {
  const double start_us = search.cost_before_us;
  search.cost_before_us = given_us;
  if (!search.path.empty() && search.cost_after_us < given_us) {
    search.path.insert(search.path.begin(), RewriteStep{"", kNormalFormStep, given_us, start_us, start});
    return;
  }
  search.path.clear();
  search.best = given;
  search.cost_after_us = given_us;
}

}  // namespace

Result<OptimizeReport> optimize(const Graph& graph, std::vector<Rule> rules, SearchStrategy& search, GraphCost& cost,
                                const OptimizeOptions& options, const OptimizeProgress& progress) {
  const auto start_time = std::chrono::steady_clock::now();
  SearchEngine engine(std::move(rules), cost);
  REWRIGHT_TRY(const Graph given, split_concats(graph));
  Graph start = given;
  if (options.registry != nullptr) {
    REWRIGHT_TRY(start, normal_form(given, *options.registry));
  }

  OptimizeReport report;
  const SearchProblem problem{start,        engine,          options.steps, options.candidates,
                              options.seed, options.threads, progress};
  const bool is_large = options.region_size > 0 && start.operator_count() > options.region_size;
  REWRIGHT_TRY(report.search, is_large ? search_regions(problem, search, options.region_size) : search.run(problem));
  if (report.search.cost_after_us > report.search.cost_before_us)
    return make_error(ErrorCode::kInternal, "search {} gave a graph that costs {} us for one that costs {} us",
                      search.name(), report.search.cost_after_us, report.search.cost_before_us);
  if (structural_hash(start) != structural_hash(given)) {
    REWRIGHT_TRY(const double given_us, cost.cost_us(given));
    enter_normal_form(given, given_us, start, report.search);
  }
  if (report.search.path.empty()) {
    report.best = graph;
  } else {
    REWRIGHT_TRY(const Graph joined, join_concats(report.search.best));
    REWRIGHT_TRY(report.best, biases_to_convolutions(joined));
  }
  report.unusable = engine.unusable();
  report.refused = engine.refused();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
  return report;
}

}  // namespace rewright
