/// Late acceptance hill climbing: a random walk that takes a move if its graph is no dearer than the one where the walk
/// was `history` proposals ago. It has no temperature: how far it strays follows from how far it has come.
///
/// A step   `proposals` random moves, each looked at and taken or not.
/// Options  history (100), proposals (50)
/// Source   Burke & Bykov, The late acceptance hill-climbing heuristic, European Journal of Operational Research
/// 258(1),
///          2017, algorithm 1: a move is taken, too, if it is no dearer than where the walk is.
#include <rewright/base/mixing.h>
#include <rewright/optimize/random_walk.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class LateAcceptance final : public SearchStrategy {
 public:
  [[nodiscard]] std::string name() const override { return "late_acceptance"; }
  [[nodiscard]] std::string summary() const override {
    return "Random walk that takes what is no costlier than some moves ago; a step is 50 random moves";
  }
  [[nodiscard]] std::vector<SearchOption> options() override {
    return {{"history", &history_, 1, 1e6, "how many proposals ago"}, {"proposals", &proposals_, 1, 1e9, "in a step"}};
  }

  [[nodiscard]] Result<SearchResult> run(const SearchProblem& problem) override {
    REWRIGHT_TRY(RandomWalk walk, RandomWalk::begin(problem));
    SearchRun& run = walk.run();  // Budgets, and the best so far.
    Random random(problem.seed);
    std::vector<double> costs_us(static_cast<std::size_t>(history_), run.best_us());
    std::size_t proposal = 0;
    while (run.step()) {
      for (int i = 0; i < static_cast<int>(proposals_) && !run.over(); ++i) {
        double& late_us = costs_us[proposal++ % costs_us.size()];
        const double here_us = walk.cost_us();
        REWRIGHT_TRY(const bool moved,
                     walk.propose(random, [&](double cost_us) { return cost_us <= here_us || cost_us <= late_us; }));
        if (!moved) return walk.finish();  // No rule matches here.
        late_us = walk.cost_us();
      }
    }
    return walk.finish();
  }
  [[nodiscard]] std::unique_ptr<SearchStrategy> clone() const override {
    return std::make_unique<LateAcceptance>(*this);
  }

 private:
  double history_ = 100;
  double proposals_ = 50;
};
}  // namespace

REWRIGHT_PLUGIN("search.late_acceptance", "1.0.0", "Late acceptance hill climbing") {
  registry.add<SearchStrategy>(std::make_unique<LateAcceptance>());
}
