/// Cost-based backtracking search.
///
///   queue = {start}; best = start
///   while the queue is not empty:
///     take the cheapest graph; for each match of each rule in it:
///       apply the match; if the result is new: best = the cheaper of both,
///       and it enters the queue if its cost < alpha * cost of best
///
/// A step   one graph taken from the queue.
/// Options  alpha (1.05): 1 keeps cheaper graphs only, more looks further past dearer ones.
/// Order    Of equal costs, the graph found first goes first; so the search is deterministic.
/// Memory   A graph that waits is its move and its parent; it is made again when its turn comes.
/// Source   Jia et al., TASO: Optimizing Deep Learning Computation with Automatic Generation of Graph Substitutions,
///          SOSP 2019, algorithm 2.
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <optional>
#include <queue>

namespace {
using namespace rewright;

/// A graph that waits for its turn.
struct Waiting {
  double cost_us;
  std::uint64_t order;
  SearchSpace::State from;
  std::size_t move;
  std::optional<SearchSpace::State> state;  ///< Where it was entered: it was the best when it was found.
  /// Greatest first in a std::priority_queue: the cheapest, and of those the one found first.
  friend bool operator<(const Waiting& a, const Waiting& b) {
    return a.cost_us != b.cost_us ? a.cost_us > b.cost_us : a.order > b.order;
  }
};

class Run {
 public:
  Run(const SearchProblem& problem, SearchSpace& space, double alpha)
      : space_(space), run_(problem, space.cost_us(SearchSpace::kStart)), alpha_(alpha) {}

  Result<SearchResult> run() {
    queue_.push({run_.best_us(), 0, SearchSpace::kStart, 0, SearchSpace::kStart});
    while (!queue_.empty()) {
      Waiting next = queue_.top();
      queue_.pop();
      if (next.order != 0 && !(next.cost_us < alpha_ * run_.best_us())) continue;  // The best has become cheaper since.
      if (!run_.step()) break;
      if (!next.state) {
        REWRIGHT_TRY(next.state, space_.enter(next.from, next.move));
      }
      REWRIGHT_CHECK(expand(*next.state));
    }
    return run_.finish(space_);
  }

 private:
  /// Looks at every graph one rewrite away.
  Status expand(SearchSpace::State state) {
    for (std::size_t move = 0; move < space_.move_count(state); ++move) {
      REWRIGHT_TRY(const SearchSpace::Look look, space_.look_for_new(state, move));
      if (!look.possible) continue;
      const bool more = run_.candidate();
      if (!look.known) {
        REWRIGHT_CHECK(consider({look.cost_us, ++order_, state, move, {}}));
      }
      if (!more) break;
    }
    return {};
  }
  Status consider(Waiting candidate) {
    if (cheaper(candidate.cost_us, run_.best_us())) {
      REWRIGHT_TRY(candidate.state, space_.enter(candidate.from, candidate.move));
      run_.offer(*candidate.state, candidate.cost_us);
    } else if (!(candidate.cost_us < alpha_ * run_.best_us())) {
      return {};
    }
    queue_.push(candidate);
    return {};
  }

  SearchSpace& space_;
  SearchRun run_;
  double alpha_;
  std::priority_queue<Waiting> queue_;
  std::uint64_t order_ = 0;
};

class Backtracking final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "backtracking"; }
  [[nodiscard]] std::string summary() const override {
    return "Cheapest graph first, costlier ones within a factor alpha kept (TASO's algorithm 2); a step expands a "
           "graph";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"alpha", &alpha_, 1, 1e6, "graphs up to this many times the best cost are kept"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(const auto space, problem.engine.open(problem.start));
    return Run(problem, *space, alpha_).run();
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Backtracking>(*this); }

 private:
  double alpha_ = 1.05;
};

}  // namespace

REWRIGHT_PLUGIN("search.backtracking", "2.0.0", "TASO's cost-based backtracking search") {
  registry.add<SearchStrategy>(std::make_unique<Backtracking>());
}
