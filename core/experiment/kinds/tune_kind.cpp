// Kind "tune": schedules of one kernel, searched by one tuner.
//
//   program     a file with a loop program; sizes, "M=64 N=64", of those that it leaves open
//   kernel      in place of both: as text
//   tuner, tuner_options, predictor, predictor_options, structure, orders     as of rewright tune kernel
//   sketch      a file with a space, in which alone is searched; with, "ti=6 tj=64", of its knobs
//   against     choices of its knobs, the greatest no greater than these that apply: measured beside
//   near        the space is what is near that schedule
//   trials      0: nothing is measured, sketches are counted
//   seed
//   label       stands in every row; the tuner's name
//
// Rows  row = "sum":   sketches, points, unscheduled_us, one_shot_us (without a search), against_us, best_us of all,
//                      found_us of the trials, gain (against_us by that), trials, wrong, and pairs and right of what
//                      the predictor put in order
//       row = "trial": trial, us, best_us
//
// Kind "samples": tuners in one space, each with so many trials.
//
//   as of "tune"; tuner is one of both, and other_tuner the other; share  of the best that any trial found
//   before  sizes that are tuned first, as many trials each: their records teach the predictor of the first tuner alone
//
// Rows  row = "sum":   tuner, taught (1: by records of other sizes), samples (until that share; trials + 1 where it was
// not reached), best_us, goal_us
//
// Kind "schedulers": the kernels of a network, tuned by gradient, and tuned in turn.
//
//   model       NAME of a model of experiments/models, or a file NAME.onnx relative to the manifest
//   trials      of each
//   seed
//
// Rows  row = "sum":   kernels, one_shot_us, gradient_us, in_turn_us, latency_us (nine tenths of what the one gained
// that
//                      gained less), gradient_trials and in_turn_trials until then
//       row = "curve": scheduler, trials, best_us
#include <rewright/loop/target.h>
#include <rewright/onnx/runtime.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/files.h"
#include "compile/network_tasks.h"
#include "experiment/kind.h"
#include "schedule/apply.h"
#include "schedule/neighbourhood.h"
#include "schedule/schedule_json.h"
#include "tune/network_tuning.h"
#include "tune/tuning_choice.h"

