// A search's account; searches side by side; options.
#include <rewright/base/mixing.h>
#include <rewright/optimize/search.h>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <utility>

#include "optimize/look_log.h"

namespace rewright {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

SearchRun::SearchRun(const SearchProblem& problem, double start_us)
    : problem_(problem), best_us_(start_us), curve_{{0, 0, 0, start_us}}, began_ns_(now_ns()) {}
SearchRun::~SearchRun() = default;

bool SearchRun::report() {
  if (problem_.progress && !problem_.progress(steps_, candidates_, best_us_)) stopped_ = over_ = true;
  return !stopped_;
}

bool SearchRun::step() {
  if (steps_ >= problem_.steps) over_ = true;
  if (over_ || !report()) return false;
  ++steps_;
  return true;
}

bool SearchRun::candidate() {
  ++candidates_;
  if (problem_.candidates != 0 && candidates_ >= problem_.candidates) over_ = true;
  if (candidates_ % 64 == 0) report();
  return !over_;
}

bool SearchRun::offer(SearchSpace::State state, double cost_us) {
  if (!cheaper(cost_us, best_us_)) return false;
  best_ = state;
  best_us_ = cost_us;
  curve_.push_back({steps_, candidates_, static_cast<double>(now_ns() - began_ns_) * 1e-9, cost_us});
  return true;
}

Result<SearchResult> SearchRun::finish(const SearchSpace& space) {
  if (!is_useful()) return finish(std::vector<RewriteStep>());
  REWRIGHT_TRY(std::vector<RewriteStep> path, space.path(best_));
  return finish(std::move(path));
}

Result<SearchResult> SearchRun::finish(std::vector<RewriteStep> path) {
  SearchResult result;
  result.path = std::move(path);
  REWRIGHT_TRY(result.cost_before_us, problem_.engine.cost_us(problem_.start));
  result.cost_after_us = result.path.empty() ? result.cost_before_us : result.path.back().cost_after_us;
  if (result.path.empty() || result.cost_after_us > result.cost_before_us) {
    result.path.clear();
    result.best = problem_.start;
    result.cost_after_us = result.cost_before_us;
  } else {
    result.best = result.path.back().graph;
  }
  result.curve = std::move(curve_);
  result.steps = steps_;
  result.candidates = candidates_;
  result.stopped_early = stopped_;
  return result;
}

// --- side by side ----------------------------------------------------------------------------------------------

namespace {

/// Collects what the parts report into one report.
class JointProgress {
 public:
  JointProgress(const SearchProblem& problem, std::vector<double> start_us, bool sum_costs)
      : problem_(problem),
        sum_costs_(sum_costs),
        steps_(start_us.size()),
        candidates_(start_us.size()),
        best_us_(std::move(start_us)) {}

  bool report(std::size_t part, std::uint64_t steps, std::uint64_t candidates, double best_us) {
    if (stopped_) return false;
    const std::scoped_lock lock(mutex_);
    steps_[part] = steps;
    candidates_[part] = candidates;
    best_us_[part] = best_us;
    const double best =
        sum_costs_ ? std::accumulate(best_us_.begin(), best_us_.end(), 0.0) : std::ranges::min(best_us_);
    if (!problem_.progress(std::accumulate(steps_.begin(), steps_.end(), std::uint64_t{0}),
                           std::accumulate(candidates_.begin(), candidates_.end(), std::uint64_t{0}), best))
      stopped_ = true;
    return !stopped_;
  }

