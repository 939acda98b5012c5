// rewright schedule program KERNEL, rewright schedule suggest KERNEL, rewright schedule measure KERNEL SCHEDULE...
#include <rewright/loop/target.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "compile/child_processes.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/one_shot.h"
#include "schedule/schedule_json.h"
#include "store/schedule_records.h"
#include "tune/instruction_set.h"
#include "tune/kernel_program.h"
#include "tune/kernel_text.h"
#include "tune/measurer.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

/// Larger programs are not walked iteration by iteration: what they compute is compared all the same.
constexpr std::int64_t kWalkedSteps = std::int64_t{1} << 21;

struct MeasureArguments {
  std::string kernel;
  std::vector<std::string> schedules;
  std::vector<std::string> with;  ///< NAME=CHOICE, of knobs.
  std::string records;
  std::string policy = "hot";
  bool by_target = false;  ///< The target applies the schedules.
  tune::MeasureTask task;
};

/// A schedule and what came of it.
struct Candidate {
  std::string name;
  schedule::Schedule schedule;
  loop::Program program;
  std::optional<tune::Measurement> measurement;
};

Result<tune::KernelTask> read_kernel(const std::string& text, const Registry& registry) {
  const auto kernel = tune::parse_kernel(text, registry);
  if (!kernel) return make_error(kernel.error().code, "the kernel '{}': {}", text, kernel.error().message);
  return tune::task_of(kernel->kernel(), registry);
}

Result<ExitCode> print_program(const Settings& settings, const std::string& text) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const tune::KernelTask task, read_kernel(text, registry));
  if (settings.json) {
    const tune::ProgramWork work = tune::work_of(task.program);
    print_json({{"key", task.key},
                {"structure", task.apart.structure},
                {"sizes", task.apart.sizes},
                {"operations", work.operations},
                {"program", to_string(task.program)}});
  } else {
    print(to_string(task.program));
  }
  return ExitCode::kDone;
}

Result<ExitCode> suggest(const Settings& settings, const std::string& text, const std::string& dialect) {
  REWRIGHT_TRY(const tune::InstructionSet* set, tune::instruction_set(dialect));
  if (set == nullptr) {
    return make_error(ErrorCode::kUsage, "code of dialect {} has no vectors to schedule for; vectors has", dialect);
  }
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const tune::KernelTask task, read_kernel(text, registry));
  const std::string steps = to_string(schedule::one_shot(task.program, set->unit).steps);
  settings.json ? print_json({{"key", task.key}, {"schedule", steps}}) : print(steps);
  return ExitCode::kDone;
}

Result<schedule::Schedule> steps_of(const std::string& text, const std::vector<std::string>& with) {
  REWRIGHT_TRY(schedule::Space space, schedule::read_space(text));
  for (const std::string& choice : with) REWRIGHT_CHECK(give(space, choice));
  REWRIGHT_TRY(const schedule::Choices choices, given_choices(space));
  return schedule_of(space, choices);
}

/// A file, or the text of a schedule. One that cannot be applied is refused, not an error.
Result<Candidate> read_candidate(const std::string& argument, const std::vector<std::string>& with,
                                 const loop::Program& plain, bool by_target) {
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(argument, ignored);
  std::string text = argument;
  if (is_file) {
    REWRIGHT_TRY(text, read_file(argument));
  }
  const auto steps = steps_of(text, with);
  if (!steps) {
    return make_error(steps.error().code, "'{}' is {}: {}", argument,
                      is_file ? "no schedule" : "neither a file nor a schedule", steps.error().message);
  }
  Candidate candidate{argument, *steps, plain, std::nullopt};
  if (by_target) return candidate;
  auto made = schedule::apply(plain, *steps);
  Status status;
  if (made) status = loop::validate(made->program, kWalkedSteps);
  if (!made || (!status && status.error().code != ErrorCode::kBudget)) {
    candidate.measurement = tune::Measurement{"refused", made ? status.error().message : made.error().message, {}, 0};
  } else {
    candidate.program = std::move(made->program);
  }
  return candidate;
}

