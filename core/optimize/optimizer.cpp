#include "optimize/optimizer.h"

#include <rewright/verify/derivation.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <utility>

#include "optimize/chain_form.h"
#include "optimize/kernel_costs.h"
#include "optimize/layouts.h"
#include "optimize/normal_form.h"
#include "optimize/regions.h"

namespace rewright {
namespace {

/// Of this process, all threads.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Puts the step to the normal form before the path, or takes the graph as it was given where the whole way does not
/// pay.
void enter_normal_form(const Graph& given, double given_us, const Graph& start, SearchResult& search) {
  const double start_us = search.cost_before_us;
  search.cost_before_us = given_us;
  if (search.cost_after_us < given_us) {
    search.path.insert(search.path.begin(), RewriteStep{"", kNormalFormStep, given_us, start_us, start});
    return;
  }
  search.path.clear();
  search.best = given;
  search.cost_after_us = given_us;
}

/// A search that was not made.
SearchResult nothing_done(const Graph& given, double given_us) {
  SearchResult result;
  result.best = given;
  result.cost_before_us = result.cost_after_us = given_us;
  result.curve = {{0, 0, 0, given_us}};
  return result;
}

/// Tells of questions to cost models while it lives.
class Watching {
 public:
  Watching(const OptimizeOptions& options, GraphCost& cost) : kernels_{&cost.kernels()} {
    if (!options.measuring) return;
    if (options.in_layouts != nullptr) kernels_.push_back(&options.in_layouts->kernels());
    for (KernelCosts* kernels : kernels_)
      kernels->watch([this, &options] {
        if (!stopped_ && !options.measuring(searching, asked_)) stopped_ = true;
        if (!stopped_) ++asked_;
        return !stopped_;
      });
  }
  ~Watching() {
    for (KernelCosts* kernels : kernels_) kernels->watch({});
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  [[nodiscard]] bool stopped() const { return stopped_; }

  std::atomic<bool> searching = false;

 private:
  std::vector<KernelCosts*> kernels_;
  std::atomic<std::uint64_t> asked_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// Writes the result in its layouts and the step to them into the path. What came before is taken back where all of it
/// together does not pay.
Status lay_out(const Graph& graph, double in_order_us, const OptimizeOptions& options, OptimizeReport& report) {
  SearchResult& search = report.search;
  REWRIGHT_TRY(const Operator* transpose, options.registry->get<Operator>("transpose"));
  REWRIGHT_TRY(const LayoutChoice choice, choose_layouts(*options.in_layouts, report.best));
  REWRIGHT_TRY(const Graph written, write_layouts(report.best, choice, *transpose));
  const auto reordered = static_cast<std::size_t>(
      std::ranges::count_if(choice.orders, [](const AxisOrder& order) { return !order.empty(); }));
  // Nothing lies otherwise: what costs differ by is that the same was measured twice.
  if (options.layout != LayoutUse::kJoint && reordered == 0) return {};
  if (options.layout == LayoutUse::kJoint) {
    if (cheaper(search.cost_before_us, in_order_us))
      search.path.insert(search.path.begin(), RewriteStep{"", kLayoutStep, in_order_us, search.cost_before_us, graph});
    search.cost_before_us = in_order_us;
    search.curve.front().best_us = in_order_us;
    search.cost_after_us = choice.cost_us;
  } else if (cheaper(choice.cost_us, search.cost_after_us)) {
    search.path.push_back({"", kLayoutStep, search.cost_after_us, choice.cost_us, written});
    search.cost_after_us = choice.cost_us;
  } else {
    return {};
  }
  if (!cheaper(search.cost_after_us, in_order_us)) {
    search.path.clear();
    search.cost_after_us = in_order_us;
    report.best = graph;
    return {};
  }
  search.best = report.best = written;
  report.reordered = reordered;
  return {};
}

}  // namespace

std::optional<LayoutUse> layout_use(std::string_view name) {
  if (name == "none") return LayoutUse::kNone;
  if (name == "only") return LayoutUse::kOnly;
  if (name == "sequential") return LayoutUse::kSequential;
  if (name == "joint") return LayoutUse::kJoint;
  return std::nullopt;
}

Result<Graph> written_form(const Graph& graph, bool exact) {
  REWRIGHT_TRY(Graph joined, from_chains(graph));
  if (exact) return joined;
  return biases_to_convolutions(joined);
}

Result<OptimizeReport> optimize(const Graph& graph, std::vector<Rule> rules, SearchStrategy& search, GraphCost& cost,
                                const OptimizeOptions& options, const OptimizeProgress& progress) {
  const auto start_time = std::chrono::steady_clock::now();
  const double start_cpu = cpu_seconds();
  const SearchPartScope scope(options.looks);
  REWRIGHT_TRY(const Graph given, to_chains(graph));
  Graph start = given;
  if (options.registry != nullptr && !options.exact) {
    REWRIGHT_TRY(start, normal_form(given, *options.registry));
  }

  OptimizeReport report;
  const bool is_joint = options.layout == LayoutUse::kJoint;
  if (options.layout != LayoutUse::kNone && (options.in_layouts == nullptr || options.registry == nullptr))
    return make_error(ErrorCode::kInternal, "layouts are asked for without a cost to choose them by");
  GraphCost& search_cost = is_joint ? *options.in_layouts : cost;
  for (Rule& rule : rules) rule = chain_form(std::move(rule));
  SearchEngine engine(std::move(rules), search_cost);
  SearchProblem problem{start, engine, options.steps, options.candidates, options.seed, options.threads};
  problem.registry = options.strategies != nullptr ? options.strategies : options.registry;
  std::atomic<bool> out_of_time = false;
  problem.progress = [&](std::uint64_t steps, std::uint64_t candidates, double best_us) {
    if (options.seconds > 0 && seconds_since(start_time) > options.seconds) out_of_time = true;
    return (!progress || progress(steps, candidates, best_us)) && !out_of_time;
  };
  // First of all: whatever is found is held against the graph as it is.
  Watching watching(options, cost);
  REWRIGHT_TRY(const double in_order_us, cost.cost_us(graph));
  REWRIGHT_TRY(const double given_us, search_cost.cost_us(given));
  const bool is_large = options.region_size > 0 && start.operator_count() > options.region_size;
  if (options.layout == LayoutUse::kOnly || watching.stopped()) {
    report.search = nothing_done(given, in_order_us);
    start = given;
  } else {
    watching.searching = true;
    REWRIGHT_TRY(report.search, is_large ? search_regions(problem, search, options.region_size) : search.run(problem));
  }
  watching.searching = false;
  report.search.stopped_early = report.search.stopped_early || watching.stopped();
  if (report.search.cost_after_us > report.search.cost_before_us)
    return make_error(ErrorCode::kInternal, "search {} gave a graph that costs {} us for one that costs {} us",
                      search.name(), report.search.cost_after_us, report.search.cost_before_us);
  if (structural_hash(start) != structural_hash(given)) enter_normal_form(given, given_us, start, report.search);
  if (report.search.path.empty()) {
    report.best = graph;
  } else {
    report.exact = options.exact;
    REWRIGHT_TRY(report.best, written_form(report.search.best, options.exact));
  }
  const bool is_comparable = std::isfinite(in_order_us) || !watching.stopped();
  if (options.layout != LayoutUse::kNone && is_comparable) REWRIGHT_CHECK(lay_out(graph, in_order_us, options, report));
  report.search.stopped_early = report.search.stopped_early || watching.stopped();
  report.unusable = engine.unusable();
  report.refused = engine.refused();
  report.without_cost = cost.kernels().without_cost();
  report.seconds = seconds_since(start_time);
  report.out_of_time = out_of_time;
  report.cpu_seconds = cpu_seconds() - start_cpu;
  return report;
}

}  // namespace rewright
