// Kind "tune": schedules of one kernel, searched by one tuner.
//
//   program     a file with a loop program; sizes, "M=64 N=64", of those that it leaves open
//   kernel      in place of both: as text
//   tuner, tuner_options, predictor, predictor_options, structure, orders     as of rewright tune kernel
//   trials      0: nothing is measured, sketches are counted
//   seed
//   label       stands in every row; the tuner's name
//
// Rows  row = "sum":   sketches, points, unscheduled_us, one_shot_us (without a search), best_us of all, found_us of
//                      the trials, trials, wrong, and pairs and right of what the predictor put in order
//       row = "trial": trial, us, best_us
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

#include "compile/network_tasks.h"
#include "experiment/kind.h"
#include "tune/network_tuning.h"
#include "tune/tuning_choice.h"

namespace rewright::experiment {
namespace {

using namespace tune;

struct TuneAsked {
  std::string program, sizes, kernel, label;
  TuningChoice choice;
  std::int64_t trials = 0;
};

Result<TuningTask> task_of(const TuneAsked& asked, const Registry& registry) {
  if (!asked.kernel.empty()) return kernel_task(asked.kernel, registry);
  std::map<std::string, std::int64_t> sizes;
  std::istringstream words(asked.sizes);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    const std::string number = at == std::string::npos ? "" : word.substr(at + 1);
    if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
      return make_error(ErrorCode::kParse, "'{}' in sizes is not of the form NAME=NUMBER", word);
    sizes[word.substr(0, at)] = std::stoll(number);
  }
  return file_task(asked.program, sizes);
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
              {"best_us", in_microseconds(tuning.best_us())},
              {"found_us", in_microseconds(found)},
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

Result<Outcome> tune_kernel(const TuneAsked& asked, const Lab& lab) {
  if (asked.trials > 0) {
    REWRIGHT_TRY(std::string missing, missing_for_measuring(*lab.registry));
    if (!missing.empty()) return Outcome{{}, {}, std::move(missing)};
  }
  REWRIGHT_TRY(TuningTask task, task_of(asked, *lab.registry));
  REWRIGHT_TRY(TuningSetting setting, tuning_setting(asked.choice, *lab.registry));
  const TaskTuning* shown = nullptr;
  setting.stop = [&] {
    const double done = shown == nullptr ? 0 : static_cast<double>(shown->trials());
    lab.show(asked.choice.tuner, asked.trials > 0 ? done / static_cast<double>(asked.trials) : 0);
    return lab.stopped();
  };
  REWRIGHT_TRY(const auto tuning, TaskTuning::start(std::move(task), setting, {}));
  shown = tuning.get();
  if (asked.trials > 0) {
    REWRIGHT_CHECK(tuning->run(asked.trials));
    REWRIGHT_CHECK(tuning->time_again());
  }
  return rows_of(asked, *tuning);
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

Result<Job> tune_job(Parameters& parameters, const Lab& /*lab*/) {
  TuneAsked asked;
  REWRIGHT_TRY(asked.kernel, parameters.text("kernel", ""));
  if (asked.kernel.empty()) {
    REWRIGHT_TRY(asked.program, parameters.file("program"));
    REWRIGHT_TRY(asked.sizes, parameters.text("sizes", ""));
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
  return Job{[asked](const Lab& place) { return tune_kernel(asked, place); }};
}

Result<Job> schedulers_job(Parameters& parameters, const Lab& lab) {
  NetworkAsked asked;
  REWRIGHT_TRY(asked.file, model_file(parameters, lab));
  REWRIGHT_TRY(asked.trials, parameters.integer("trials", 1, 100'000));
  REWRIGHT_TRY(asked.seed, parameters.integer("seed", 0, std::numeric_limits<std::int32_t>::max(), 1));
  Job job{[asked](const Lab& place) { return compare_schedulers(asked, place); }};
  if (missing_model(asked.file).empty()) job.files.push_back(asked.file);
  return job;
}

}  // namespace rewright::experiment
