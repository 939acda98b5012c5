// What a tuner promises: new points of the space, the same for the same seed and answers. What a predictor promises:
// the same figures for the same observations, and an order that is plainly there.
#include <rewright/base/mixing.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>

#include <cmath>
#include <set>

#include "contract/contracts.h"

namespace rewright::contract {
namespace {

using tune::KnobInfo;
using tune::KnobKind;
using tune::Point;

/// Two sketches; what a point takes is how far it is from one of them, and some points do not apply.
class PlainSpace final : public tune::TuningSpace {
 public:
  explicit PlainSpace(std::int64_t choices) {
    const std::vector<std::int64_t> numbers = [&] {
      std::vector<std::int64_t> all;
      for (std::int64_t i = 1; i <= choices; ++i) all.push_back(i);
      return all;
    }();
    knobs_[0] = {{"width", "y", KnobKind::kTile, numbers, 0, choices}, {"order", "y", KnobKind::kOrder, {}, 2, 2}};
    knobs_[1] = {{"width", "y", KnobKind::kTile, numbers, 0, choices},
                 {"places", "y", KnobKind::kTile, numbers, 0, choices},
                 {"unroll", "t", KnobKind::kUnroll, {1, 2}, 0, 2}};
  }
  [[nodiscard]] std::size_t sketch_count() const override { return 2; }
  [[nodiscard]] std::span<const KnobInfo> knobs(std::size_t sketch) const override { return knobs_[sketch]; }
  [[nodiscard]] std::uint64_t size() const override {
    std::uint64_t all = 0;
    for (const auto& knobs : knobs_) {
      std::uint64_t points = 1;
      for (const KnobInfo& knob : knobs) points *= static_cast<std::uint64_t>(knob.choices);
      all += points;
    }
    return all;
  }
  [[nodiscard]] bool applies(const Point& point) override {
    return is_there(point) && (point.sketch == 0 || point.choices[0] != point.choices[1]);
  }
  [[nodiscard]] Point canonical(const Point& point) override { return point; }
  [[nodiscard]] std::optional<Point> random(std::uint64_t seed) override {
    Random random(mix(seed));
    for (int draw = 0; draw < 100; ++draw) {
      Point point{random.below(2)};
      for (const KnobInfo& knob : knobs_[point.sketch]) point.choices.push_back(random.between(0, knob.choices - 1));
      if (applies(point)) return point;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<Estimate> predicted(std::span<const Point> points) override {
    std::vector<Estimate> all;
    for (const Point& point : points) all.push_back({applies(point) ? us(point) : INFINITY, 1});
    return all;
  }
  [[nodiscard]] bool is_there(const Point& point) const {
    if (point.sketch > 1 || point.choices.size() != knobs_[point.sketch].size()) return false;
    for (std::size_t k = 0; k < point.choices.size(); ++k) {
      if (point.choices[k] < 0 || point.choices[k] >= knobs_[point.sketch][k].choices) return false;
    }
    return true;
  }
  [[nodiscard]] static double us(const Point& point) {
    double us = point.sketch == 0 ? 40 : 10;
    for (const std::int64_t choice : point.choices) us += static_cast<double>((choice - 3) * (choice - 3));
    return us;
  }

 private:
  std::vector<KnobInfo> knobs_[2];
};

struct Walk {
  std::vector<Point> points;
  std::string fault;
};

/// Proposals until there are `most`, or none are left.
Result<Walk> walk(const Tuner& tuner, std::int64_t choices, std::uint64_t seed, std::size_t most) {
  PlainSpace space(choices);
  REWRIGHT_TRY(const auto run, tuner.start(space, seed, {}));
  Walk walk;
  std::set<Point> known;
  while (walk.points.size() < most) {
    const std::size_t wanted = std::min<std::size_t>(8, most - walk.points.size());
    const std::vector<Point> proposed = run->propose(wanted);
    if (proposed.empty()) break;
    if (proposed.size() > wanted)
      walk.fault = fmt::format("{} points where {} were asked for", proposed.size(), wanted);
    std::vector<tune::MeasuredPoint> measured;
    for (const Point& point : proposed) {
      if (!space.is_there(point))
        walk.fault = "a point that is not in the space";
      else if (!space.applies(point))
        walk.fault = "a point that does not apply";
      else if (!known.insert(point).second)
        walk.fault = "a point that it was told of";
      if (!walk.fault.empty()) return walk;
      measured.push_back({point, PlainSpace::us(point)});
      walk.points.push_back(point);
    }
    run->learn(measured);
  }
  return walk;
}

Outcome proposes_new_points(const Tuner& tuner) {
  std::size_t all = 0;
  for (const std::int64_t choices : {2, 3, 9}) {
    const auto found = walk(tuner, choices, 1, 64);
    if (!found) return Outcome::broken("it does not start: " + found.error().message);
    if (!found->fault.empty())
      return Outcome::broken(fmt::format("at {} choices a knob it proposes {}", choices, found->fault));
    all += found->points.size();
  }
  if (all == 0) return Outcome::broken("it proposes nothing");
  return Outcome::kept(fmt::format("{} points of 3 spaces, each in its space and new", all));
}

Outcome is_the_same_for_a_seed(const Tuner& tuner) {
  const auto a = walk(tuner, 9, 7, 48), b = walk(tuner, 9, 7, 48);
  if (!a || !b) return Outcome::broken("it does not start: " + (a ? b : a).error().message);
  if (a->points != b->points) return Outcome::broken("seed 7 gives other points when it is run again");
  return Outcome::kept(fmt::format("{} points twice", a->points.size()));
}

Outcome knows_its_options(const Tuner& tuner) {
  PlainSpace space(3);
  if (tuner.start(space, 1, {{"no such option", 1.0}})) return Outcome::broken("it takes an option that there is not");
  return Outcome::kept("an option that there is not is refused");
}

constexpr const char* kTunerAdvice =
    "tune/tuner.h: what is proposed depends on the space, the seed and what was learned; keep a set of what was "
    "proposed";

// --- predictors ---------------------------------------------------------------------------------------------------

const std::vector<std::string> kColumns = {"runs",  "operations", "calls", "multiply_adds",
                                           "loads", "vectors",    "steps", "no_such_column"};

/// Work that grows in every column.
tune::Features features_of_work(double work) {
  return {{{work, 2 * work, 0, work, 2 * work, work / 8, work / 4, 1}}, {work / 1000}};
}

std::vector<tune::Observation> observations(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<tune::Observation> all;
  for (std::size_t i = 0; i < count; ++i) {
    const double work = 1 + 999 * random.fraction();
    all.push_back({features_of_work(work), i % 10 == 9 ? INFINITY : 5 + work / 10, "a"});
  }
  return all;
}

tune::PredictorSetting plain_setting() {
  tune::PredictorSetting setting;
  setting.columns = kColumns;
  setting.machine.peak_gflops = 100;
  setting.machine.caches = {{1, 32 << 10, 200}, {2, 1 << 20, 100}, {3, 16 << 20, 30}, {0, 0, 10}};
  return setting;
}

Outcome learns_an_order(const Predictor& predictor) {
  const auto known = observations(120, 1);
  const auto fitted = predictor.fit(known, plain_setting(), {});
  if (!fitted) return Outcome::broken("it does not learn from 120 observations: " + fitted.error().message);
  std::vector<tune::Features> asked;
  for (int i = 0; i < 40; ++i) asked.push_back(features_of_work(10 + 24.0 * i));
  const auto found = (*fitted)->predict(asked);
  if (found.size() != asked.size())
    return Outcome::broken(fmt::format("{} figures for {} programs", found.size(), asked.size()));
  int right = 0, all = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i].us) || found[i].us <= 0 || !std::isfinite(found[i].spread) || found[i].spread < 0)
      return Outcome::broken(fmt::format("{} us, spread {}", found[i].us, found[i].spread));
    for (std::size_t j = i + 1; j < found.size(); ++j, ++all) right += found[i].us <= found[j].us ? 1 : 0;
  }
  if (right < 0.9 * all)
    return Outcome::broken(
        fmt::format("{} of {} pairs, of which one does all work of the other and more, are in order", right, all));
  return Outcome::kept(fmt::format("{} of {} pairs are in order", right, all));
}

