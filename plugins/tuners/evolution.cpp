// Tuner `evolution`: generations of points by mutation and crossover, ranked by the predictor; the best of all that
// were never measured are measured next, and a few at random.
//
//   population  `measured` of the best measured points, the rest random
//   parents     drawn with a probability that falls with their rank by predicted time
//   mutation    a kind of knobs by the weights below, one knob of it, another choice: mostly a neighbour
//   crossover   two points of one sketch: of each stage, all knobs of one of them
//
// Source  Zheng et al., Ansor, OSDI 2020, section 5.1, and the rates of its implementation, which mutates alone;
//         crossover by stages is as the paper describes it.
#include <rewright/base/mixing.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tune/tuner.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace {
using namespace rewright;
using tune::KnobKind;
using tune::Point;

struct Settings {
  std::int64_t population = 128;
  std::int64_t generations = 4;
  double mutation = 0.85;  ///< Of the next generation; what else is not by crossover stays.
  double crossover = 0.10;
  double random = 0.05;    ///< Of what is proposed.
  double measured = 0.25;  ///< Of the first population.
};

struct Weight {
  KnobKind kind;
  double weight;
};
constexpr std::array<Weight, 6> kWeights = {{{KnobKind::kTile, 0.80},
                                             {KnobKind::kLocation, 0.05},
                                             {KnobKind::kUnroll, 0.04},
                                             {KnobKind::kParallel, 0.01},
                                             {KnobKind::kOrder, 0.05},
                                             {KnobKind::kOther, 0.05}}};

class Run final : public tune::TunerRun {
 public:
  Run(tune::TuningSpace& space, std::uint64_t seed, const Settings& settings)
      : space_(space), seed_(seed), settings_(settings) {}

  std::vector<Point> propose(std::size_t most) override {
    Random random(mix(seed_, 2 * rounds_ + 1));
    ++rounds_;
    std::vector<Point> population = first_population();
    if (population.empty()) return {};
    for (std::int64_t generation = 0;; ++generation) {
      const std::vector<double> us = rank(population);
      if (generation == settings_.generations) break;
      population = next_generation(population, us, random);
    }
    return best_and_random(most, random);
  }
  void learn(std::span<const tune::MeasuredPoint> measured) override {
    for (const auto& each : measured) measured_[space_.canonical(each.point)] = each.us;
    seen_.clear();  // What was predicted is to be predicted anew.
  }

