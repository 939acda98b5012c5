#include "optimize/optimizer.h"

#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "optimize/concat_form.h"
#include "optimize/normal_form.h"
#include "rule/rewriter.h"

namespace rewright {
namespace {

/// The rules, with a record of the matches that could not be replaced.
class RecordingRewrites final : public RewriteSystem {
 public:
  explicit RecordingRewrites(const Rewriter& rewriter) : rewriter_(rewriter) {}

  [[nodiscard]] std::span<const Rule> rules() const override { return rewriter_.rules(); }
  [[nodiscard]] std::vector<Match> matches(const Graph& graph) const override { return rewriter_.matches(graph); }
  [[nodiscard]] Hash128 hash(const Graph& graph) const override { return rewriter_.hash(graph); }
  [[nodiscard]] Result<Graph> apply(const Graph& graph, const Match& match) const override {
    Result<Graph> replaced = rewriter_.apply(graph, match);
    if (!replaced) {
      const std::scoped_lock lock(mutex_);
      RefusedRule& refused = refused_[match.rule];
      if (refused.times++ == 0) refused.reason = replaced.error().message;
    }
    return replaced;
  }

  [[nodiscard]] std::vector<RefusedRule> refused() const {
    std::vector<RefusedRule> list;
    for (const auto& [rule, refused] : refused_) {
      list.push_back(refused);
      list.back().name = rules()[rule].name;
    }
    return list;
  }

 private:
  const Rewriter& rewriter_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, RefusedRule> refused_;
};

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
  const Rewriter rewriter(std::move(rules));
  const RecordingRewrites rewrites(rewriter);
  REWRIGHT_TRY(const Graph given, split_concats(graph));
  Graph start = given;
  if (options.registry != nullptr) {
    REWRIGHT_TRY(start, normal_form(given, *options.registry));
  }

  OptimizeReport report;
  const SearchProblem problem{start, rewrites, cost, options.steps, options.seed, progress};
  REWRIGHT_TRY(report.search, search.run(problem));
  if (report.search.cost_after_us > report.search.cost_before_us)
    return make_error(ErrorCode::kInternal, "search {} gave a graph that costs {} us for one that costs {} us",
                      search.name(), report.search.cost_after_us, report.search.cost_before_us);
  if (rewriter.hash(start) != rewriter.hash(given)) {
    REWRIGHT_TRY(const double given_us, cost.cost_us(given));
    enter_normal_form(given, given_us, start, report.search);
  }
  if (report.search.path.empty()) {
    report.best = graph;
  } else {
    REWRIGHT_TRY(const Graph joined, join_concats(report.search.best));
    REWRIGHT_TRY(report.best, biases_to_convolutions(joined));
  }
  for (const Rewriter::Unusable& unusable : rewriter.unusable()) report.unusable.push_back(unusable.reason);
  report.refused = rewrites.refused();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
  return report;
}

}  // namespace rewright
