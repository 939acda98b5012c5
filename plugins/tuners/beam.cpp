// Tuner `beam`: knobs are decided one after the other; of the partial decisions those are kept whose completions are
// predicted to be fastest. The baseline that decides early on what it cannot yet judge.
//
// Source  Adams et al., Learning to optimize Halide, SIGGRAPH 2019; Zheng et al., Ansor, OSDI 2020, section 7.1, where
// it
//         is the arm "beam search".
#include <rewright/base/mixing.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tune/tuner.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace {
using namespace rewright;
using tune::Point;

constexpr std::size_t kWidth = 16, kMostChoices = 8;
constexpr int kCompletions = 2;

class Run final : public tune::TunerRun {
 public:
  Run(tune::TuningSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::vector<Point> propose(std::size_t most) override {
    Random random(mix(seed_, rounds_++));
    std::vector<Point> found;
    std::vector<std::pair<double, Point>> best;
    for (std::size_t sketch = 0; sketch < space_.sketch_count(); ++sketch) {
      auto ended = search(sketch, random);
      best.insert(best.end(), ended.begin(), ended.end());
    }
    std::ranges::sort(best);
    for (const auto& [us, point] : best) {
      if (found.size() == most) break;
      if (known_.insert(point).second) found.push_back(point);
    }
    return found;
  }
  void learn(std::span<const tune::MeasuredPoint> measured) override {
    for (const auto& each : measured) known_.insert(space_.canonical(each.point));
  }

 private:
  /// The last beam of one sketch, with what was predicted.
  std::vector<std::pair<double, Point>> search(std::size_t sketch, Random& random) {
    const auto knobs = space_.knobs(sketch);
    std::vector<Point> beam = {{sketch, std::vector<std::int64_t>(knobs.size(), 0)}};
    std::vector<std::pair<double, Point>> scored;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      std::vector<Point> wider, completed;
      for (const Point& point : beam) {
        for (const std::int64_t choice : some_choices(knobs[k].choices, random)) {
          Point next = point;
          next.choices[k] = choice;
          for (int c = 0; c < kCompletions; ++c) {
            Point whole = next;
            for (std::size_t rest = k + 1; rest < knobs.size(); ++rest)
              whole.choices[rest] = random.between(0, knobs[rest].choices - 1);
            wider.push_back(next);
            completed.push_back(space_.canonical(whole));
          }
        }
      }
      const std::vector<Estimate> expected = space_.predicted(completed);
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::isfinite(expected[i].us)) order.push_back(i);
      }
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return expected[i].us; });
      beam.clear();
      scored.clear();
      for (const std::size_t i : order) {
        if (beam.size() < kWidth && std::ranges::find(beam, wider[i]) == beam.end()) beam.push_back(wider[i]);
        scored.emplace_back(expected[i].us, completed[i]);
      }
      if (beam.empty()) return {};
    }
    if (knobs.empty()) scored.emplace_back(1, beam.front());
    return scored;
  }
  static std::vector<std::int64_t> some_choices(std::int64_t count, Random& random) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(std::min<std::int64_t>(count, 720)));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    random.shuffle(std::span(all));
    if (all.size() > kMostChoices) all.resize(kMostChoices);
    return all;
  }

  tune::TuningSpace& space_;
  std::uint64_t seed_, rounds_ = 0;
  std::set<Point> known_;
};

class Beam final : public Tuner {
 public:
  [[nodiscard]] std::string name() const override { return "beam"; }
  [[nodiscard]] std::string summary() const override { return "Knobs decided one after the other, the best kept"; }
  [[nodiscard]] Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t seed,
                                                              const Options& options) const override {
    if (!options.empty()) return make_error(ErrorCode::kUsage, "tuner beam has no option '{}'", options.begin()->first);
    return std::unique_ptr<tune::TunerRun>(std::make_unique<Run>(space, seed));
  }
};

}  // namespace

REWRIGHT_PLUGIN("tuner.beam", "1.0.0", "Beam search for schedules") { registry.add<Tuner>(std::make_unique<Beam>()); }
