// Tuner `bayes`: Bayesian optimisation. Of random points and neighbours of the best, those are measured that promise
// the greatest expected improvement on the best, by what the predictor expects and how sure it is. Points of a round
// are apart: what one promises lessens what those near it do.
//
// Source  Jones, Schonlau & Welch, Efficient global optimization of expensive black-box functions, 1998, over the
//         logarithm of time; Gonzalez et al., Batch Bayesian optimization via local penalization, AISTATS 2016.
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
constexpr double kNear = 0.3;      ///< Of a knob's choices: so near, a point is worth less in the same round.
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
    std::vector<double> gains(pool.size(), -1);
    for (std::size_t i = 0; i < pool.size(); ++i) {
      const Estimate& each = expected[i];
      if (!std::isfinite(each.us) || each.us <= 0) continue;
      gains[i] = expected_improvement(std::log(each.us), each.spread / each.us, best);
    }
    while (found.size() < std::min(most, pool.size())) {
      const std::size_t next = static_cast<std::size_t>(std::ranges::max_element(gains) - gains.begin());
      if (gains[next] < 0) break;
      found.push_back(pool[next]);
      for (std::size_t i = 0; i < pool.size(); ++i) gains[i] *= newness(pool[i], pool[next]);
      gains[next] = -1;
    }
    remember(found);
    return found;
  }
  void learn(std::span<const tune::MeasuredPoint> measured) override {
    for (const auto& each : measured) measured_[space_.canonical(each.point)] = each.us;
  }

 private:
  /// How much of what one point promises is left once another is measured: 0 of itself, 1 far away.
  [[nodiscard]] double newness(const Point& one, const Point& other) const {
    if (one.sketch != other.sketch) return 1;
    const auto knobs = space_.knobs(one.sketch);
    double sum = 0;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      const auto apart = static_cast<double>(one.choices[k] - other.choices[k]);
      const bool is_order = knobs[k].numbers.empty();
      sum += is_order ? (apart != 0 ? 1 : 0) : std::pow(apart / static_cast<double>(knobs[k].choices), 2);
    }
    return 1 - std::exp(-std::sqrt(sum) / kNear);
  }
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