namespace rewright::experiment {
namespace {

using namespace tune;

struct TuneAsked {
  std::string program, sizes, kernel, label;
  std::string sketch, with, against;
  bool near = false;
  TuningChoice choice;
  std::int64_t trials = 0;
};

/// Of "M=64 N=64".
Result<std::map<std::string, std::int64_t>> numbers_of(const std::string& text) {
  std::map<std::string, std::int64_t> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    const std::string number = at == std::string::npos ? "" : word.substr(at + 1);
    if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
      return make_error(ErrorCode::kParse, "'{}' in '{}' is not of the form NAME=NUMBER", word, text);
    numbers[word.substr(0, at)] = std::stoll(number);
  }
  return numbers;
}

Result<TuningTask> task_of(const TuneAsked& asked, const Registry& registry) {
  if (!asked.kernel.empty()) return kernel_task(asked.kernel, registry);
  REWRIGHT_TRY(const auto sizes, numbers_of(asked.sizes));
  return file_task(asked.program, sizes);
}

/// The first schedule that applies, with the greatest choices of these knobs that are no greater than what is said; a
/// knob that is declared first counts most.
Result<schedule::Schedule> greatest(schedule::Space space, const std::map<std::string, std::int64_t>& most,
                                    const loop::Program& program) {
  for (auto& [name, numbers] : most) {
    const auto knob = std::ranges::find(space.knobs, name, &schedule::Knob::name);
    if (knob == space.knobs.end() || knob->numbers.empty())
      return make_error(ErrorCode::kParse, "the space has no knob {} of numbers", name);
    std::erase_if(knob->numbers, [&, bound = numbers](std::int64_t number) { return number > bound; });
    std::ranges::sort(knob->numbers, std::greater());
    if (knob->numbers.empty()) return make_error(ErrorCode::kParse, "knob {} has no choice that is so small", name);
  }
  constexpr std::size_t kMost = 100'000;
  for (const schedule::Choices& choices : all_choices(space, kMost)) {
    REWRIGHT_TRY(schedule::Schedule steps, schedule_of(space, choices));
    if (schedule::apply(program, steps)) return steps;
  }
  return make_error(ErrorCode::kUsage, "none of the choices of 'against' applies");
}

/// What is searched, where that is one space, and what is measured beside it.
struct GivenSpace {
  std::vector<schedule::Space> spaces;
  std::optional<std::string> against;
};
Result<GivenSpace> given_space(const TuneAsked& asked, const loop::Program& program) {
  GivenSpace given;
  if (asked.sketch.empty()) return given;
  REWRIGHT_TRY(const std::string text, read_file(asked.sketch));
  auto space = schedule::read_space(text);
  if (!space) return make_error(space.error().code, "'{}': {}", asked.sketch, space.error().message);
  std::istringstream with(asked.with);
  for (std::string choice; with >> choice;) REWRIGHT_CHECK(give(*space, choice));
  if (!asked.against.empty()) {
    REWRIGHT_TRY(const auto most, numbers_of(asked.against));
    REWRIGHT_TRY(const schedule::Schedule steps, greatest(*space, most, program));
    given.against = to_string(steps);
  }
  if (asked.near && given.against) {
    REWRIGHT_TRY(space, schedule::neighbourhood(*given.against));
  }
  given.spaces.push_back(*std::move(space));
  return given;
}

/// Not empty: why nothing can be measured here.
Result<std::string> missing_for_measuring(const Registry& registry) {
  REWRIGHT_TRY(const Target* target, registry.get<Target>("c"));
  const auto version = target->version();
  return version ? std::string() : version.error().message;
}

Json in_microseconds(double us) { return std::isfinite(us) ? Json(us) : Json(); }

Outcome rows_of(const TuneAsked& asked, const TaskTuning& tuning) {
  Outcome outcome;
  std::int64_t wrong = 0;
  for (const auto& [what, count] : tuning.outcomes()) {
    if (what != "ok" && what != "refused") wrong += count;
  }
  const double found = std::ranges::min(
      tuning.trials_us().empty() ? std::vector{std::numeric_limits<double>::infinity()} : tuning.trials_us());
  Json sum = {{"row", "sum"},
              {"label", asked.label},
              {"sketches", tuning.space().sketch_count()},
              {"points", static_cast<double>(tuning.space().size())},
              {"unscheduled_us", in_microseconds(tuning.unscheduled_us())},
              {"one_shot_us", in_microseconds(tuning.one_shot_us())},
              {"against_us", in_microseconds(tuning.transfers().best_us)},
              {"best_us", in_microseconds(tuning.best_us())},
              {"found_us", in_microseconds(found)},
              {"gain", in_microseconds(tuning.transfers().best_us / found)},
              {"trials", tuning.trials()},
              {"wrong", wrong},
              {"pairs", tuning.ordered().pairs},
              {"right", tuning.ordered().right}};
  outcome.rows.push_back(std::move(sum));
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tuning.trials_us().size(); ++i) {
    best = std::min(best, tuning.trials_us()[i]);
    outcome.rows.push_back({{"row", "trial"},
                            {"label", asked.label},
                            {"trial", i + 1},
                            {"us", in_microseconds(tuning.trials_us()[i])},
                            {"best_us", in_microseconds(best)}});
  }
  return outcome;
}

/// Records that are known, and where those are kept that are made; null: nowhere.
struct Knowledge {
  std::vector<ScheduleRecord> known = {};
  KernelPrograms programs = {};
  ScheduleRecords* records = nullptr;
};

Result<std::unique_ptr<TaskTuning>> tuned(const TuneAsked& asked, const Lab& lab, const Knowledge& knowledge = {}) {
  REWRIGHT_TRY(TuningTask task, task_of(asked, *lab.registry));
  REWRIGHT_TRY(TuningSetting setting, tuning_setting(asked.choice, *lab.registry));
  REWRIGHT_TRY(GivenSpace given, given_space(asked, task.program));
  setting.only_given = !given.spaces.empty();
  setting.given = std::move(given.spaces);
  setting.programs = &knowledge.programs;
  setting.records = knowledge.records;
  const TaskTuning* shown = nullptr;
  setting.stop = [&] {
    const double done = shown == nullptr ? 0 : static_cast<double>(shown->trials());
    lab.show(asked.choice.tuner, asked.trials > 0 ? done / static_cast<double>(asked.trials) : 0);
    return lab.stopped();
  };
  REWRIGHT_TRY(auto tuning, TaskTuning::start(std::move(task), setting, knowledge.known));
  if (asked.trials == 0) return tuning;
  shown = tuning.get();
  if (given.against) {
    const DonorSchedule against{*given.against};
    REWRIGHT_CHECK(tuning->measure_transfers({&against, 1}, Division::kStrict, 1));
  }
  REWRIGHT_CHECK(tuning->run(asked.trials));
  REWRIGHT_CHECK(tuning->time_again());
  tuning->close();
  return tuning;
}

Result<Outcome> tune_kernel(const TuneAsked& asked, const Lab& lab) {
  if (asked.trials > 0) {
    REWRIGHT_TRY(std::string missing, missing_for_measuring(*lab.registry));
    if (!missing.empty()) return Outcome{{}, {}, std::move(missing)};
  }
  REWRIGHT_TRY(const auto tuning, tuned(asked, lab));
  return rows_of(asked, *tuning);
}

// --- samples --------------------------------------------------------------------------------------------------------

