// rewright tune kernel KERNEL, rewright tune sketches KERNEL
#include <cmath>
#include <memory>
#include <optional>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "cli/tuned_kernel.h"
#include "compile/child_processes.h"
#include "tune/kernel_program.h"

namespace rewright::cli {
namespace {

// --- sketches -----------------------------------------------------------------------------------------------------

Result<ExitCode> print_sketches(const Settings& settings, const TuneArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const tune::TuningTask task, read_task(arguments, registry));
  REWRIGHT_TRY(const schedule::SketchOptions options, tune::sketch_options(arguments.choice));
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
    REWRIGHT_TRY(const auto worked, work_of_rank(settings_, arguments_));
    if (worked) return *worked;
    REWRIGHT_TRY(const Registry registry, settings_.registry());
    REWRIGHT_TRY(tune::TuningTask task, read_task(arguments_, registry));
    REWRIGHT_TRY(setting_, tuning_setting(arguments_, registry));
    setting_.around |= !arguments_.transfer.empty();
    REWRIGHT_TRY(OpenedRecords opened, open_records(arguments_.records));
    records_ = std::move(opened.records);
    setting_.programs = &opened.programs;
    if (records_) setting_.records = &*records_;
    REWRIGHT_TRY(shared_, shared_measuring(arguments_));
    setting_.shared = shared_.get();
    setting_.stop = [this] {
      show();
      return interrupted() || (is_late() && !is_over_);
    };
    REWRIGHT_TRY(tuning_, tune::TaskTuning::start(std::move(task), setting_, opened.known));
    if (setting_.only_given && setting_.given.empty() && tuning_->space().size() <= 1) {
      return make_error(ErrorCode::kUnsupported,
                        "there is nothing to search: no generator has a schedule for {}; leave --only-given out",
                        tuning_->task().name);
    }
    for (const std::string& sentence : tuning_->notes()) note(sentence, settings_.quiet);
    begin_ = seconds_now();
    const Status status = tune();
    if (!status && !interrupted()) return status.error();
    settings_.json ? report_json() : report();
    if (!arguments_.report.empty() && std::isfinite(tuning_->best_us()))
      REWRIGHT_CHECK(write_file(arguments_.report, tuning_html(page())));
    if (interrupted()) {
      note(records_ ? "stopped; the same command goes on where this one ended" : "stopped", settings_.quiet);
      return ExitCode::kStopped;
    }
    return std::isfinite(tuning_->best_us()) ? ExitCode::kDone : ExitCode::kNegative;
  }

 private:
  [[nodiscard]] bool is_late() const { return arguments_.seconds > 0 && seconds_now() - begin_ > arguments_.seconds; }
  void show() {
    const auto done = static_cast<std::uint64_t>(tuning_ ? tuning_->trials() : 0);
    line_.show("tune", done, fmt::format("trials, best {:.2f} us", tuning_ ? tuning_->best_us() : 0.0),
               static_cast<double>(done) / static_cast<double>(arguments_.trials));
  }
  Status tune() {
    Status status = transfer();
    if (status) status = tuning_->run(arguments_.trials);
    is_over_ = true;
    if ((status || is_late()) && !interrupted()) status = tuning_->time_again();
    tuning_->close();
    line_.clear();
    return status;
  }

