// Tuner `bayes`: Bayesian optimisation. Of random points and neighbours of the best, those are measured that promise
// the greatest expected improvement on the best, by what the predictor expects and how sure it is.
//
// Source  Jones, Schonlau & Welch, Efficient global optimization of expensive black-box functions, 1998, over the
//         logarithm of time.
#include <rewright/base/mixing.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tune/tuner.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace {
using namespace rewright;
using tune::Point;

constexpr std::size_t kFirst = 8;  ///< Half of them at random, before anything is measured.
constexpr std::size_t kRandom = 160, kBest = 8, kNeighbours = 12;

/// Of a normal distribution with this mean and deviation, below `best`; all are logarithms of microseconds.
double expected_improvement(double mean, double deviation, double best) {
  if (deviation <= 1e-12) return std::max(0.0, best - mean);
  const double z = (best - mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return (best - mean) * 0.5 * std::erfc(-z / std::numbers::sqrt2) + deviation * density;
}

class Run final : public tune::TunerRun {
 public:
  Run(tune::TuningSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::vector<Point> propose(std::size_t most) override {
    std::vector<Point> found;
    if (measured_.size() < kFirst) {
      const std::size_t count = std::min(most, kFirst - measured_.size());
      add_expected(found, count / 2);
      add_random(found, count - found.size(), found);
      remember(found);
      return found;
    }
    std::vector<Point> pool;
    add_random(pool, kRandom, pool);
    add_neighbours(pool);
    const std::vector<Estimate> expected = space_.predicted(pool);
    const double best = std::log(best_us());
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < pool.size(); ++i) {
      const Estimate& each = expected[i];
      if (!std::isfinite(each.us) || each.us <= 0) continue;
      order.emplace_back(-expected_improvement(std::log(each.us), each.spread / each.us, best), i);
    }
    std::ranges::sort(order);
    for (const auto& [gain, i] : order) {
      if (found.size() == most) break;
      if (std::ranges::find(found, pool[i]) == found.end()) found.push_back(pool[i]);
    }
    remember(found);
    return found;
  }
  void learn(std::span<const tune::MeasuredPoint> measured) override {
    for (const auto& each : measured) measured_[space_.canonical(each.point)] = each.us;
  }

 private:
  void remember(const std::vector<Point>& points) {
    for (const Point& point : points) measured_.try_emplace(point, std::numeric_limits<double>::infinity());
  }
  [[nodiscard]] double best_us() const {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [point, us] : measured_) best = std::min(best, us);
    return best;
  }
  void add_random(std::vector<Point>& to, std::size_t count, const std::vector<Point>& known) {
    const std::size_t wanted = to.size() + count;
    for (std::size_t draw = 0; to.size() < wanted && draw < 4 * count; ++draw) {
      auto point = space_.random(mix(seed_, next_++));
      if (point && !measured_.contains(*point) && std::ranges::find(known, *point) == known.end())
        to.push_back(*std::move(point));
    }
  }
  /// Those that are expected to be the fastest of some that are drawn, where something is known before: records of
  /// other sizes, or a model of the machine.
  void add_expected(std::vector<Point>& to, std::size_t count) {
    std::vector<Point> pool;
    add_random(pool, kRandom, pool);
    const std::vector<Estimate> expected = space_.predicted(pool);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < pool.size(); ++i) order.emplace_back(expected[i].us, i);
    std::ranges::sort(order);
    if (order.empty() || order.front().first >= order.back().first) return;  // Nothing is.
    for (std::size_t i = 0; i < std::min(count, order.size()); ++i) to.push_back(pool[order[i].second]);
  }
  void add_neighbours(std::vector<Point>& pool) {
    std::vector<std::pair<double, Point>> best;
    for (const auto& [point, us] : measured_) {
      if (std::isfinite(us)) best.emplace_back(us, point);
    }
    std::ranges::sort(best);
    if (best.size() > kBest) best.resize(kBest);
    Random random(mix(seed_, next_++));
    for (const auto& [us, point] : best) {
      const auto knobs = space_.knobs(point.sketch);
      if (knobs.empty()) continue;
      for (std::size_t n = 0; n < kNeighbours; ++n) {
        Point near = point;
        const std::size_t k = random.below(knobs.size());
        near.choices[k] = random.between(0, knobs[k].choices - 1);
        near = space_.canonical(near);
        if (!measured_.contains(near)) pool.push_back(std::move(near));
      }
    }
  }

  tune::TuningSpace& space_;
  std::uint64_t seed_, next_ = 0;
  std::map<Point, double> measured_;  ///< Proposed ones too.
};

class Bayes final : public Tuner {
 public:
  [[nodiscard]] std::string name() const override { return "bayes"; }
  [[nodiscard]] std::string summary() const override { return "Expected improvement; with the predictor process"; }
  [[nodiscard]] Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t seed,
                                                              const Options& options) const override {
    if (!options.empty())
      return make_error(ErrorCode::kUsage, "tuner bayes has no option '{}'", options.begin()->first);
    return std::unique_ptr<tune::TunerRun>(std::make_unique<Run>(space, seed));
  }
};

}  // namespace

REWRIGHT_PLUGIN("tuner.bayes", "1.0.0", "Bayesian optimisation of schedules") {
  registry.add<Tuner>(std::make_unique<Bayes>());
}