struct SamplesAsked {
  TuneAsked first;
  std::string other_tuner;
  std::vector<std::string> before;  ///< Sizes.
  double share = 0.95;
};

/// What is known of other sizes.
Result<Knowledge> tuned_before(const SamplesAsked& asked, const Lab& lab) {
  Knowledge knowledge;
  if (asked.before.empty()) return knowledge;
  const std::string folder = lab.work + "/before";
  REWRIGHT_TRY(ScheduleRecords records, ScheduleRecords::open(folder));
  for (const std::string& sizes : asked.before) {
    TuneAsked one = asked.first;
    one.sizes = sizes;
    Knowledge none;
    none.records = &records;
    REWRIGHT_CHECK(tuned(one, lab, none));
  }
  REWRIGHT_TRY(knowledge.known, ScheduleRecords::read(folder));
  REWRIGHT_TRY(knowledge.programs, ScheduleRecords::programs(folder));
  return knowledge;
}

Result<Outcome> count_samples(const SamplesAsked& asked, const Lab& lab) {
  REWRIGHT_TRY(std::string missing, missing_for_measuring(*lab.registry));
  if (!missing.empty()) return Outcome{{}, {}, std::move(missing)};
  TuneAsked other = asked.first;
  other.choice.tuner = asked.other_tuner;
  other.choice.tuner_options.clear();
  REWRIGHT_TRY(const Knowledge knowledge, tuned_before(asked, lab));
  REWRIGHT_TRY(const auto one, tuned(asked.first, lab, knowledge));
  REWRIGHT_TRY(const auto two, tuned(other, lab));
  const auto best = [](const TaskTuning& tuning) { return std::ranges::min(tuning.trials_us()); };
  const double goal = std::min(best(*one), best(*two)) / asked.share;
  Outcome outcome;
  for (const auto& [tuning, name] :
       {std::pair(one.get(), asked.first.choice.tuner), std::pair(two.get(), other.choice.tuner)}) {
    const auto& us = tuning->trials_us();
    const auto at = std::ranges::find_if(us, [&](double each) { return each <= goal; });
    outcome.rows.push_back({{"row", "sum"},
                            {"tuner", name},
                            {"taught", tuning->of_other_sizes() > 0 ? 1 : 0},
                            {"label", asked.first.label},
                            {"samples", at - us.begin() + 1},
                            {"best_us", in_microseconds(best(*tuning))},
                            {"goal_us", in_microseconds(goal)}});
  }
  return outcome;
}

// --- a network ------------------------------------------------------------------------------------------------------

constexpr double kLeftOut = 0.1;

struct NetworkAsked {
  std::string file;
  std::int64_t trials = 0, seed = 1;
};

Result<std::unique_ptr<NetworkTuning>> tuned(const NetworkAsked& asked, bool in_turn, const Lab& lab) {
  TuningChoice choice;
  choice.seed = static_cast<std::uint64_t>(asked.seed);
  REWRIGHT_TRY(TuningSetting setting, tuning_setting(choice, *lab.registry));
  REWRIGHT_TRY(const Runtime* runtime, lab.registry->get<Runtime>("onnxruntime"));
  REWRIGHT_TRY(std::vector<TuningTask> tasks,
               compile::model_tasks(asked.file, {}, *runtime, *lab.registry, setting.sketches.unit));
  std::vector<double> counts;
  for (const TuningTask& task : tasks) counts.push_back(task.count);
  const NetworkTuning* shown = nullptr;
  setting.stop = [&] {
    const double done = shown == nullptr ? 0 : static_cast<double>(shown->trials());
    lab.show(in_turn ? "in turn" : "gradient", done / static_cast<double>(asked.trials));
    return lab.stopped();
  };
  REWRIGHT_TRY(auto network, NetworkTuning::start(std::move(tasks), sum_objective(std::move(counts)), setting,
                                                  TaskScheduling{.in_turn = in_turn}, {}));
  shown = network.get();
  REWRIGHT_CHECK(network->measure_baselines());
  for (bool is_open = true; is_open && network->trials() < asked.trials;) {
    REWRIGHT_TRY(is_open, network->round(asked.trials - network->trials()));
  }
  network->close();
  return network;
}

