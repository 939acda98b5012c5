/// Beam search: level by level, of all new graphs one rewrite away from a level's graphs the cheapest go on.
///
///   level = {start}
///   while the level is not empty:
///     level = the `width` cheapest of all graphs one rewrite away from it that were not seen before
///
/// A step   one graph whose neighbours are looked at.
/// Options  width (8), dearer (1.5): a graph goes on only below this many times the best cost.
/// Order    Of equal costs, the graph found first goes first; so the search is deterministic.
/// Source   Lowerre: The HARPY Speech Recognition System, 1976 (the idea).
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <vector>

namespace {
using namespace rewright;

struct Found {
  double cost_us;
  std::size_t order;
  SearchSpace::State from;
  std::size_t move;
  friend bool operator<(const Found& a, const Found& b) {
    return a.cost_us != b.cost_us ? a.cost_us < b.cost_us : a.order < b.order;
  }
};

class Beam final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "beam"; }
  [[nodiscard]] std::string summary() const override {
    return "Level by level, the cheapest new graphs of each level go on; a step expands a graph";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"width", &width_, 1, 1e6, "graphs of a level that go on"},
            {"dearer", &dearer_, 1, 1e6, "those only that cost less than this many times the best"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(const auto space, problem.engine.open(problem.start));
    SearchRun run(problem, space->cost_us(SearchSpace::kStart));
    std::vector<SearchSpace::State> level = {SearchSpace::kStart};
    while (!level.empty() && !run.over()) {
      std::vector<Found> found;
      for (const SearchSpace::State state : level) {
        if (!run.step()) break;
        REWRIGHT_CHECK(look_around(*space, state, run, found));
      }
      REWRIGHT_TRY(level, enter_cheapest(*space, found, run));
    }
    return run.finish(*space);
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Beam>(*this); }

 private:
  static Status look_around(SearchSpace& space, SearchSpace::State state, SearchRun& run, std::vector<Found>& found) {
    for (std::size_t move = 0; move < space.move_count(state); ++move) {
      REWRIGHT_TRY(const SearchSpace::Look look, space.look_for_new(state, move));
      if (!look.possible) continue;
      if (!look.known) found.push_back({look.cost_us, found.size(), state, move});
      if (!run.candidate()) break;
    }
    return {};
  }
  Result<std::vector<SearchSpace::State>> enter_cheapest(SearchSpace& space, std::vector<Found>& found,
                                                         SearchRun& run) const {
    const auto keep = std::min(found.size(), static_cast<std::size_t>(width_));
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(keep), found.end());
    std::vector<SearchSpace::State> level;
    for (std::size_t i = 0; i < keep; ++i) {
      if (!(found[i].cost_us < dearer_ * run.best_us())) break;
      REWRIGHT_TRY(const auto state, space.enter(found[i].from, found[i].move));
      level.push_back(*state);
      run.offer(*state, found[i].cost_us);
    }
    return level;
  }

  double width_ = 8;
  double dearer_ = 1.5;
};

}  // namespace

REWRIGHT_PLUGIN("search.beam", "1.0.0", "Beam search") { registry.add<SearchStrategy>(std::make_unique<Beam>()); }
