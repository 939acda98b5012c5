/// First descent: takes the first rewrite that makes the graph cheaper, until there is none. A step is one rewrite.
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <optional>

namespace {
using namespace rewright;

class @Name@ final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "@name@"; }
  [[nodiscard]] std::string summary() const override { return "First descent: any rewrite that pays, until none does"; }

  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(const auto space, problem.engine.open(problem.start));
    SearchRun run(problem, space->cost_us(SearchSpace::kStart));  // Budgets, the best so far.
    while (run.step()) {
      REWRIGHT_TRY(const std::optional<std::size_t> move, first_that_pays(*space, run));
      if (!move) break;
      REWRIGHT_TRY(const auto state, space->enter(run.best(), *move));
      run.offer(*state, space->cost_us(*state));
    }
    return run.finish(*space);
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<@Name@>(*this); }

 private:
  static Result<std::optional<std::size_t>> first_that_pays(SearchSpace& space, SearchRun& run) {
    for (std::size_t move = 0; move < space.move_count(run.best()) && !run.over(); ++move) {
      REWRIGHT_TRY(const SearchSpace::Look look, space.look(run.best(), move));
      if (look.possible && cheaper(look.cost_us, run.best_us())) return std::optional(move);
      if (look.possible && !run.candidate()) break;
    }
    return std::optional<std::size_t>();
  }
};
}  // namespace

REWRIGHT_PLUGIN("search.@name@", "0.1.0", "First descent") {
  registry.add<SearchStrategy>(std::make_unique<@Name@>());
}