Result<Outcome> compare_schedulers(const NetworkAsked& asked, const Lab& lab) {
  std::string missing = missing_model(asked.file);
  if (missing.empty()) {
    REWRIGHT_TRY(missing, missing_for_measuring(*lab.registry));
  }
  if (!missing.empty()) return Outcome{{}, {}, std::move(missing)};
  REWRIGHT_TRY(const auto gradient, tuned(asked, false, lab));
  REWRIGHT_TRY(const auto in_turn, tuned(asked, true, lab));
  const auto best = [](const NetworkTuning& network) { return network.curve().back().objective_us; };
  // What both gained but for a tenth: the last of it is no more than measuring wavers.
  const double before = std::max(gradient->curve().front().objective_us, in_turn->curve().front().objective_us);
  const double after = std::max(best(*gradient), best(*in_turn));
  const double latency = after + kLeftOut * (before - after);
  const auto trials_to_it = [&](const NetworkTuning& network) {
    const auto at =
        std::ranges::find_if(network.curve(), [&](const NetworkPoint& point) { return point.objective_us <= latency; });
    return std::max<std::int64_t>(1, at->trials);
  };
  Outcome outcome;
  outcome.rows.push_back({{"row", "sum"},
                          {"kernels", gradient->tasks().size()},
                          {"one_shot_us", gradient->one_shot_us()},
                          {"gradient_us", best(*gradient)},
                          {"in_turn_us", best(*in_turn)},
                          {"latency_us", latency},
                          {"gradient_trials", trials_to_it(*gradient)},
                          {"in_turn_trials", trials_to_it(*in_turn)}});
  for (const NetworkTuning* network : {gradient.get(), in_turn.get()}) {
    for (const NetworkPoint& point : network->curve())
      outcome.rows.push_back({{"row", "curve"},
                              {"scheduler", network == gradient.get() ? "gradient" : "in turn"},
                              {"trials", point.trials},
                              {"best_us", in_microseconds(point.objective_us)}});
  }
  return outcome;
}

}  // namespace

namespace {
Result<TuneAsked> read_asked(Parameters& parameters) {
  TuneAsked asked;
  REWRIGHT_TRY(asked.kernel, parameters.text("kernel", ""));
  if (asked.kernel.empty()) {
    REWRIGHT_TRY(asked.program, parameters.file("program"));
    REWRIGHT_TRY(asked.sizes, parameters.text("sizes", ""));
  }
  REWRIGHT_TRY(asked.sketch, parameters.text("sketch", ""));
  if (!asked.sketch.empty()) {
    REWRIGHT_TRY(asked.sketch, parameters.file("sketch"));
    REWRIGHT_TRY(asked.with, parameters.text("with", ""));
    REWRIGHT_TRY(asked.against, parameters.text("against", ""));
    REWRIGHT_TRY(asked.near, parameters.boolean("near", false));
  }
  TuningChoice& choice = asked.choice;
  REWRIGHT_TRY(choice.tuner, parameters.text("tuner", choice.tuner));
  REWRIGHT_TRY(choice.tuner_options, parameters.options("tuner_options"));
  REWRIGHT_TRY(choice.predictor, parameters.text("predictor", ""));
  REWRIGHT_TRY(choice.predictor_options, parameters.options("predictor_options"));
  REWRIGHT_TRY(choice.structure, parameters.text("structure", choice.structure));
  REWRIGHT_TRY(choice.orders, parameters.text("orders", choice.orders));
  REWRIGHT_TRY(asked.label, parameters.text("label", choice.tuner));
  REWRIGHT_TRY(asked.trials, parameters.integer("trials", 0, 100'000));
  REWRIGHT_TRY(const std::int64_t seed, parameters.integer("seed", 0, std::numeric_limits<std::int32_t>::max(), 1));
  choice.seed = static_cast<std::uint64_t>(seed);
  return asked;
}
}  // namespace

Result<Job> tune_job(Parameters& parameters, const Lab& /*lab*/) {
  REWRIGHT_TRY(const TuneAsked asked, read_asked(parameters));
  Job job{[asked](const Lab& place) { return tune_kernel(asked, place); }};
  job.measures = asked.trials > 0;
  return job;
}

Result<Job> samples_job(Parameters& parameters, const Lab& /*lab*/) {
  SamplesAsked asked;
  REWRIGHT_TRY(asked.first, read_asked(parameters));
  REWRIGHT_TRY(asked.other_tuner, parameters.text("other_tuner"));
  REWRIGHT_TRY(asked.before, parameters.texts("before"));
  REWRIGHT_TRY(asked.share, parameters.number("share", 0, 1, asked.share));
  Job job{[asked](const Lab& place) { return count_samples(asked, place); }};
  job.measures = true;
  return job;
}

Result<Job> schedulers_job(Parameters& parameters, const Lab& lab) {
  NetworkAsked asked;
  REWRIGHT_TRY(asked.file, model_file(parameters, lab));
  REWRIGHT_TRY(asked.trials, parameters.integer("trials", 1, 100'000));
  REWRIGHT_TRY(asked.seed, parameters.integer("seed", 0, std::numeric_limits<std::int32_t>::max(), 1));
  Job job{[asked](const Lab& place) { return compare_schedulers(asked, place); }};
  job.measures = true;
  if (missing_model(asked.file).empty()) job.files.push_back(asked.file);
  return job;
}

}  // namespace rewright::experiment
