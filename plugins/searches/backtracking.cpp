/// Cost-based backtracking search.
///
///   queue = {start}; best = start
///   while the queue is not empty:
///     take the cheapest graph; for each match of each rule in it:
///       apply the match; if the result is new: best = the cheaper of both,
///       and it enters the queue if its cost < alpha * cost of best
///
/// Options  alpha (1.05): 1 keeps cheaper graphs only, more looks further past dearer ones.
/// Order    Of equal costs, the graph found first goes first; so the search is deterministic.
/// Memory   A graph that waits is its match and its parent; it is made again when its turn comes. Graphs seen before
///          are known by 128-bit hashes: among 10^9 graphs the chance that any two share one is below 10^-20, and
///          what such an accident costs is one graph that is not looked at, never a wrong result.
/// Source   Jia et al., TASO: Optimizing Deep Learning Computation with Automatic Generation of Graph Substitutions,
///          SOSP 2019, algorithm 2.
#include <rewright/plugin.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_set>

namespace {
using namespace rewright;

struct LowBits {
  std::size_t operator()(Hash128 hash) const { return hash.low; }
};

/// A graph that was found: how, and what it costs. The graph itself is kept once it was expanded.
struct Found {
  std::size_t parent = 0;  ///< The start is its own parent.
  Match match;
  double cost_us = 0;
  Graph graph;
};

struct Waiting {
  double cost_us;
  std::size_t found;
  /// Greatest first in a std::priority_queue: the cheapest, and of those the one found first.
  friend bool operator<(const Waiting& a, const Waiting& b) {
    return a.cost_us != b.cost_us ? a.cost_us > b.cost_us : a.found > b.found;
  }
};

class Run {
 public:
  Run(const SearchProblem& problem, double alpha) : problem_(problem), alpha_(alpha) {}

  Result<SearchResult> run() {
    REWRIGHT_TRY(const double start_cost, problem_.cost.cost_us(problem_.start));
    found_.push_back({0, {}, start_cost, problem_.start});
    seen_.insert(problem_.rewrites.hash(problem_.start));
    queue_.push({start_cost, 0});
    while (!queue_.empty() && result_.steps < problem_.steps) {
      const Waiting next = queue_.top();
      queue_.pop();
      if (next.found != 0 && !(next.cost_us < alpha_ * best_cost())) continue;  // The best has become cheaper since.
      if (!report()) break;
      REWRIGHT_TRY(const bool finished, expand(next.found));
      if (!finished) break;
      ++result_.steps;
    }
    return finish();
  }

 private:
  [[nodiscard]] double best_cost() const { return found_[best_].cost_us; }

  /// False: the search is to end.
  bool report() {
    result_.stopped_early = problem_.progress && !problem_.progress(result_.steps, result_.candidates, best_cost());
    return !result_.stopped_early;
  }

  /// Looks at every graph one rewrite away. False if the search was stopped on the way.
  Result<bool> expand(std::size_t position) {
    if (position != 0) {
      const Found& found = found_[position];
      REWRIGHT_TRY(Graph graph, problem_.rewrites.apply(found_[found.parent].graph, found.match));
      found_[position].graph = std::move(graph);
    }
    const std::vector<Match> matches = problem_.rewrites.matches(found_[position].graph);
    for (const Match& match : matches) {
      const Result<Graph> graph = problem_.rewrites.apply(found_[position].graph, match);
      if (!graph) continue;  // The rewrites keep account of what they refuse.
      ++result_.candidates;
      if (result_.candidates % 64 == 0 && !report()) return false;
      if (!seen_.insert(problem_.rewrites.hash(*graph)).second) continue;
      REWRIGHT_TRY(const double cost, problem_.cost.cost_us(*graph));
      consider(position, match, cost);
    }
    return true;
  }

  void consider(std::size_t parent, const Match& match, double cost_us) {
    const bool better = cost_us < best_cost();
    if (!better && !(cost_us < alpha_ * best_cost())) return;
    found_.push_back({parent, match, cost_us, {}});
    if (better) best_ = found_.size() - 1;
    queue_.push({cost_us, found_.size() - 1});
  }

  Result<SearchResult> finish() {
    result_.cost_before_us = found_[0].cost_us;
    result_.cost_after_us = best_cost();
    std::vector<std::size_t> way;
    for (std::size_t at = best_; at != 0; at = found_[at].parent) way.push_back(at);
    std::reverse(way.begin(), way.end());
    Graph graph = problem_.start;
    for (std::size_t at : way) {
      const Found& step = found_[at];
      REWRIGHT_TRY(graph, problem_.rewrites.apply(graph, step.match));
      const Rule& rule = problem_.rewrites.rules()[step.match.rule];
      result_.path.push_back({rule.id, rule.name, found_[step.parent].cost_us, step.cost_us, graph});
    }
    result_.best = std::move(graph);
    return std::move(result_);
  }

  const SearchProblem& problem_;
  double alpha_;
  std::vector<Found> found_;
  std::size_t best_ = 0;
  std::priority_queue<Waiting> queue_;
  std::unordered_set<Hash128, LowBits> seen_;
  SearchResult result_;
};

class Backtracking final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "backtracking"; }
  [[nodiscard]] std::string summary() const override {
    return "Cheapest graph first, dearer ones within a factor alpha kept (TASO's algorithm 2)";
  }
  Status configure(const Options& options) override {
    for (const auto& [name, value] : options) {
      if (name != "alpha")
        return make_error(ErrorCode::kUsage, "search backtracking has no option '{}'; there is: alpha", name);
      const auto* real = std::get_if<double>(&value);
      const auto* integer = std::get_if<std::int64_t>(&value);
      if (real == nullptr && integer == nullptr)
        return make_error(ErrorCode::kUsage, "search backtracking: alpha is a number, such as 1.05");
      alpha_ = real != nullptr ? *real : static_cast<double>(*integer);
      if (!(alpha_ >= 1))
        return make_error(ErrorCode::kUsage, "search backtracking: alpha is {}, and must be at least 1", alpha_);
    }
    return {};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override { return Run(problem, alpha_).run(); }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Backtracking>(); }

 private:
  double alpha_ = 1.05;
};

}  // namespace

REWRIGHT_PLUGIN("search.backtracking", "1.0.0", "TASO's cost-based backtracking search") {
  registry.add<SearchStrategy>(std::make_unique<Backtracking>());
}
