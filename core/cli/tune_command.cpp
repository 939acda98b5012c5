// rewright tune kernel KERNEL, rewright tune sketches KERNEL
#include <rewright/loop/target.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "compile/child_processes.h"
#include "compile/instruction_set.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "schedule/schedule_json.h"
#include "store/schedule_records.h"
#include "tune/kernel_program.h"
#include "tune/this_machine.h"
#include "tune/task_tuning.h"

namespace rewright::cli {
namespace {

constexpr std::int64_t kWalkedSteps = 200'000;

struct TuneArguments {
  std::string what;
  std::vector<std::string> sizes;
  std::vector<std::string> sketches;  ///< Files.
  bool only_given = false;
  std::string structure = "SSRSRS";
  std::string dialect = "vectors";
  std::string policy = "hot";
  std::string tuner = "evolution";
  std::string predictor = "trees";
  std::vector<std::string> options;
  std::string orders = "category";
  std::string records;
  std::int64_t trials = 64;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::uint64_t batch = 8;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A file with a loop program, or a kernel as text.
Result<tune::TuningTask> read_task(const TuneArguments& arguments, const Registry& registry) {
  std::error_code ignored;
  if (!std::filesystem::exists(arguments.what, ignored)) return tune::kernel_task(arguments.what, registry);
  REWRIGHT_TRY(const std::string text, read_file(arguments.what));
  auto program = loop::parse_program(text);
  if (!program) return make_error(program.error().code, "'{}': {}", arguments.what, program.error().message);
  REWRIGHT_TRY(const auto sizes, read_dims(arguments.sizes));
  program = loop::specialised(*program, [&](const SizeVar& size) -> std::optional<std::int64_t> {
    const auto at = sizes.find(size.text());
    return at == sizes.end() ? std::nullopt : std::optional(at->second);
  });
  const Status valid = loop::validate(*program, kWalkedSteps);
  if (!valid && valid.error().code != ErrorCode::kBudget)
    return make_error(valid.error().code, "'{}': {}", arguments.what, valid.error().message);
  return tune::program_task(arguments.what, *program);
}

Result<schedule::SketchOptions> sketch_options(const TuneArguments& arguments) {
  REWRIGHT_TRY(const compile::InstructionSet* set, compile::instruction_set(arguments.dialect));
  if (set == nullptr) {
    return make_error(ErrorCode::kUsage, "code of dialect {} has no vectors to schedule for; vectors has",
                      arguments.dialect);
  }
  REWRIGHT_CHECK(schedule::check_structure(arguments.structure));
  return schedule::SketchOptions{set->unit, arguments.structure};
}

/// "crossover=0.2", "population=64".
Result<Options> read_options(const std::vector<std::string>& texts) {
  Options options;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      return make_error(ErrorCode::kUsage, "--option {}: it is NAME=NUMBER", text);
    char* end = nullptr;
    const std::string value = text.substr(at + 1);
    const double number = std::strtod(value.c_str(), &end);
    if (*end == '\0') {
      options[text.substr(0, at)] = number;
    } else {
      options[text.substr(0, at)] = value;
    }
  }
  return options;
}

// --- sketches -----------------------------------------------------------------------------------------------------

Result<ExitCode> print_sketches(const Settings& settings, const TuneArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const tune::TuningTask task, read_task(arguments, registry));
  REWRIGHT_TRY(const schedule::SketchOptions options, sketch_options(arguments));
  Json rows = Json::array();
  Table table({"sketch", "points", "knobs"});
  table.align_right({1});
  std::vector<schedule::Sketch> sketches = schedule::sketches_of(task.program, options);
  for (const schedule::Sketch& sketch : sketches) {
    double points = 1;
    Json knobs = Json::array();
    std::string names;
    for (const schedule::SketchKnob& knob : sketch.knobs) {
      points *= static_cast<double>(choice_count(knob));
      knobs.push_back({{"name", knob.name}, {"choices", choice_count(knob)}, {"numbers", knob.numbers}});
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", knob.name, choice_count(knob));
    }
    rows.push_back({{"sketch", to_string(sketch)}, {"points", points}, {"knobs", std::move(knobs)}});
    table.add({to_string(sketch), fmt::format("{:.3g}", points), names});
  }
  settings.json ? print_json({{"sketches", std::move(rows)}}) : print(table.to_string());
  return ExitCode::kDone;
}

// --- one kernel ---------------------------------------------------------------------------------------------------

class KernelSession {
 public:
  KernelSession(const Settings& settings, const TuneArguments& arguments)
      : settings_(settings), arguments_(arguments) {}

