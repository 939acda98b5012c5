// rewright tune model MODEL.onnx
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "compile/child_processes.h"
#include "compile/network_tasks.h"
#include "optimize/model_run.h"
#include "report/tuning.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "tune/network_tuning.h"

namespace rewright::cli {
namespace {

struct ModelArguments {
  TuneArguments tune;
  std::string scheduler = "gradient";
  std::string runtime = "onnxruntime";
  std::string report;           ///< A page.
  std::int64_t per_kernel = 0;  ///< Trials for each that can be tuned, in place of those of all; 0: not so.
  bool is_silent = false;       ///< Nothing is said of what came of it.
};

Result<std::vector<tune::TuningTask>> read_tasks(const ModelArguments& arguments, const Registry& registry,
                                                 const schedule::VectorUnit& unit) {
  const std::string& file = arguments.tune.what;
  const std::string parent = std::filesystem::path(file).parent_path().string();
  ModelSource source;
  source.file = "'" + file + "'";
  source.directory = parent.empty() ? "." : parent;
  source.freeze = true;
  REWRIGHT_TRY(source.sizes, read_dims(arguments.tune.sizes));
  REWRIGHT_TRY(source.bytes, read_file(file));
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(arguments.runtime));
  REWRIGHT_TRY(OpenedModel opened, open_model(source, registry, runtime));
  simplify(opened);
  const ImportedModel& model = opened.start();
  REWRIGHT_TRY(const compile::Kernels kernels,
               compile::kernels_of(model.graph, model.carried, model.external, &registry));
  if (kernels.calls.empty()) {
    return make_error(ErrorCode::kUnsupported, "{} has nothing to tune: {}", source.file,
                      kernels.not_compiled.empty()
                          ? "no node of it computes anything"
                          : fmt::format("{}: {}", kernels.not_compiled[0].node, kernels.not_compiled[0].reason));
  }
  if (!kernels.not_compiled.empty()) {
    return make_error(ErrorCode::kUnsupported, "{}: {} cannot be compiled, so that there are no kernels to tune: {}",
                      source.file, kernels.not_compiled[0].node, kernels.not_compiled[0].reason);
  }
  return compile::tasks_of(model.graph, kernels, unit);
}

class ModelSession {
 public:
  ModelSession(const Settings& settings, const ModelArguments& arguments)
      : settings_(settings), arguments_(arguments), trials_(arguments.tune.trials) {}

  Result<ExitCode> run() {
    begin_ = seconds_now();
    REWRIGHT_TRY(const Registry registry, settings_.registry());
    REWRIGHT_TRY(setting_, tuning_setting(arguments_.tune, registry));
    REWRIGHT_TRY(std::vector<tune::TuningTask> tasks, read_tasks(arguments_, registry, setting_.sketches.unit));
    REWRIGHT_TRY(OpenedRecords opened, open_records(arguments_.tune.records));
    if (opened.records) setting_.records = &*opened.records;
    setting_.stop = [this] {
      show();
      return interrupted() || is_late();
    };
    tune::TaskScheduling scheduling;
    scheduling.in_turn = arguments_.scheduler == "in-turn";
    REWRIGHT_TRY(network_, tune::NetworkTuning::start(std::move(tasks), setting_, scheduling, opened.known));
    if (arguments_.per_kernel > 0) {
      const auto can_be = [](const auto& task) { return task->space().size() > 1; };
      trials_ = arguments_.per_kernel * std::ranges::count_if(network_->tasks(), can_be);
    }
    const Status status = tune();
    network_->close();
    line_.clear();
    if (!status && !interrupted() && !is_late()) return status.error();
    if (arguments_.is_silent) return interrupted() ? ExitCode::kStopped : ExitCode::kDone;
    settings_.json ? report_json() : report();
    if (!arguments_.report.empty()) REWRIGHT_CHECK(write_file(arguments_.report, tuning_html(page())));
    if (interrupted()) {
      note(opened.records ? "stopped; the same command goes on where this one ended" : "stopped", settings_.quiet);
      return ExitCode::kStopped;
    }
    return ExitCode::kDone;
  }

