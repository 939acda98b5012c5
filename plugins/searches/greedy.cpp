/// Steepest descent: of all graphs one rewrite away take the cheapest, as long as it is cheaper; of equal ones the
/// first. A step is one graph whose neighbours are looked at.
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <optional>

namespace {
using namespace rewright;

class Greedy final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "greedy"; }
  [[nodiscard]] std::string summary() const override {
    return "Steepest descent: the best single rewrite, again and again; a step expands a graph";
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(const auto space, problem.engine.open(problem.start));
    SearchRun run(problem, space->cost_us(SearchSpace::kStart));
    while (run.step()) {
      REWRIGHT_TRY(const std::optional<std::size_t> move, steepest(*space, run));
      if (!move) break;
      REWRIGHT_TRY(const auto state, space->enter(run.best(), *move));
      run.offer(*state, space->cost_us(*state));
    }
    return run.finish(*space);
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Greedy>(*this); }

 private:
  /// Nothing where no neighbour is cheaper. Where the search is stopped, the best that was looked at by then.
  static Result<std::optional<std::size_t>> steepest(SearchSpace& space, SearchRun& run) {
    std::optional<std::size_t> best;
    double best_us = run.best_us();
    for (std::size_t move = 0; move < space.move_count(run.best()); ++move) {
      REWRIGHT_TRY(const SearchSpace::Look look, space.look(run.best(), move));
      if (!look.possible) continue;
      if (cheaper(look.cost_us, best_us)) best = move, best_us = look.cost_us;
      if (!run.candidate()) break;
    }
    return best;
  }
};

}  // namespace

REWRIGHT_PLUGIN("search.greedy", "2.0.0", "Steepest descent") {
  registry.add<SearchStrategy>(std::make_unique<Greedy>());
}