 private:
  const SearchProblem& problem_;
  bool sum_costs_;
  std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  std::vector<std::uint64_t> steps_, candidates_;
  std::vector<double> best_us_;
};

/// The share of part i of n: shares add up to the whole.
std::uint64_t share(std::uint64_t whole, std::size_t i, std::size_t n) { return whole * (i + 1) / n - whole * i / n; }

}  // namespace

Result<std::vector<SearchResult>> search_side_by_side(const SearchProblem& problem,
                                                      std::span<const Graph* const> starts, bool sum_costs,
                                                      const SearchPart& search) {
  std::vector<double> start_us;
  for (const Graph* start : starts) {
    REWRIGHT_TRY(const double us, problem.engine.cost_us(*start));
    start_us.push_back(us);
  }
  JointProgress progress(problem, std::move(start_us), sum_costs);
  std::vector<std::optional<Result<SearchResult>>> found(starts.size());
  const SearchPartScope::Place here = SearchPartScope::fork();
  const auto run = [&](std::size_t i) {
    const SearchPartScope scope(here, i);
    SearchProblem part{*starts[i], problem.engine};
    part.registry = problem.registry;
    part.steps = share(problem.steps, i, starts.size());
    if (problem.candidates > 0)
      part.candidates = std::max<std::uint64_t>(share(problem.candidates, i, starts.size()), 1);
    part.seed = mix(problem.seed + i * kGoldenGamma);
    if (!sum_costs) part.worthless_us = problem.worthless_us;
    if (problem.progress) {
      part.progress = [&progress, i](std::uint64_t steps, std::uint64_t candidates, double best_us) {
        return progress.report(i, steps, candidates, best_us);
      };
    }
    found[i].emplace(search(part, i));
  };
  tbb::task_arena arena(std::max(problem.threads, 1));
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, starts.size(), run, tbb::simple_partitioner()); });
  std::vector<SearchResult> results;
  for (auto& result : found) {
    if (!*result) return result->error();
    results.push_back(**std::move(result));
  }
  return results;
}

SearchResult best_of(std::vector<SearchResult> results) {
  std::size_t best = 0;
  std::uint64_t steps = 0, candidates = 0;
  double seconds = 0;
  bool stopped = false;
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].cost_after_us < results[best].cost_after_us) best = i;
    for (CurvePoint point : results[i].curve) {
      if (!curve.empty() && !cheaper(point.best_us, curve.back().best_us)) continue;
      point.steps += steps, point.candidates += candidates, point.seconds += seconds;
      curve.push_back(point);
    }
    steps += results[i].steps, candidates += results[i].candidates;
    if (!results[i].curve.empty()) seconds += results[i].curve.back().seconds;
    stopped = stopped || results[i].stopped_early;
  }
  SearchResult result = std::move(results[best]);
  result.curve = std::move(curve);
  result.steps = steps, result.candidates = candidates, result.stopped_early = stopped;
  return result;
}

// --- options ---------------------------------------------------------------------------------------------------

Status SearchStrategy::configure(const Options& given) {
  const std::vector<SearchOption> known = options();
  for (const auto& [key, value] : given) {
    const auto option = std::ranges::find(known, key, &SearchOption::name);
    if (option == known.end()) {
      std::string names;
      for (const SearchOption& other : known) names += (names.empty() ? "" : ", ") + other.name;
      return make_error(ErrorCode::kUsage, "search {} has no option '{}'; {}", name(), key,
                        names.empty() ? "it has none" : "there are: " + names);
    }
    double number = 0;
    if (const auto* real = std::get_if<double>(&value)) {
      number = *real;
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      number = static_cast<double>(*integer);
    } else if (const auto* yes = std::get_if<bool>(&value)) {
      number = *yes ? 1 : 0;
    } else {
      return make_error(ErrorCode::kUsage, "search {}: {} is a number, such as {}, and '{}' is none", name(), key,
                        *option->value, std::get<std::string>(value));
    }
    if (!(number >= option->least))
      return make_error(ErrorCode::kUsage, "search {}: {} is {}, and must be at least {}", name(), key, number,
                        option->least);
    if (!(number <= option->most))
      return make_error(ErrorCode::kUsage, "search {}: {} is {}, and must be at most {}", name(), key, number,
                        option->most);
    *option->value = number;
  }
  return {};
}

}  // namespace rewright
