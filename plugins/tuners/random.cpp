// Tuner `random`: points of the space, each sketch equally likely. A space of at most kMostWalked points is walked
// whole, in a random order. The baseline for every other tuner.
//
// Source  Bergstra & Bengio, Random search for hyper-parameter optimization, JMLR 2012.
#include <rewright/base/mixing.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tune/tuner.h>

#include <set>

namespace {
using namespace rewright;
using tune::Point;

constexpr std::uint64_t kMostWalked = 4096;
constexpr int kMostDraws = 64;

std::vector<Point> all_points(const tune::TuningSpace& space) {
  std::vector<Point> all;
  for (std::size_t sketch = 0; sketch < space.sketch_count(); ++sketch) {
    const auto knobs = space.knobs(sketch);
    Point point{sketch, std::vector<std::int64_t>(knobs.size(), 0)};
    bool is_there = true;
    while (is_there) {
      all.push_back(point);
      is_there = false;
      for (std::size_t k = knobs.size(); k-- > 0 && !is_there;) {
        is_there = ++point.choices[k] < knobs[k].choices;
        if (!is_there) point.choices[k] = 0;
      }
    }
  }
  return all;
}

class Run final : public tune::TunerRun {
 public:
  Run(tune::TuningSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {
    if (space.size() > kMostWalked) return;
    walks_ = true;
    left_ = all_points(space);
    Random(mix(seed)).shuffle(std::span(left_));
  }
  std::vector<Point> propose(std::size_t most) override { return walks_ ? walked(most) : drawn(most); }
  void learn(std::span<const tune::MeasuredPoint> measured) override {
    for (const auto& each : measured) known_.insert(space_.canonical(each.point));
  }

 private:
  std::vector<Point> walked(std::size_t most) {
    std::vector<Point> found;
    while (!left_.empty() && found.size() < most) {
      const Point point = space_.canonical(left_.back());
      if (space_.applies(point) && known_.insert(point).second) found.push_back(point);
      left_.pop_back();
    }
    return found;
  }
  std::vector<Point> drawn(std::size_t most) {
    std::vector<Point> found;
    for (int draw = 0; found.size() < most && draw < kMostDraws * static_cast<int>(most); ++draw) {
      const auto point = space_.random(mix(seed_, next_++));
      if (point && known_.insert(*point).second) found.push_back(*point);
    }
    return found;
  }

  tune::TuningSpace& space_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  bool walks_ = false;
  std::vector<Point> left_;
  std::set<Point> known_;
};

class RandomTuner final : public Tuner {
 public:
  [[nodiscard]] std::string name() const override { return "random"; }
  [[nodiscard]] std::string summary() const override { return "Points drawn at random; small spaces whole"; }
  [[nodiscard]] Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t seed,
                                                              const Options& options) const override {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "tuner random has no option '{}'", options.begin()->first);
    return std::unique_ptr<tune::TunerRun>(std::make_unique<Run>(space, seed));
  }
};

}  // namespace

REWRIGHT_PLUGIN("tuner.random", "1.0.0", "Random schedules") { registry.add<Tuner>(std::make_unique<RandomTuner>()); }