ScheduleRecord record_of(const Candidate& candidate, const tune::KernelTask& kernel, const MeasureArguments& arguments,
                         const tune::Machine& machine, const std::string& version) {
  ScheduleRecord record;
  record.structure = kernel.apart.structure;
  record.sizes = kernel.apart.sizes;
  record.schedule = to_string(candidate.schedule);
  record.target = arguments.task.target;
  record.dialect = arguments.task.dialect;
  record.target_version = version;
  record.machine = machine.fingerprint;
  record.processor = machine.processor;
  record.policy = arguments.policy;
  record.batches_us = candidate.measurement->batches_us;
  record.outcome = candidate.measurement->outcome;
  record.text = candidate.measurement->text;
  record.seed = arguments.task.seed;
  record.origin = "hand";
  record.recorded = utc_now();
  return record;
}

class Session {
 public:
  Session(const Settings& settings, const MeasureArguments& arguments) : settings_(settings), arguments_(arguments) {}

  Result<ExitCode> run() {
    if (arguments_.by_target && !arguments_.records.empty()) {
      return make_error(ErrorCode::kUsage,
                        "--records keeps schedules that were applied here, and --by-target has the target apply them");
    }
    REWRIGHT_TRY(const Registry registry, settings_.registry());
    REWRIGHT_TRY(kernel_, read_kernel(arguments_.kernel, registry));
    REWRIGHT_TRY(const Target* target, registry.get<Target>(arguments_.task.target));
    REWRIGHT_TRY(version_, target->version());
    if (!arguments_.records.empty()) {
      REWRIGHT_TRY(ScheduleRecords records, ScheduleRecords::open(arguments_.records));
      records_.emplace(std::move(records));
    }
    candidates_.push_back({"(unscheduled)", {}, kernel_.program, std::nullopt});
    for (const std::string& argument : arguments_.schedules) {
      REWRIGHT_TRY(candidates_.emplace_back(),
                   read_candidate(argument, arguments_.with, kernel_.program, arguments_.by_target));
    }
    REWRIGHT_TRY(machine_, tune::measured_machine());
    REWRIGHT_TRY(const std::string plugin, tune::Measurer::plugin_of(registry, arguments_.task.target));
    const Status status = measure(plugin);
    if (!status && !interrupted()) return status.error();
    report();
    if (interrupted()) {
      note(records_ ? "stopped; records of what was measured until then are kept" : "stopped", settings_.quiet);
      return ExitCode::kStopped;
    }
    const auto is_ok = [](const Candidate& candidate) { return candidate.measurement->is_ok(); };
    return std::ranges::all_of(candidates_, is_ok) ? ExitCode::kDone : ExitCode::kNegative;
  }