  Result<ExitCode> run() {
    REWRIGHT_TRY(const Registry registry, settings_.registry());
    REWRIGHT_TRY(tune::TuningTask task, read_task(arguments_, registry));
    REWRIGHT_CHECK(prepare(registry));
    std::vector<ScheduleRecord> known;
    if (!arguments_.records.empty()) {
      REWRIGHT_TRY(ScheduleRecords records, ScheduleRecords::open(arguments_.records));
      records_.emplace(std::move(records));
      setting_.records = &*records_;
      REWRIGHT_TRY(known, ScheduleRecords::read(arguments_.records));
    }
    REWRIGHT_TRY(tuning_, tune::TaskTuning::start(std::move(task), setting_, known));
    begin_ = now();
    const Status status = tune();
    if (!status && !interrupted()) return status.error();
    settings_.json ? report_json() : report();
    if (interrupted()) {
      note(records_ ? "stopped; the same command goes on where this one ended" : "stopped", settings_.quiet);
      return ExitCode::kStopped;
    }
    return std::isfinite(tuning_->best_us()) ? ExitCode::kDone : ExitCode::kNegative;
  }

 private:
  Status prepare(const Registry& registry) {
    setting_.measure.dialect = arguments_.dialect;
    setting_.measure.policy = arguments_.policy == "cold" ? tune::CachePolicy::kCold : tune::CachePolicy::kHot;
    setting_.measure.batch_us = 100;
    setting_.seed = arguments_.seed;
    setting_.batch = arguments_.batch;
    setting_.only_given = arguments_.only_given;
    setting_.orders = arguments_.orders == "scores" ? tune::OrderFeatures::kScores : tune::OrderFeatures::kCategory;
    REWRIGHT_TRY(setting_.sketches, sketch_options(arguments_));
    for (const std::string& file : arguments_.sketches) {
      REWRIGHT_TRY(const std::string text, read_file(file));
      auto space = schedule::read_space(text);
      if (!space) return make_error(space.error().code, "'{}': {}", file, space.error().message);
      setting_.given.push_back(*std::move(space));
    }
    if (setting_.only_given && setting_.given.empty())
      return make_error(ErrorCode::kUsage, "--only-given, and --sketch gives none");
    REWRIGHT_TRY(setting_.tuner, registry.get<Tuner>(arguments_.tuner));
    REWRIGHT_TRY(setting_.tuner_options, read_options(arguments_.options));
    if (arguments_.predictor != "none") {
      REWRIGHT_TRY(setting_.predictor, registry.get<Predictor>(arguments_.predictor));
      setting_.prior = registry.find<Predictor>("roofline");
    }
    REWRIGHT_TRY(const Target* target, registry.get<Target>(setting_.measure.target));
    REWRIGHT_TRY(setting_.target_version, target->version());
    REWRIGHT_TRY(setting_.plugin, tune::Measurer::plugin_of(registry, setting_.measure.target));
    REWRIGHT_TRY(setting_.machine, tune::measured_machine());
    setting_.stop = [this] {
      show();
      return interrupted() || is_late();
    };
    return {};
  }
  [[nodiscard]] bool is_late() const { return arguments_.seconds > 0 && now() - begin_ > arguments_.seconds; }
  void show() {
    const std::string what = fmt::format("tune, best {:.2f} us", tuning_ ? tuning_->best_us() : 0.0);
    const auto done = static_cast<std::uint64_t>(tuning_ ? tuning_->trials() : 0);
    line_.show("tune", done, fmt::format("trials, best {:.2f} us", tuning_ ? tuning_->best_us() : 0.0),
               static_cast<double>(done) / static_cast<double>(arguments_.trials));
  }
  Status tune() {
    REWRIGHT_CHECK(tuning_->measure_baselines());
    while (tuning_->trials() < arguments_.trials && !tuning_->is_exhausted() && !is_late() && !interrupted()) {
      Status ended = tuning_->round(static_cast<std::size_t>(arguments_.trials - tuning_->trials()));
      if (!ended && is_late()) break;
      REWRIGHT_CHECK(ended);
    }
    tuning_->close();
    line_.clear();
    return {};
  }

