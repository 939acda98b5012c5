// rewright tune model MODEL.onnx
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/optimize_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tune_arguments.h"
#include "cli/tuned_kernel.h"
#include "compile/child_processes.h"
#include "compile/network_tasks.h"
#include "report/tuning.h"
#include "tune/network_tuning.h"

namespace rewright::cli {
namespace {

struct ModelArguments {
  std::vector<std::string> models;
  TuneArguments tune;
  std::string scheduler = "gradient";
  std::string objective = "sum";
  std::vector<double> targets_us;  ///< One for each model.
  std::string runtime = "onnxruntime";
  bool pooled = false;          ///< Schedules of all models of --transfer.
  std::int64_t per_kernel = 0;  ///< Trials for each that can be tuned, in place of those of all; 0: not so.
  bool is_silent = false;       ///< Nothing is said of what came of it.
};

/// The kernels of models, equal ones once.
struct Networks {
  std::vector<tune::TuningTask> tasks;
  std::vector<std::vector<double>> counts = {};  ///< By model, then by task.
};

Result<Networks> read_networks(const ModelArguments& arguments, const Registry& registry,
                               const schedule::VectorUnit& unit) {
  Networks networks;
  REWRIGHT_TRY(const auto sizes, read_dims(arguments.tune.sizes));
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>(arguments.runtime));
  for (const std::string& file : arguments.models) {
    REWRIGHT_TRY(std::vector<tune::TuningTask> tasks, compile::model_tasks(file, sizes, *runtime, registry, unit));
    auto& counts = networks.counts.emplace_back(networks.tasks.size(), 0);
    for (tune::TuningTask& task : tasks) {
      const auto same = std::ranges::find_if(networks.tasks, [&](const tune::TuningTask& known) {
        return known.structure == task.structure && known.sizes == task.sizes;
      });
      counts.resize(networks.tasks.size(), 0);
      if (same != networks.tasks.end()) {
        counts[static_cast<std::size_t>(same - networks.tasks.begin())] += task.count;
        same->count += task.count;
      } else {
        counts.push_back(task.count);
        networks.tasks.push_back(std::move(task));
      }
    }
  }
  for (auto& counts : networks.counts) counts.resize(networks.tasks.size(), 0);
  return networks;
}

Result<tune::Objective> objective_of(const ModelArguments& arguments, const Networks& networks) {
  if (arguments.objective == "worst") return tune::worst_objective(networks.counts);
  if (arguments.objective == "targets") {
    if (arguments.targets_us.size() != networks.counts.size()) {
      return make_error(ErrorCode::kUsage, "--objective targets needs a --target-us for each of {}; there are {}",
                        counted(networks.counts.size(), "model"), arguments.targets_us.size());
    }
    return tune::target_objective(networks.counts, arguments.targets_us);
  }
  std::vector<double> counts;
  for (const tune::TuningTask& task : networks.tasks) counts.push_back(task.count);
  return tune::sum_objective(std::move(counts));
}

class ModelSession {
 public:
  ModelSession(const Settings& settings, const ModelArguments& arguments)
      : settings_(settings), arguments_(arguments), trials_(arguments.tune.trials) {}

  Result<ExitCode> run() {
    begin_ = seconds_now();
    if (!arguments_.is_silent) {
      REWRIGHT_TRY(const auto worked, work_of_rank(settings_, arguments_.tune));
      if (worked) return *worked;
    }
    REWRIGHT_TRY(const Registry registry, settings_.registry());
    REWRIGHT_TRY(setting_, tuning_setting(arguments_.tune, registry));
    setting_.around |= !arguments_.tune.transfer.empty();
    REWRIGHT_TRY(Networks networks, read_networks(arguments_, registry, setting_.sketches.unit));
    REWRIGHT_TRY(tune::Objective objective, objective_of(arguments_, networks));
    counts_ = std::move(networks.counts);
    REWRIGHT_TRY(OpenedRecords opened, open_records(arguments_.tune.records));
    if (opened.records) setting_.records = &*opened.records;
    REWRIGHT_TRY(const auto shared, shared_measuring(arguments_.tune));
    setting_.shared = shared.get();
    setting_.programs = &opened.programs;
    setting_.stop = [this] {
      show();
      return interrupted() || is_late();
    };
    tune::TaskScheduling scheduling;
    scheduling.in_turn = arguments_.scheduler == "in-turn";
    REWRIGHT_TRY(network_, tune::NetworkTuning::start(std::move(networks.tasks), std::move(objective), setting_,
                                                      scheduling, opened.known));
    say_notes();
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
    if (!arguments_.tune.report.empty()) REWRIGHT_CHECK(write_file(arguments_.tune.report, tuning_html(page())));
    if (interrupted()) {
      note(opened.records ? "stopped; the same command goes on where this one ended" : "stopped", settings_.quiet);
      return ExitCode::kStopped;
    }
    return ExitCode::kDone;
  }