 private:
  [[nodiscard]] bool is_late() const {
    return arguments_.tune.seconds > 0 && seconds_now() - begin_ > arguments_.tune.seconds;
  }
  void show() {
    if (!network_) return;
    const auto done = static_cast<std::uint64_t>(network_->trials());
    const double best = network_->best_us();
    if (!std::isfinite(best)) return line_.show("measure what is there", done_tasks_, "kernels");
    line_.show("tune", done, fmt::format("trials, best {:.0f} us", best),
               static_cast<double>(done) / static_cast<double>(trials_));
  }
  Status tune() {
    REWRIGHT_CHECK(network_->measure_baselines([&](std::size_t i) {
      done_tasks_ = i;
      return !interrupted();
    }));
    while (network_->trials() < trials_ && !is_late() && !interrupted()) {
      REWRIGHT_TRY(const bool is_open, network_->round(trials_ - network_->trials()));
      if (!is_open) break;
    }
    return interrupted() ? Status() : network_->time_again();
  }

  /// Those that take most in front.
  [[nodiscard]] std::vector<const tune::TaskTuning*> by_time() const {
    std::vector<const tune::TaskTuning*> tasks;
    for (const auto& task : network_->tasks()) tasks.push_back(task.get());
    std::ranges::stable_sort(tasks, std::greater(), [](const tune::TaskTuning* task) {
      return std::isfinite(task->best_us()) ? task->task().count * task->best_us() : 0;
    });
    return tasks;
  }
  void report() const {
    Table table({"kernel", "times", "us without a search", "us best", "gain", "trials"});
    table.align_right({1, 2, 3, 4, 5});
    for (const tune::TaskTuning* task : by_time()) {
      if (!std::isfinite(task->best_us())) continue;
      table.add({task->task().name, fmt::format("{:.0f}", task->task().count),
                 fmt::format("{:.2f}", task->one_shot_us()), fmt::format("{:.2f}", task->best_us()),
                 fmt::format("{:.2f}", task->one_shot_us() / task->best_us()), fmt::format("{}", task->trials())});
    }
    print(table.to_string());
    print_line(fmt::format(
        "{}: {:.0f} us of kernels without a search, {:.0f} us with the best schedules, {:.2f} times as fast. {}: {}. "
        "{}.",
        counted(network_->tasks().size(), "different kernel"), network_->one_shot_us(), network_->best_us(),
        network_->one_shot_us() / network_->best_us(), counted(static_cast<std::uint64_t>(network_->trials()), "trial"),
        outcome_text(network_->outcomes()), times_text(network_->times())));
    if (!arguments_.tune.records.empty())
      print_line(fmt::format("rewright compile MODEL -o DIR --records {} makes use of them.", arguments_.tune.records));
  }
  [[nodiscard]] TuningReport page() const {
    TuningReport page{
        .title = "Schedules of " + std::filesystem::path(arguments_.tune.what).filename().string(),
        .machine = setting_.machine.processor,
        .one_shot_us = network_->one_shot_us(),
        .best_us = network_->best_us(),
        .outcomes = fmt::format("{}: {}", counted(static_cast<std::uint64_t>(network_->trials()), "trial"),
                                outcome_text(network_->outcomes())),
        .times = times_text(network_->times())};
    for (const tune::NetworkPoint& point : network_->curve())
      page.curve.emplace_back(static_cast<double>(point.trials), point.objective_us);
    for (const tune::TaskTuning* task : by_time()) {
      TunedKernel& kernel = page.kernels.emplace_back();
      kernel.name = task->task().name;
      kernel.count = task->task().count;
      kernel.unscheduled_us = task->unscheduled_us();
      kernel.one_shot_us = task->one_shot_us();
      kernel.best_us = task->best_us();
      kernel.trials = task->trials();
      for (const tune::TuningPoint& point : task->curve())
        kernel.curve.emplace_back(static_cast<double>(point.trials), point.best_us);
      kernel.schedule = task->best().schedule;
      kernel.loops_before = schedule::loop_drawing(task->task().program);
      if (const auto steps = schedule::parse_schedule(kernel.schedule)) {
        if (const auto made = schedule::apply(task->task().program, *steps))
          kernel.loops_after = schedule::loop_drawing(made->program);
      }
    }
    return page;
  }
  void report_json() const {
    const auto number = [](double us) { return std::isfinite(us) ? Json(us) : Json(); };
    Json outcomes = {{"ok", 0}, {"wrong", 0}, {"crashed", 0}, {"timeout", 0}, {"refused", 0}};
    for (const auto& [outcome, count] : network_->outcomes()) outcomes[outcome] = count;
    Json rows = Json::array(), curve = Json::array();
    for (const tune::TaskTuning* task : by_time())
      rows.push_back({{"kernel", task->task().name},
                      {"count", task->task().count},
                      {"unscheduled_us", number(task->unscheduled_us())},
                      {"one_shot_us", number(task->one_shot_us())},
                      {"best_us", number(task->best_us())},
                      {"trials", task->trials()},
                      {"schedule", task->best().schedule},
                      {"program", to_string(task->task().program)}});
    for (const tune::NetworkPoint& point : network_->curve())
      curve.push_back({{"trials", point.trials}, {"seconds", point.seconds}, {"best_us", number(point.objective_us)}});
    print_json({{"tasks", network_->tasks().size()},
                {"trials", network_->trials()},
                {"seconds", seconds_now() - begin_},
                {"best_us", number(network_->best_us())},
                {"baseline_us", number(network_->one_shot_us())},
                {"outcomes", std::move(outcomes)},
                {"times", times_json(network_->times())},
                {"stopped_early", interrupted()},
                {"kernels", std::move(rows)},
                {"curve", std::move(curve)}});
  }