  [[nodiscard]] double gflops(double us) const { return tune::work_of(tuning_->task().program).operations / us * 1e-3; }
  void report() const {
    Table table({"", "us, least", "GFLOP/s", "of peak"});
    table.align_right({1, 2, 3});
    const auto add = [&](const std::string& name, double us) {
      if (!std::isfinite(us)) return table.add({name, "", "", ""});
      table.add({name, fmt::format("{:.2f}", us), fmt::format("{:.1f}", gflops(us)),
                 fmt::format("{:.0f} %", 100 * gflops(us) / setting_.machine.peak_gflops)});
    };
    add("unscheduled", tuning_->unscheduled_us());
    add("without a search", tuning_->one_shot_us());
    add("best", tuning_->best_us());
    print(table.to_string());
    std::string outcomes;
    for (const auto& [outcome, count] : tuning_->outcomes())
      outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count, outcome);
    const tune::TuningTimes& times = tuning_->times();
    print_line(
        fmt::format("{} of {} points{}: {}. {:.1f} s measuring and compiling, {:.1f} s proposing, {:.1f} s "
                    "learning.",
                    counted(static_cast<std::uint64_t>(tuning_->trials()), "trial"), size_text(),
                    tuning_->replayed() > 0 ? fmt::format(" ({} of records)", tuning_->replayed()) : "", outcomes,
                    times.measuring, times.proposing, times.learning));
    for (const ScheduleRecord& failure : tuning_->failures())
      note(fmt::format("{}: {}; its schedule is in the records", failure.outcome, failure.text), settings_.quiet);
    print("\n" + tuning_->best().schedule);
  }
  [[nodiscard]] std::string size_text() const {
    return fmt::format("{:.3g}", static_cast<double>(tuning_->space().size()));
  }
  void report_json() const {
    const auto number = [](double us) { return std::isfinite(us) ? Json(us) : Json(); };
    Json outcomes = {{"ok", 0}, {"wrong", 0}, {"crashed", 0}, {"timeout", 0}, {"refused", 0}};
    for (const auto& [outcome, count] : tuning_->outcomes()) outcomes[outcome] = count;
    Json curve = Json::array();
    for (const tune::TuningPoint& point : tuning_->curve())
      curve.push_back({{"trials", point.trials}, {"seconds", point.seconds}, {"best_us", number(point.best_us)}});
    const tune::TuningTimes& times = tuning_->times();
    print_json(
        {{"task", tuning_->task().name},
         {"tasks", 1},
         {"trials", tuning_->trials()},
         {"replayed", tuning_->replayed()},
         {"seconds", now() - begin_},
         {"best_us", number(tuning_->best_us())},
         {"baseline_us", number(tuning_->unscheduled_us())},
         {"one_shot_us", number(tuning_->one_shot_us())},
         {"best_gflops", number(gflops(tuning_->best_us()))},
         {"peak_gflops", setting_.machine.peak_gflops},
         {"schedule", tuning_->best().schedule},
         {"points", tuning_->space().size()},
         {"outcomes", std::move(outcomes)},
         {"times", {{"measuring", times.measuring}, {"proposing", times.proposing}, {"learning", times.learning}}},
         {"exhausted", tuning_->is_exhausted()},
         {"stopped_early", interrupted()},
         {"curve", std::move(curve)}});
  }