 private:
  /// Of the generators, each once.
  void say_notes() const {
    std::set<std::string> notes;
    for (const auto& task : network_->tasks()) notes.insert(task->notes().begin(), task->notes().end());
    for (const std::string& sentence : notes) note(sentence, settings_.quiet);
  }
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
    REWRIGHT_CHECK(transfer());
    while (network_->trials() < trials_ && network_->best_us() > 0 && !is_late() && !interrupted()) {
      REWRIGHT_TRY(const bool is_open, network_->round(trials_ - network_->trials()));
      if (!is_open) break;
    }
    return interrupted() ? Status() : network_->time_again();
  }

  /// From what other models were tuned to.
  Status transfer() {
    if (arguments_.tune.transfer.empty() || interrupted() || is_late()) return {};
    const double begin = seconds_now();
    tune::NetworkTuning::Donors donors{.models = {},
                                       .pooled = arguments_.pooled,
                                       .division = arguments_.tune.division(),
                                       .most = arguments_.tune.transfers};
    for (const std::string& store : arguments_.tune.transfer) {
      REWRIGHT_TRY(std::vector<tune::DonorKernel> kernels, read_donors(store, setting_));
      donors.models.emplace_back(store, std::move(kernels));
    }
    auto scores = network_->measure_transfers(donors, [&](std::size_t i) {
      done_tasks_ = i;
      return !interrupted() && !is_late();
    });
    transfer_s_ = seconds_now() - begin;
    if (!scores) return scores.error();
    scores_ = *std::move(scores);
    if (scores_.empty())
      note(fmt::format("no kernel of {} is of the class of one of the model's, so that no schedule comes over: the "
                       "search begins without them",
                       fmt::join(arguments_.tune.transfer, ", ")),
           settings_.quiet);
    return {};
  }
  [[nodiscard]] Json transfer_json() const {
    Json models = Json::array();
    for (const auto& [score, name] : scores_) models.push_back({{"store", name}, {"score", score}});
    const tune::Transfers transfers = network_->transfers();
    return {{"models", std::move(models)},
            {"measured", transfers.measured},
            {"invalid", transfers.invalid},
            {"seconds", transfer_s_},
            {"best_us", std::isfinite(transfers.best_us) ? Json(transfers.best_us) : Json()}};
  }
  void report_transfer() const {
    Table table({"schedules from", "score", ""});
    table.align_right({1});
    for (std::size_t m = 0; m < scores_.size(); ++m)
      table.add(
          {scores_[m].second, fmt::format("{:.4f}", scores_[m].first), arguments_.pooled || m == 0 ? "taken" : ""});
    print(table.to_string());
    print_line(came_over() + ".");
  }
  [[nodiscard]] std::string came_over() const {
    const tune::Transfers transfers = network_->transfers();
    return fmt::format("{} came over in {:.0f} s, {} did not fit: {:.0f} us of kernels",
                       counted(static_cast<std::uint64_t>(transfers.measured), "schedule"), transfer_s_,
                       transfers.invalid, transfers.best_us);
  }
  /// For the page: from which models schedules were taken, the best first.
  [[nodiscard]] std::string transfer_text() const {
    if (scores_.empty()) return "";
    std::vector<std::string> models;
    for (const auto& [score, name] : scores_) models.push_back(fmt::format("{} ({:.3f})", name, score));
    return fmt::format(". Schedules of {}, by score {}: {}",
                       arguments_.pooled ? "all" : std::filesystem::path(scores_.front().second).filename().string(),
                       fmt::join(models, ", "), came_over());
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
  /// Of the kernels of a model.
  [[nodiscard]] double us_of(std::size_t model, double (tune::TaskTuning::*us)() const) const {
    double sum = 0;
    for (std::size_t i = 0; i < counts_[model].size(); ++i) {
      if (counts_[model][i] > 0) sum += counts_[model][i] * (*network_->tasks()[i].*us)();
    }
    return sum;
  }
  void report_models() const {
    Table table({"model", "us without a search", "us best", "gain"});
    table.align_right({1, 2, 3});
    for (std::size_t m = 0; m < counts_.size(); ++m) {
      const double before = us_of(m, &tune::TaskTuning::one_shot_us), best = us_of(m, &tune::TaskTuning::best_us);
      table.add({arguments_.models[m], fmt::format("{:.0f}", before), fmt::format("{:.0f}", best),
                 fmt::format("{:.2f}", before / best)});
    }
    print(table.to_string());
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
    if (counts_.size() > 1) report_models();
    if (!scores_.empty()) report_transfer();
    const bool has_targets = arguments_.objective == "targets";
    const std::string gain =
        has_targets ? "" : fmt::format(", {:.2f} times as fast", network_->one_shot_us() / network_->best_us());
    print_line(fmt::format("{}: {:.0f} us {} without a search, {:.0f} us with the best schedules{}. {}: {}. {}{}.",
                           counted(network_->tasks().size(), "different kernel"), network_->one_shot_us(),
                           has_targets ? "beyond the targets" : "of kernels", network_->best_us(), gain,
                           counted(static_cast<std::uint64_t>(network_->trials()), "trial"),
                           outcome_text(network_->outcomes()), ordered_text(network_->ordered()),
                           times_text(network_->times())));
    if (!arguments_.tune.records.empty())
      print_line(fmt::format("rewright compile MODEL -o DIR --records {} makes use of them.", arguments_.tune.records));
  }
  [[nodiscard]] std::string names_text() const {
    std::string names;
    for (const std::string& model : arguments_.models)
      names += (names.empty() ? "" : ", ") + std::filesystem::path(model).filename().string();
    return names;
  }
  [[nodiscard]] TuningReport page() const {
    TuningReport page{.title = "Schedules of " + names_text(),
                      .machine = setting_.machine,
                      .one_shot_us = network_->one_shot_us(),
                      .best_us = network_->best_us(),
                      .outcomes = fmt::format("{}; {}, each kernel's first schedules included",
                                              counted(static_cast<std::uint64_t>(network_->trials()), "trial"),
                                              outcome_text(network_->outcomes())) +
                                  transfer_text(),
                      .times = times_text(network_->times())};
    for (const tune::NetworkPoint& point : network_->curve())
      page.curve.emplace_back(static_cast<double>(point.trials), point.objective_us);
    for (const tune::TaskTuning* task : by_time()) page.kernels.push_back(tuned_kernel(*task));
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
                      {"ordered", ordered_json(task->ordered())},
                      {"schedule", task->best().schedule},
                      {"program", to_string(task->task().program)}});
    Json models = Json::array();
    for (std::size_t m = 0; m < counts_.size(); ++m)
      models.push_back({{"model", arguments_.models[m]},
                        {"one_shot_us", number(us_of(m, &tune::TaskTuning::one_shot_us))},
                        {"best_us", number(us_of(m, &tune::TaskTuning::best_us))}});
    for (const tune::NetworkPoint& point : network_->curve())
      curve.push_back({{"trials", point.trials}, {"seconds", point.seconds}, {"best_us", number(point.objective_us)}});
    print_json({{"tasks", network_->tasks().size()},
                {"trials", network_->trials()},
                {"seconds", seconds_now() - begin_},
                {"best_us", number(network_->best_us())},
                {"baseline_us", number(network_->one_shot_us())},
                {"outcomes", std::move(outcomes)},
                {"times", times_json(network_->times())},
                {"ordered", ordered_json(network_->ordered())},
                {"stopped_early", interrupted()},
                {"models", std::move(models)},
                {"transfer", arguments_.tune.transfer.empty() ? Json() : transfer_json()},
                {"kernels", std::move(rows)},
                {"curve", std::move(curve)}});
  }

  const Settings& settings_;
  const ModelArguments& arguments_;
  tune::TuningSetting setting_;
  std::vector<std::vector<double>> counts_;  ///< By model, then by task.
  std::unique_ptr<tune::NetworkTuning> network_;
  ProgressLine line_{settings_.quiet};
  std::size_t done_tasks_ = 0;
  std::int64_t trials_;
  double begin_ = 0, transfer_s_ = 0;
  tune::NetworkTuning::Scores scores_;
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
  arguments.models = {tune.what};
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
       "rewright tune model net.onnx --dim batch=1 --seconds 600 --records my.store --report tuned.html",
       "rewright tune model one.onnx two.onnx --objective worst --records my.store",
       "rewright tune model net.onnx --transfer resnet.store --transfer bert.store --trials 0 --records my.store"},
      [arguments](const Settings& settings) { return tune_model(settings, *arguments); });
  command.add_option("MODEL", arguments->models, "ONNX models; kernels that they share are tuned once")
      .required()
      .expected(1, -1);
  command.add_option("--dim", arguments->tune.sizes, "NAME=SIZE: a size that the model leaves open").repeatable();
  command
      .add_option("--scheduler", arguments->scheduler,
                  "What is tuned next: the kernel that promises most (gradient), or all in turn (in-turn)")
      .check(one_of({"gradient", "in-turn"}))
      .show_default();
  command
      .add_option(
          "--objective", arguments->objective,
          "What is to be small: the time of all models (sum), of the slowest (worst), or what each takes beyond "
          "its target (targets)")
      .check(one_of({"sum", "worst", "targets"}))
      .show_default();
  command
      .add_option("--target-us", arguments->targets_us,
                  "Microseconds that a model may take, in the order of the models")
      .repeatable();
  const Argument transfer = add_transfer_options(
      command, arguments->tune,
      "Stores of records, one for each model that was tuned: before the search, schedules of kernels of the same "
      "classes are tried, of the one model that fits best");
  command.add_flag("--pooled", arguments->pooled, "With --transfer: schedules of all those models").needs(transfer);
  command.add_option("--report", arguments->tune.report, "A page with curves, kernels and schedules").type_name("FILE");
  add_code_options(command, arguments->tune);
  add_search_options(command, arguments->tune);
}

}  // namespace rewright::cli
