/// Hill climbing: neighbours of the best schedule so far, one knob a choice up or down; then points at random.
#include <rewright/base/mixing.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tune/tuner.h>

#include <set>

namespace {
using namespace rewright;
using tune::Point;

class Climb final : public tune::TunerRun {
 public:
  Climb(tune::TuningSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::vector<Point> propose(std::size_t most) override {
    std::vector<Point> found;
    for (std::size_t k = 0; k < best_.point.choices.size(); ++k) {
      for (const int step : {1, -1}) {
        Point near = best_.point;
        near.choices[k] += step;
        const bool is_there = near.choices[k] >= 0 && near.choices[k] < space_.knobs(near.sketch)[k].choices;
        if (is_there && found.size() < most && space_.applies(near)) take(space_.canonical(near), found);
      }
    }
    for (std::size_t draw = 0; draw < kDraws * most && found.size() < most; ++draw)
      if (const auto point = space_.random(mix(seed_, next_++))) take(*point, found);
    return found;
  }
  void learn(std::span<const tune::MeasuredPoint> measured) override {
    for (const tune::MeasuredPoint& each : measured) {
      known_.insert(space_.canonical(each.point));
      if (each.us < best_.us) best_ = each;
    }
  }

 private:
  static constexpr std::size_t kDraws = 64;
  void take(const Point& point, std::vector<Point>& found) {
    if (known_.insert(point).second) found.push_back(point);
  }

  tune::TuningSpace& space_;
  std::uint64_t seed_, next_ = 0;
  tune::MeasuredPoint best_;
  std::set<Point> known_;
};

class @Name@ final : public Tuner {
 public:
  [[nodiscard]] std::string name() const override { return "@name@"; }
  [[nodiscard]] std::string summary() const override { return "Hill climbing: neighbours of the best so far"; }
  [[nodiscard]] Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t seed,
                                                              const Options& options) const override {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "tuner @name@ has no option '{}'", options.begin()->first);
    return std::unique_ptr<tune::TunerRun>(std::make_unique<Climb>(space, seed));
  }
};
}  // namespace

REWRIGHT_PLUGIN("tuner.@name@", "0.1.0", "Hill climbing") {
  registry.add<Tuner>(std::make_unique<@Name@>());
}
