/// Simulated annealing: a random walk that takes dearer graphs often at first and hardly ever at the end.
///
///   a move to a graph dearer by d is taken with probability exp(-d / T),
///   T = start cost * hot * (cold / hot)^(steps done / all steps)
///
/// A step   `proposals` random moves, each looked at and taken or not.
/// Options  hot (0.02), cold (0.0001): temperatures as parts of the start's cost; proposals (50);
///          patience (100): steps without a new best after which the walk goes back to the best.
/// Source   Kirkpatrick, Gelatt, Vecchi: Optimization by Simulated Annealing, Science 220, 1983.
#include <rewright/base/mixing.h>
#include <rewright/optimize/random_walk.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

#include <cmath>

namespace {
using namespace rewright;

class Annealing final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "annealing"; }
  [[nodiscard]] std::string summary() const override {
    return "Random walk that takes costlier graphs ever more rarely; a step is 50 random moves";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"hot", &hot_, 1e-9, 1e3, "temperature at first, as a part of the start's cost"},
            {"cold", &cold_, 1e-12, 1e3, "temperature at the end"},
            {"proposals", &proposals_, 1, 1e9, "random moves in a step"},
            {"patience", &patience_, 1, 1e9, "steps without a new best until the walk goes back to the best"}};
  }
  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(RandomWalk walk, RandomWalk::begin(problem));
    SearchRun& run = walk.run();
    Random random(problem.seed);
    const double start_us = run.best_us();
    std::uint64_t last_gain = 0;
    while (run.step()) {
      const double done = static_cast<double>(run.steps() - 1) / static_cast<double>(problem.steps);
      const double temperature_us = start_us * hot_ * std::pow(cold_ / hot_, done);
      const double best_us = run.best_us();
      for (int i = 0; i < static_cast<int>(proposals_) && !run.over(); ++i) {
        const double at_us = walk.cost_us();
        REWRIGHT_TRY(const bool moved, walk.propose(random, [&](double cost_us) {
          return cost_us <= at_us || random.fraction() < std::exp((at_us - cost_us) / temperature_us);
        }));
        if (!moved) return walk.finish();
      }
      if (run.best_us() < best_us) last_gain = run.steps();
      if (static_cast<double>(run.steps() - last_gain) >= patience_) {
        last_gain = run.steps();
        REWRIGHT_CHECK(walk.back_to_best());
      }
    }
    return walk.finish();
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Annealing>(*this); }

 private:
  double hot_ = 0.02;
  double cold_ = 0.0001;
  double proposals_ = 50;
  double patience_ = 100;
};

}  // namespace

REWRIGHT_PLUGIN("search.annealing", "1.0.0", "Simulated annealing") {
  registry.add<SearchStrategy>(std::make_unique<Annealing>());
}
