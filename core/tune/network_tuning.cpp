#include "tune/network_tuning.h"

#include <algorithm>
#include <cmath>

#include "tune/kernel_program.h"

namespace rewright::tune {

Result<std::unique_ptr<NetworkTuning>> NetworkTuning::start(std::vector<TuningTask> tasks, Objective objective,
                                                            const TuningSetting& setting,
                                                            const TaskScheduling& scheduling,
                                                            std::span<const ScheduleRecord> known) {
  std::unique_ptr<NetworkTuning> network(new NetworkTuning(scheduling));
  for (TuningTask& task : tasks) {
    REWRIGHT_TRY(auto tuning, TaskTuning::start(std::move(task), setting, known));
    ScheduledTask& scheduled = network->scheduled_.emplace_back();
    scheduled.kind = tuning->task().structure;
    const ProgramWork work = work_of(tuning->task().program);
    scheduled.operations = work.operations;
    scheduled.limit_us = limit_us(work.operations, static_cast<double>(work.bytes), setting.machine);
    scheduled.is_over = tuning->space().size() <= 1 && !setting.around;
    network->tasks_.push_back(std::move(tuning));
  }
  network->objective_ = std::move(objective);
  return network;
}

Status NetworkTuning::measure_baselines(const std::function<bool(std::size_t)>& goes_on) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (goes_on && !goes_on(i)) return make_error(ErrorCode::kBudget, "measuring was stopped");
    const Status measured = tasks_[i]->measure_baselines();
    tasks_[i]->close();
    REWRIGHT_CHECK(measured);
    scheduled_[i].best_us.assign(1, tasks_[i]->best_us());
    // What records hold counts as the rounds that it was.
    const auto rounds = static_cast<std::size_t>(tasks_[i]->replayed()) / tasks_[i]->batch();
    scheduled_[i].best_us.resize(1 + rounds, tasks_[i]->best_us());
  }
  note();
  return {};
}

Result<NetworkTuning::Scores> NetworkTuning::measure_transfers(const Donors& donors,
                                                               const std::function<bool(std::size_t)>& goes_on) {
  ClassShares shares;
  double all = 0;
  for (const auto& task : tasks_) {
    if (!std::isfinite(task->one_shot_us())) continue;
    const std::string kind = class_of(task->task().structure, schedule::sum_nests(task->task().program));
    shares[kind] += task->task().count * task->one_shot_us();
    all += task->task().count * task->one_shot_us();
  }
  for (auto& [kind, share] : shares) share /= all;
  std::vector<ClassKernels> models;
  for (const auto& [name, kernels] : donors.models) models.push_back(kernels_by_class(kernels));
  Scores scores;
  std::vector<DonorKernel> kernels;
  for (const std::size_t m : donors_in_order(shares, models)) {
    scores.emplace_back(donor_score(shares, models[m]), donors.models[m].first);
    if (donors.pooled || scores.size() == 1)
      kernels.insert(kernels.end(), donors.models[m].second.begin(), donors.models[m].second.end());
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (goes_on && !goes_on(i)) return make_error(ErrorCode::kBudget, "measuring was stopped");
    const auto schedules = donor_schedules(kernels, tasks_[i]->task());
    const Status measured = tasks_[i]->measure_transfers(schedules, donors.division, donors.most);
    tasks_[i]->close();
    REWRIGHT_CHECK(measured);
    scheduled_[i].best_us.back() = tasks_[i]->best_us();
  }
  note();
  return scores;
}

Result<bool> NetworkTuning::round(std::int64_t most_trials) {
  const auto next = next_task(scheduled_, objective_, scheduling_);
  if (!next) return false;
  if (*next != open_) tasks_[open_]->close();
  open_ = *next;
  TaskTuning& task = *tasks_[open_];
  const std::int64_t before = task.trials();
  REWRIGHT_CHECK(task.round(static_cast<std::size_t>(std::max<std::int64_t>(1, most_trials))));
  scheduled_[open_].best_us.push_back(task.best_us());
  scheduled_[open_].is_over = task.is_exhausted() || task.trials() == before;
  note();
  return true;
}

Status NetworkTuning::time_again() {
  close();
  for (const auto& task : tasks_) {
    const Status timed = task->time_again();
    task->close();
    REWRIGHT_CHECK(timed);
  }
  return {};
}

void NetworkTuning::close() {
  for (const auto& task : tasks_) task->close();
}

void NetworkTuning::note() {
  const TuningTimes spent = times();
  curve_.push_back({trials(), spent.total(), best_us()});
}

std::int64_t NetworkTuning::trials() const {
  std::int64_t all = 0;
  for (const auto& task : tasks_) all += task->trials();
  return all;
}

double NetworkTuning::one_shot_us() const {
  std::vector<double> us;
  for (const auto& task : tasks_) us.push_back(task->one_shot_us());
  return objective_(us);
}

double NetworkTuning::best_us() const {
  std::vector<double> us;
  for (const auto& task : tasks_) us.push_back(task->best_us());
  return objective_(us);
}

std::map<std::string, std::int64_t> NetworkTuning::outcomes() const {
  std::map<std::string, std::int64_t> all;
  for (const auto& task : tasks_) {
    for (const auto& [outcome, count] : task->outcomes()) all[outcome] += count;
  }
  return all;
}

TuningTimes NetworkTuning::times() const {
  TuningTimes all;
  for (const auto& task : tasks_) {
    all.generating += task->times().generating;
    all.proposing += task->times().proposing;
    all.compiling += task->times().compiling;
    all.measuring += task->times().measuring;
    all.learning += task->times().learning;
  }
  return all;
}

Transfers NetworkTuning::transfers() const {
  Transfers all;
  std::vector<double> us;
  for (const auto& task : tasks_) {
    all.measured += task->transfers().measured;
    all.invalid += task->transfers().invalid;
    us.push_back(std::min(task->one_shot_us(), task->transfers().best_us));
  }
  all.best_us = objective_(us);
  return all;
}

OrderedPairs NetworkTuning::ordered() const {
  OrderedPairs all;
  for (const auto& task : tasks_) {
    all.pairs += task->ordered().pairs;
    all.right += task->ordered().right;
  }
  return all;
}

}  // namespace rewright::tune