 private:
  Status measure(const std::string& plugin) {
    tune::MeasureTask task = arguments_.task;
    task.policy = arguments_.policy == "cold" ? tune::CachePolicy::kCold : tune::CachePolicy::kHot;
    ProgressLine line(settings_.quiet);
    std::uint64_t done = 0;
    const auto stop = [&] {
      line.show("measure", done, "schedules", static_cast<double>(done) / static_cast<double>(candidates_.size()));
      return interrupted();
    };
    REWRIGHT_TRY(const auto measurer,
                 tune::Measurer::start({task, plugin, kernel_.program, machine_.peak_gflops, stop}));
    std::vector<loop::Program> programs;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].measurement) {
        REWRIGHT_CHECK(keep(candidates_[i]));
        continue;
      }
      programs.push_back(candidates_[i].program);
      places.push_back(i);
    }
    const auto heard = [&](std::size_t i, const tune::Measurement& measured) {
      ++done;
      candidates_[places[i]].measurement = measured;
      return keep(candidates_[places[i]]);
    };
    if (!arguments_.by_target) {
      REWRIGHT_CHECK(measurer->measure(programs, heard));
      return time_again(*measurer);
    }
    REWRIGHT_CHECK(measurer->measure({programs.data(), 1}, heard));
    std::vector<schedule::Schedule> schedules;
    for (std::size_t i = 1; i < candidates_.size(); ++i) schedules.push_back(candidates_[i].schedule);
    return measurer->measure_by_target(
        schedules, [&](std::size_t i, const tune::Measurement& measured) { return heard(i + 1, measured); });
  }
  Status keep(const Candidate& candidate) {
    if (!records_) return {};
    REWRIGHT_CHECK(records_->add(record_of(candidate, kernel_, arguments_, machine_, version_)));
    return {};
  }
  /// The best, once more at the end.
  Status time_again(tune::Measurer& measurer) {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.measurement || !candidate.measurement->is_ok()) continue;
      if (best == nullptr || candidate.measurement->least_us() < best->measurement->least_us()) best = &candidate;
    }
    if (best == nullptr || candidates_.size() < 2) return {};
    REWRIGHT_CHECK(measurer.measure({&best->program, 1}, [&](std::size_t, const tune::Measurement& again) -> Status {
      if (again.is_ok()) drift_ = again.least_us() / best->measurement->least_us();
      return {};
    }));
    reference_drift_ = measurer.drift();
    return {};
  }

  void report() const {
    settings_.json ? report_json() : report_table();
    constexpr double kMuch = 1.05;
    if (drift_ > kMuch || drift_ < 1 / kMuch || reference_drift_ > kMuch) {
      note(
          fmt::format("the machine did not run evenly: the best took {:.2f} times as long at the end, a fixed piece of "
                      "arithmetic {:.2f} times; measure again while nothing else runs",
                      drift_, reference_drift_),
          settings_.quiet);
    }
  }
  [[nodiscard]] ScheduleRecord times(const Candidate& candidate) const {
    ScheduleRecord record;
    record.batches_us = candidate.measurement->batches_us;
    return record;
  }
  void report_json() const {
    const double operations = tune::work_of(kernel_.program).operations;
    Json rows = Json::array();
    for (const Candidate& candidate : candidates_) {
      if (!candidate.measurement) continue;
      Json row = {{"schedule", to_string(candidate.schedule)},
                  {"name", candidate.name},
                  {"outcome", candidate.measurement->outcome},
                  {"text", candidate.measurement->text}};
      if (candidate.measurement->is_ok()) {
        const ScheduleRecord record = times(candidate);
        const double gflops = operations / record.least_us() * 1e-3;
        row["least_us"] = record.least_us();
        row["quartiles_us"] = {record.quantile_us(0.25), record.quantile_us(0.5), record.quantile_us(0.75)};
        row["gflops"] = gflops;
        row["share_of_peak"] = gflops / machine_.peak_gflops;
        row["batches_us"] = record.batches_us;
      }
      rows.push_back(std::move(row));
    }
    print_json({{"key", kernel_.key},
                {"machine", machine_.fingerprint},
                {"policy", arguments_.policy},
                {"stopped_early", interrupted()},
                {"drift", drift_},
                {"reference_drift", reference_drift_},
                {"measured", std::move(rows)}});
  }
  void report_table() const {
    const double operations = tune::work_of(kernel_.program).operations;
    Table table({"schedule", "us, least", "q1", "median", "q3", "GFLOP/s", "of peak", "outcome"});
    table.align_right({1, 2, 3, 4, 5, 6});
    for (const Candidate& candidate : candidates_) {
      if (!candidate.measurement) continue;
      const tune::Measurement& measured = *candidate.measurement;
      const std::string outcome =
          measured.text.empty() ? measured.outcome : fmt::format("{}: {}", measured.outcome, measured.text);
      if (!measured.is_ok()) {
        table.add({candidate.name, "", "", "", "", "", "", outcome});
        continue;
      }
      const ScheduleRecord record = times(candidate);
      const double gflops = operations / record.least_us() * 1e-3;
      const auto us = [](double value) { return fmt::format("{:.2f}", value); };
      table.add({candidate.name, us(record.least_us()), us(record.quantile_us(0.25)), us(record.quantile_us(0.5)),
                 us(record.quantile_us(0.75)), fmt::format("{:.1f}", gflops),
                 fmt::format("{:.0f} %", 100 * gflops / machine_.peak_gflops), outcome});
    }
    print(table.to_string());
  }

  const Settings& settings_;
  const MeasureArguments& arguments_;
  tune::KernelTask kernel_;
  tune::Machine machine_;
  std::string version_;
  std::vector<Candidate> candidates_;
  std::optional<ScheduleRecords> records_;
  double drift_ = 1, reference_drift_ = 1;
};