  const Settings& settings_;
  const ModelArguments& arguments_;
  tune::TuningSetting setting_;
  std::unique_ptr<tune::NetworkTuning> network_;
  ProgressLine line_{settings_.quiet};
  std::size_t done_tasks_ = 0;
  std::int64_t trials_;
  double begin_ = 0;
};

Result<ExitCode> tune_model(const Settings& settings, const ModelArguments& arguments) {
  heed_interrupts();
  const StopInTime stop_in_time([&] {
    compile::end_child_processes();
    if (settings.json) print_json({{"stopped_early", true}});
    note("stopped; records of what was measured until then are kept", settings.quiet);
  });
  return ModelSession(settings, arguments).run();
}

}  // namespace

Status tune_before(const Settings& settings, const TuneArguments& tune, std::int64_t trials_per_kernel) {
  ModelArguments arguments;
  arguments.tune = tune;
  arguments.per_kernel = trials_per_kernel;
  arguments.is_silent = true;
  REWRIGHT_CHECK(ModelSession(settings, arguments).run());
  return {};
}

void add_tune_model(Program& program) {
  const Command group = program.group("tune", "Searches for schedules");
  auto arguments = std::make_shared<ModelArguments>();
  arguments->tune.trials = 500;
  const Command command = program.command(
      group, "model", "Searches for the fastest schedules of all kernels of a model",
      {"rewright tune model net.onnx --trials 500 --records my.store",
       "rewright tune model net.onnx --dim batch=1 --seconds 600 --records my.store --report tuned.html"},
      [arguments](const Settings& settings) { return tune_model(settings, *arguments); });
  command.add_option("MODEL", arguments->tune.what, "The ONNX model").required();
  command.add_option("--dim", arguments->tune.sizes, "NAME=SIZE: a size that the model leaves open").repeatable();
  command
      .add_option("--scheduler", arguments->scheduler,
                  "What is tuned next: the kernel that promises most (gradient), or all in turn (in-turn)")
      .check(one_of({"gradient", "in-turn"}))
      .show_default();
  command.add_option("--report", arguments->report, "A page with curves, kernels and schedules").type_name("FILE");
  add_code_options(command, arguments->tune);
  add_search_options(command, arguments->tune);
}

}  // namespace rewright::cli