Outcome is_the_same_again(const Predictor& predictor) {
  const auto known = observations(60, 2);
  const auto a = predictor.fit(known, plain_setting(), {}), b = predictor.fit(known, plain_setting(), {});
  if (!a || !b) return Outcome::broken((a ? b : a).error().message);
  const std::vector<tune::Features> asked = {features_of_work(17), features_of_work(500)};
  if ((*a)->predict(asked) != (*b)->predict(asked)) return Outcome::broken("other figures when it learns again");
  return Outcome::kept("two figures twice");
}

Outcome says_what_it_lacks(const Predictor& predictor) {
  if (predictor.fit(observations(60, 3), plain_setting(), {{"no such option", 1.0}}))
    return Outcome::broken("it takes an option that there is not");
  const bool knows = predictor.least_observations() == 0;
  const auto fitted = predictor.fit({}, plain_setting(), {});
  if (knows != fitted.has_value())
    return Outcome::broken(knows ? "it needs no observations, and refuses none" : "it learns from none");
  return Outcome::kept("options, and too few observations, are refused");
}

constexpr const char* kPredictorAdvice = "tune/predictor.h: figures are finite and above 0, whatever it has seen";

}  // namespace

std::vector<Contract> contracts_of(const Tuner& tuner) {
  return {{"proposes new points of the space", [&] { return proposes_new_points(tuner); }, kTunerAdvice},
          {"is the same for a seed", [&] { return is_the_same_for_a_seed(tuner); }, kTunerAdvice},
          {"knows its options", [&] { return knows_its_options(tuner); }, kTunerAdvice}};
}

std::vector<Contract> contracts_of(const Predictor& predictor) {
  return {{"learns an order", [&] { return learns_an_order(predictor); }, kPredictorAdvice},
          {"is the same for the same observations", [&] { return is_the_same_again(predictor); }, kPredictorAdvice},
          {"says what it lacks", [&] { return says_what_it_lacks(predictor); }, kPredictorAdvice}};
}

}  // namespace rewright::contract