  const Settings& settings_;
  const TuneArguments& arguments_;
  tune::TuningSetting setting_;
  std::optional<ScheduleRecords> records_;
  std::unique_ptr<tune::TaskTuning> tuning_;
  ProgressLine line_{settings_.quiet};
  double begin_ = 0;
};

Result<ExitCode> tune_kernel(const Settings& settings, const TuneArguments& arguments) {
  heed_interrupts();
  const StopInTime stop_in_time([&] {
    compile::end_child_processes();
    if (settings.json) print_json({{"stopped_early", true}});
    note("stopped; records of what was measured until then are kept", settings.quiet);
  });
  return KernelSession(settings, arguments).run();
}

void add_what(const Command& command, TuneArguments& arguments) {
  command
      .add_option("KERNEL", arguments.what,
                  "Inputs with their sizes and what is computed of them, or a loop program's file")
      .required();
  command.add_option("--size", arguments.sizes, "What a size of the loop program is: NAME=NUMBER").repeatable();
  command.add_option("--structure", arguments.structure, "Levels of loops of results (S) and of sums (R) in tiles")
      .show_default();
  command
      .add_option("--dialect", arguments.dialect,
                  "Of target c: vectors, vectors-avx512, vectors-avx2, vectors-portable")
      .show_default();
}

void add_sketches(Program& program, const Command& group) {
  auto arguments = std::make_shared<TuneArguments>();
  const Command command =
      program.command(group, "sketches", "Prints the sketches of a kernel: schedules whose numbers are free",
                      {"rewright tune sketches '(x:512x512, w:512x512) relu(matmul(x, w))'"},
                      [arguments](const Settings& settings) { return print_sketches(settings, *arguments); });
  add_what(command, *arguments);
}

void add_kernel(Program& program, const Command& group) {
  auto arguments = std::make_shared<TuneArguments>();
  const Command command = program.command(
      group, "kernel", "Searches for the fastest schedule of a kernel",
      {"rewright tune kernel '(x:512x512, w:512x512 weight) relu(matmul(x, w))' --trials 64 --records my.store",
       "rewright tune kernel product.loop --size M=127 --size N=127 --size K=127 --tuner random",
       "rewright tune kernel '(x:64x64, w:64x64) matmul(x, w)' --sketch product.schedule --only-given --json"},
      [arguments](const Settings& settings) { return tune_kernel(settings, *arguments); });
  add_what(command, *arguments);
  command.add_option("--trials", arguments->trials, "Schedules to measure, those of the records among them")
      .check(whole_number(1))
      .show_default();
  command.add_option("--seconds", arguments->seconds, "To end after so many; 0: any number")
      .check(not_negative())
      .show_default();
  command
      .add_option("--records", arguments->records,
                  "A store that what is measured is added to, and that is gone on from")
      .type_name("STORE");
  command.add_option("--tuner", arguments->tuner, "What proposes schedules (rewright plugins list)").show_default();
  command.add_option("--predictor", arguments->predictor, "What ranks them, or none").show_default();
  command.add_option("--option", arguments->options, "Of the tuner: NAME=VALUE").repeatable();
  command.add_option("--orders", arguments->orders, "How orders of loops are shown to the predictor")
      .check(one_of({"category", "scores"}))
      .show_default();
  command
      .add_option("--sketch", arguments->sketches,
                  "A file with a schedule and its knobs, to search beside the sketches")
      .repeatable();
  command.add_flag("--only-given", arguments->only_given, "Nothing but what --sketch gives");
  command.add_option("--policy", arguments->policy, "Caches before a run: hot or cold")
      .check(one_of({"hot", "cold"}))
      .show_default();
  command.add_option("--batch", arguments->batch, "Schedules that are proposed at a time")
      .check(whole_number(1))
      .show_default();
  command.add_option("--seed", arguments->seed, "Of what is proposed").show_default();
}

}  // namespace

void add_tune(Program& program) {
  const Command group = program.group("tune", "Searches for schedules");
  add_kernel(program, group);
  add_sketches(program, group);
}

}  // namespace rewright::cli