 private:
  std::vector<Point> first_population() {
    std::vector<std::pair<double, Point>> best;
    for (const auto& [point, us] : measured_) {
      if (std::isfinite(us)) best.emplace_back(us, point);
    }
    std::ranges::sort(best);
    const auto size = static_cast<std::size_t>(settings_.population);
    const auto most = static_cast<std::size_t>(settings_.measured * static_cast<double>(size));
    std::vector<Point> population;
    for (std::size_t i = 0; i < best.size() && i < most; ++i) population.push_back(best[i].second);
    for (std::size_t draw = 0; population.size() < size && draw < 2 * size; ++draw) {
      if (auto point = space_.random(mix(seed_, 2 * next_++))) population.push_back(std::move(*point));
    }
    return population;
  }
  /// Predicts, and remembers what was not measured.
  std::vector<double> rank(std::span<const Point> population) {
    std::vector<double> us;
    for (const Estimate& each : space_.predicted(population)) us.push_back(each.us);
    for (std::size_t i = 0; i < population.size(); ++i) {
      if (std::isfinite(us[i]) && !measured_.contains(population[i])) seen_[population[i]] = us[i];
    }
    return us;
  }
  std::vector<Point> next_generation(std::span<const Point> population, std::span<const double> us, Random& random) {
    std::vector<std::size_t> order(population.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return us[i]; });
    // The square of a fraction favours what is in front.
    const auto parent = [&]() -> const Point& {
      const double at = random.fraction();
      return population[order[static_cast<std::size_t>(at * at * static_cast<double>(order.size()))]];
    };
    std::vector<Point> next;
    while (next.size() < population.size()) {
      const double what = random.fraction();
      Point child = parent();
      if (what < settings_.mutation) {
        mutate(child, random);
      } else if (what < settings_.mutation + settings_.crossover) {
        cross(child, parent(), random);
      }
      next.push_back(space_.canonical(child));
    }
    return next;
  }
  void mutate(Point& point, Random& random) const {
    const auto knobs = space_.knobs(point.sketch);
    std::vector<std::size_t> free;
    double all = 0;
    const auto weight = [](KnobKind kind) { return std::ranges::find(kWeights, kind, &Weight::kind)->weight; };
    std::set<KnobKind> kinds;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      if (knobs[k].choices > 1 && kinds.insert(knobs[k].kind).second) all += weight(knobs[k].kind);
    }
    if (kinds.empty()) return;
    double at = random.fraction() * all;
    KnobKind kind = *kinds.rbegin();
    for (const KnobKind each : kinds) {
      at -= weight(each);
      if (at < 0) {
        kind = each;
        break;
      }
    }
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      if (knobs[k].choices > 1 && knobs[k].kind == kind) free.push_back(k);
    }
    const std::size_t k = random.pick(free);
    const std::int64_t count = knobs[k].choices, now = point.choices[k];
    const bool is_near = !knobs[k].numbers.empty() && random.fraction() < 0.7;
    std::int64_t then = now + (random.one_in(2) ? 1 : -1);
    if (!is_near || then < 0 || then >= count) then = (now + random.between(1, count - 1)) % count;
    point.choices[k] = then;
  }
  void cross(Point& point, const Point& other, Random& random) const {
    if (other.sketch != point.sketch) return;
    const auto knobs = space_.knobs(point.sketch);
    std::map<std::string, bool> takes;  // By stage; where there is one alone, by kind.
    std::set<std::string> stages;
    for (const auto& knob : knobs) stages.insert(knob.stage);
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      const std::string group =
          stages.size() > 1 ? knobs[k].stage : std::to_string(static_cast<int>(knobs[k].kind)) + knobs[k].name;
      const auto [take, is_new] = takes.try_emplace(group);
      if (is_new) take->second = random.one_in(2);
      if (take->second) point.choices[k] = other.choices[k];
    }
  }
  std::vector<Point> best_and_random(std::size_t most, Random& random) {
    std::vector<std::pair<double, Point>> best;
    for (const auto& [point, us] : seen_) best.emplace_back(us, point);
    std::ranges::sort(best);
    std::vector<Point> found;
    const auto is_new = [&](const Point& point) {
      return !measured_.contains(point) && std::ranges::find(found, point) == found.end();
    };
    auto lucky = static_cast<std::size_t>(settings_.random * static_cast<double>(most));
    if (random.fraction() < settings_.random * static_cast<double>(most) - static_cast<double>(lucky)) ++lucky;
    for (const auto& [us, point] : best) {
      if (found.size() + lucky >= most) break;
      if (is_new(point)) found.push_back(point);
    }
    for (int draw = 0; found.size() < most && draw < 1000; ++draw) {
      const auto point = space_.random(mix(seed_, 2 * next_++));
      if (point && is_new(*point)) found.push_back(*point);
    }
    for (const Point& point : found) measured_.try_emplace(point, std::numeric_limits<double>::infinity());
    return found;
  }

  tune::TuningSpace& space_;
  std::uint64_t seed_;
  Settings settings_;
  std::uint64_t rounds_ = 0, next_ = 0;
  std::map<Point, double> measured_;  ///< Proposed ones too.
  std::map<Point, double> seen_;      ///< Predicted, not measured.
};

class Evolution final : public Tuner {
 public:
  [[nodiscard]] std::string name() const override { return "evolution"; }
  [[nodiscard]] std::string summary() const override {
    return "Mutation and crossover of what is predicted to be fast";
  }
  [[nodiscard]] Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t seed,
                                                              const Options& options) const override {
    Settings settings;
    const auto number = [](const auto& value) {
      if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
      const auto* real = std::get_if<double>(&value);
      return real != nullptr ? *real : std::nan("");
    };
    for (const auto& [key, value] : options) {
      const double given = number(value);
      const bool is_share = given >= 0 && given <= 1, is_count = given >= 1 && given <= 100'000;
      if (key == "population" && is_count)
        settings.population = static_cast<std::int64_t>(given);
      else if (key == "generations" && given >= 0 && given <= 1000)
        settings.generations = static_cast<std::int64_t>(given);
      else if (key == "mutation" && is_share)
        settings.mutation = given;
      else if (key == "crossover" && is_share)
        settings.crossover = given;
      else if (key == "random" && is_share)
        settings.random = given;
      else if (key == "measured" && is_share)
        settings.measured = given;
      else
        return make_error(ErrorCode::kUsage,
                          "tuner evolution: there is no option '{}' of that value; population is 1 to 100000, "
                          "generations 0 to 1000, mutation, crossover, random and measured are 0 to 1",
                          key);
    }
    return std::unique_ptr<tune::TunerRun>(std::make_unique<Run>(space, seed, settings));
  }
};

}  // namespace

REWRIGHT_PLUGIN("tuner.evolution", "1.0.0", "Evolution of schedules") {
  registry.add<Tuner>(std::make_unique<Evolution>());
}