  /// From what other kernels were tuned to.
  Status transfer() {
    std::vector<tune::DonorKernel> kernels;
    for (const std::string& store : arguments_.transfer) {
      REWRIGHT_TRY(const std::vector<tune::DonorKernel> more, read_donors(store, setting_));
      kernels.insert(kernels.end(), more.begin(), more.end());
    }
    const auto schedules = tune::donor_schedules(kernels, tuning_->task());
    if (schedules.empty() && !arguments_.transfer.empty()) {
      note(fmt::format("no kernel of {} is of this one's class, so that no schedule comes over: the search begins "
                       "without them",
                       fmt::join(arguments_.transfer, ", ")),
           settings_.quiet);
    }
    if (schedules.empty()) return {};
    return tuning_->measure_transfers(schedules, arguments_.division(), arguments_.transfers);
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
    if (!arguments_.transfer.empty()) add("came over", tuning_->transfers().best_us);
    add("best", tuning_->best_us());
    print(table.to_string());
    print_line(
        fmt::format("{} of {} points{}: {}. {}{}.", counted(static_cast<std::uint64_t>(tuning_->trials()), "trial"),
                    size_text(), tuning_->replayed() > 0 ? fmt::format(" ({} of records)", tuning_->replayed()) : "",
                    outcome_text(tuning_->outcomes()), ordered_text(tuning_->ordered()), times_text(tuning_->times())));
    for (const ScheduleRecord& failure : tuning_->failures())
      note(fmt::format("{}: {}; its schedule is in the records", failure.outcome, failure.text), settings_.quiet);
    print("\n" + tuning_->best_schedule());
  }
  [[nodiscard]] std::string size_text() const {
    return fmt::format("{:.3g}", static_cast<double>(tuning_->space().size()));
  }
  [[nodiscard]] TuningReport page() const {
    TuningReport page{.title = "Schedules of " + shown_name(tuning_->task().name),
                      .machine = setting_.machine,
                      .one_shot_us = tuning_->one_shot_us(),
                      .best_us = tuning_->best_us(),
                      .outcomes = fmt::format("{}; {}, first schedules included",
                                              counted(static_cast<std::uint64_t>(tuning_->trials()), "trial"),
                                              outcome_text(tuning_->outcomes())),
                      .times = times_text(tuning_->times())};
    page.kernels.push_back(tuned_kernel(*tuning_));
    page.curve = page.kernels.front().curve;
    return page;
  }
  void report_json() const {
    const auto number = [](double us) { return std::isfinite(us) ? Json(us) : Json(); };
    Json outcomes = {{"ok", 0}, {"wrong", 0}, {"crashed", 0}, {"timeout", 0}, {"refused", 0}};
    for (const auto& [outcome, count] : tuning_->outcomes()) outcomes[outcome] = count;
    Json curve = Json::array();
    for (const tune::TuningPoint& point : tuning_->curve())
      curve.push_back({{"trials", point.trials}, {"seconds", point.seconds}, {"best_us", number(point.best_us)}});
    Json found = Json::array();
    for (const double us : tuning_->trials_us()) found.push_back(number(us));
    const tune::Transfers& came = tuning_->transfers();
    Json transfer = {{"measured", came.measured}, {"invalid", came.invalid}, {"best_us", number(came.best_us)}};
    print_json({{"task", tuning_->task().name},
                {"tasks", 1},
                {"transfer", arguments_.transfer.empty() ? Json() : std::move(transfer)},
                {"trials", tuning_->trials()},
                {"replayed", tuning_->replayed()},
                {"seconds", seconds_now() - begin_},
                {"best_us", number(tuning_->best_us())},
                {"baseline_us", number(tuning_->unscheduled_us())},
                {"one_shot_us", number(tuning_->one_shot_us())},
                {"best_gflops", number(gflops(tuning_->best_us()))},
                {"peak_gflops", setting_.machine.peak_gflops},
                {"schedule", tuning_->best_schedule()},
                {"points", tuning_->space().size()},
                {"outcomes", std::move(outcomes)},
                {"times", times_json(tuning_->times())},
                {"ordered", ordered_json(tuning_->ordered())},
                {"trials_us", std::move(found)},
                {"exhausted", tuning_->is_exhausted()},
                {"stopped_early", interrupted()},
                {"curve", std::move(curve)}});
  }

  const Settings& settings_;
  const TuneArguments& arguments_;
  tune::TuningSetting setting_;
  std::optional<ScheduleRecords> records_;
  std::unique_ptr<tune::SharedMeasuring> shared_;
  std::unique_ptr<tune::TaskTuning> tuning_;
  ProgressLine line_{settings_.quiet};
  double begin_ = 0;
  bool is_over_ = false;  ///< No more trials; what was found may be timed again.
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
       "rewright tune kernel product.loop --size M=64 --size N=64 --size K=64 --report tuned.html",
       "rewright tune kernel '(x:64x64, w:64x64) matmul(x, w)' --sketch product.schedule --only-given --json"},
      [arguments](const Settings& settings) { return tune_kernel(settings, *arguments); });
  add_what(command, *arguments);
  add_transfer_options(
      command, *arguments,
      "Stores of records of other kernels: before the search, schedules of those of the same class are "
      "tried");
  command
      .add_option("--report", arguments->report,
                  "A page with the curve, the roofline and the best schedule, step by step")
      .type_name("FILE");
  add_search_options(command, *arguments);
}

}  // namespace

void add_tune(Program& program) {
  const Command group = program.group("tune", "Searches for schedules");
  add_kernel(program, group);
  add_sketches(program, group);
}

}  // namespace rewright::cli