Result<ExitCode> measure_schedules(const Settings& settings, const MeasureArguments& arguments) {
  heed_interrupts();
  const StopInTime stop_in_time([&] {
    compile::end_child_processes();
    if (settings.json) print_json({{"stopped_early", true}, {"measured", Json::array()}});
    note("stopped; records of what was measured until then are kept", settings.quiet);
  });
  return Session(settings, arguments).run();
}

void add_program(Program& program, const Command& group) {
  auto kernel = std::make_shared<std::string>();
  const Command command =
      program.command(group, "program", "Prints the loop program of a kernel, to which schedules are applied",
                      {"rewright schedule program '(x:512x512, w:512x512) relu(matmul(x, w))'"},
                      [kernel](const Settings& settings) { return print_program(settings, *kernel); });
  command.add_option("KERNEL", *kernel, "Inputs with their sizes, and what is computed of them").required();
}

void add_suggest(Program& program, const Command& group) {
  auto kernel = std::make_shared<std::string>();
  auto dialect = std::make_shared<std::string>("vectors");
  const Command command = program.command(
      group, "suggest", "Prints a schedule for a kernel, found without a search",
      {"rewright schedule suggest '(x:512x512, w:512x512 weight) relu(matmul(x, w))' > product.schedule"},
      [kernel, dialect](const Settings& settings) { return suggest(settings, *kernel, *dialect); });
  command.add_option("KERNEL", *kernel, "Inputs with their sizes, and what is computed of them").required();
  command.add_option("--dialect", *dialect, "Of target c: vectors, vectors-avx512, vectors-avx2, vectors-portable")
      .show_default();
}

void add_measure(Program& program, const Command& group) {
  auto arguments = std::make_shared<MeasureArguments>();
  const Command command = program.command(
      group, "measure", "Times schedules of a kernel, each checked against the unscheduled program",
      {"rewright schedule measure '(x:512x512, w:512x512) matmul(x, w)' tiled.schedule --records my.store",
       "rewright schedule measure '(x:64x64, w:64x64) matmul(x, w)' product.schedule --with ti=4 --dialect vectors",
       "rewright schedule measure '(x:64x64) relu(x)' 'unroll y.j' 'split y.j 16' --policy cold --json",
       "rewright schedule measure '(x:64x64) relu(x)' 'vectorise y.j' --target halide --by-target"},
      [arguments](const Settings& settings) { return measure_schedules(settings, *arguments); });
  command.add_option("KERNEL", arguments->kernel, "Inputs with their sizes, and what is computed of them").required();
  command.add_option("SCHEDULE", arguments->schedules, "Files, or schedules as text; none: the unscheduled program")
      .expected(0, -1);
  command.add_option("--with", arguments->with, "What a knob of the schedules is: NAME=CHOICE").repeatable();
  command.add_option("--records", arguments->records, "A store to which what was measured is added").type_name("STORE");
  command.add_option("--target", arguments->task.target, "What compiles").show_default();
  command.add_option("--dialect", arguments->task.dialect,
                     "Which kind of code of the target's (default: the plainest)");
  command.add_flag("--by-target", arguments->by_target,
                   "The target applies the schedules by transforms of its own, as halide does");
  command.add_option("--policy", arguments->policy, "Caches before a run: hot or cold")
      .check(one_of({"hot", "cold"}))
      .show_default();
  command.add_option("--batches", arguments->task.batches, "How many times each is timed")
      .check(in_range(3, 10'000))
      .show_default();
  command.add_option("--seed", arguments->task.seed, "Of the inputs' values").show_default();
  command.add_option("--seconds", arguments->task.run_seconds, "After which a candidate hangs")
      .check(positive())
      .show_default();
}

}  // namespace

void add_schedule_measuring(Program& program) {
  const Command group = program.group("schedule", "Schedules: how a loop program is to run");
  add_program(program, group);
  add_suggest(program, group);
  add_measure(program, group);
}

}  // namespace rewright::cli
