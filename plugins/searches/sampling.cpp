/// Metropolis sampling with restarts: several random walks side by side, at one temperature each.
///
///   a move to a graph dearer by d is taken with probability exp(-beta * d / start cost)
///
/// A walk that has not found a new best of its own for `patience` steps starts again: every other time from the start,
/// otherwise from its best. Moves are drawn evenly among those of the graph at hand, so that the walk is not reversible
/// where graphs differ in the number of their moves: it looks for cheap graphs and claims no distribution.
///
/// A step   `proposals` random moves, each looked at and taken or not.
/// Options  beta (500), walks (4): they share the steps and run on all threads; proposals (50), patience (50).
/// Source   Schkufza, Sharma, Aiken: Stochastic Superoptimization (STOKE), ASPLOS 2013.
#include <rewright/base/mixing.h>
#include <rewright/optimize/random_walk.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <cmath>

namespace {
using namespace rewright;

class Sampling final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "sampling"; }
  [[nodiscard]] std::string summary() const override {
    return "Metropolis walks with restarts, several side by side; a step is 50 random moves";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"beta", &beta_, 0, 1e12, "how rarely costlier graphs are taken"},
            {"walks", &walks_, 1, 1e4, "walks side by side, which share the steps"},
            {"proposals", &proposals_, 1, 1e9, "random moves in a step"},
            {"patience", &patience_, 1, 1e9, "steps without a new best until a walk starts again"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    const std::vector<const Graph*> starts(static_cast<std::size_t>(walks_), &problem.start);
    REWRIGHT_TRY(std::vector<SearchResult> results,
                 search_side_by_side(problem, starts, false,
                                     [&](const SearchProblem& part, std::size_t) { return walk(part); }));
    return best_of(std::move(results));
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Sampling>(*this); }

 private:
  [[nodiscard]] Result<SearchResult> walk(const SearchProblem& problem) const {
    REWRIGHT_TRY(RandomWalk walk, RandomWalk::begin(problem));
    SearchRun& run = walk.run();
    Random random(problem.seed);
    const double start_us = std::max(run.best_us(), 1e-9);
    std::uint64_t last_gain = 0;
    while (run.step()) {
      const double best_us = run.best_us();
      for (int i = 0; i < static_cast<int>(proposals_) && !run.over(); ++i) {
        const double at_us = walk.cost_us();
        REWRIGHT_TRY(const bool moved, walk.propose(random, [&](double cost_us) {
          return cost_us <= at_us || random.fraction() < std::exp(beta_ * (at_us - cost_us) / start_us);
        }));
        if (!moved) return walk.finish();
      }
      if (run.best_us() < best_us) last_gain = run.steps();
      if (static_cast<double>(run.steps() - last_gain) >= patience_) {
        last_gain = run.steps();
        REWRIGHT_CHECK(random.below(2) == 0 ? walk.back_to_best() : walk.back_to_start());
      }
    }
    return walk.finish();
  }

  double beta_ = 500;
  double walks_ = 4;
  double proposals_ = 50;
  double patience_ = 50;
};

}  // namespace

REWRIGHT_PLUGIN("search.sampling", "1.0.0", "Metropolis sampling with restarts") {
  registry.add<SearchStrategy>(std::make_unique<Sampling>());
}
