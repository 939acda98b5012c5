// What a tuner promises: new points of the space, the same for the same seed and answers. What a predictor promises:
// the same figures for the same observations, and an order that is plainly there. What a generator promises: the same
// schedules each time, and of each a choice that applies and changes no value.
#include <rewright/base/mixing.h>
#include <rewright/tune/generator.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>

#include <cmath>
#include <set>

#include "contract/contracts.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/schedule_space.h"

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

Outcome keeps_what_it_learned(const Predictor& predictor) {
  const auto known = observations(60, 4);
  const auto fitted = predictor.fit(known, plain_setting(), {});
  if (!fitted) return Outcome::broken(fitted.error().message);
  const auto network = (*fitted)->network();
  if (!network && network.error().code == ErrorCode::kUnsupported) return Outcome::kept("it keeps none, and says so");
  if (!network) return Outcome::broken(network.error().message);
  const auto again = predictor.load(*network, plain_setting());
  if (!again) return Outcome::broken("it does not read what it wrote: " + again.error().message);
  const std::vector<tune::Features> asked = {features_of_work(17), features_of_work(500)};
  if ((*fitted)->predict(asked) != (*again)->predict(asked))
    return Outcome::broken("other figures when it is read again");
  if (predictor.load({}, plain_setting())) return Outcome::broken("it reads a network without anything in it");
  return Outcome::kept("two figures after it was written and read");
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

// --- generators -----------------------------------------------------------------------------------------------------

constexpr const char* kProgramsToSchedule[] = {
    R"(buffer x[24, 7] float32 in
buffer w[7, 64] float32 weight
buffer y[24, 64] float32 out
buffer acc[] float32 temporary
for y.i 24 serial { for y.j 64 serial {
  store acc[] = 0
  for y.k 7 serial { store acc[] += x[y.i, y.k] * w[y.k, y.j] }
  store y[y.i, y.j] = acc[]
} }
)",
    R"(buffer x[5, 9, 3] float32 in
buffer w[2, 2, 3, 32] float32 weight
buffer y[4, 8, 32] float32 out
buffer acc[] float32 temporary
for y.h 4 serial { for y.w 8 serial { for y.o 32 serial {
  store acc[] = 0
  for y.r 2 serial { for y.s 2 serial { for y.c 3 serial {
    store acc[] += x[y.h + y.r, y.w + y.s, y.c] * w[y.r, y.s, y.c, y.o]
  } } }
  store y[y.h, y.w, y.o] = max(acc[], 0)
} } }
)",
    R"(buffer x[13] float32 in
buffer y[13] float32 out
for y.i 13 serial { store y[y.i] = x[y.i] + 1 }
)"};

tune::Machine plain_machine(bool is_wide) {
  tune::Machine machine;
  machine.instructions = {"AVX2", "FMA"};
  if (is_wide) machine.instructions.emplace_back("AVX-512");
  machine.caches = {{1, 32 << 10, 100}, {2, 1 << 20, 50}, {0, 1LL << 33, 10}};
  machine.peak_gflops = 100;
  return machine;
}

/// Nothing, or what is wrong with the schedule.
std::optional<std::string> fault_of(const loop::Program& plain, const std::string& text) {
  const auto space = schedule::parse_space(text);
  if (!space) return "a text is no schedule: " + space.error().message;
  std::string why = "none of its choices is allowed";
  for (const schedule::Choices& choices : schedule::all_choices(*space, 64)) {
    const auto steps = schedule::schedule_of(*space, choices);
    if (!steps) return steps.error().message;
    const auto made = schedule::apply(plain, *steps);
    if (!made) {
      why = made.error().message;
      continue;
    }
    const Status valid = loop::validate(made->program);
    if (!valid) return "what it makes is not valid: " + valid.error().message;
    return std::nullopt;
  }
  return why;
}

Outcome writes_schedules_that_apply(const Generator& generator) {
  std::size_t count = 0;
  for (const char* text : kProgramsToSchedule) {
    const auto program = loop::parse_program(text);
    if (!program) return Outcome::broken(program.error().message);
    for (const bool is_wide : {false, true}) {
      for (const std::string& schedule : generator.schedules(*program, plain_machine(is_wide))) {
        if (const auto fault = fault_of(*program, schedule)) return Outcome::broken(*fault + ", in: " + schedule);
        ++count;
      }
    }
  }
  if (count == 0) return Outcome::skipped("it has no rule for the programs here");
  return Outcome::kept(fmt::format("{} schedules", count));
}

Outcome writes_the_same_again(const Generator& generator) {
  for (const char* text : kProgramsToSchedule) {
    const auto program = loop::parse_program(text);
    if (!program) return Outcome::broken(program.error().message);
    const tune::Machine machine = plain_machine(true);
    if (generator.schedules(*program, machine) != generator.schedules(*program, machine))
      return Outcome::broken("other schedules when it is asked again");
  }
  return Outcome::kept("the same for three programs");
}

constexpr const char* kGeneratorAdvice = "tune/generator.h; rewright schedule check says which step does not apply";

constexpr const char* kPredictorAdvice = "tune/predictor.h: figures are finite and above 0, whatever it has seen";

}  // namespace

std::vector<Contract> contracts_of(const Tuner& tuner) {
  return {{"proposes new points of the space", [&] { return proposes_new_points(tuner); }, kTunerAdvice},
          {"is the same for a seed", [&] { return is_the_same_for_a_seed(tuner); }, kTunerAdvice},
          {"knows its options", [&] { return knows_its_options(tuner); }, kTunerAdvice}};
}

std::vector<Contract> contracts_of(const Generator& generator) {
  return {{"writes schedules that apply", [&] { return writes_schedules_that_apply(generator); }, kGeneratorAdvice},
          {"writes the same again", [&] { return writes_the_same_again(generator); }, kGeneratorAdvice}};
}

std::vector<Contract> contracts_of(const Predictor& predictor) {
  return {{"learns an order", [&] { return learns_an_order(predictor); }, kPredictorAdvice},
          {"is the same for the same observations", [&] { return is_the_same_again(predictor); }, kPredictorAdvice},
          {"keeps what it learned", [&] { return keeps_what_it_learned(predictor); }, kPredictorAdvice},
          {"says what it lacks", [&] { return says_what_it_lacks(predictor); }, kPredictorAdvice}};
}

}  // namespace rewright::contract
