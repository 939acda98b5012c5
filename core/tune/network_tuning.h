// Several tasks tuned with one budget: the kernels of a network, or of several.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tune/task_scheduler.h"
#include "tune/task_tuning.h"

namespace rewright::tune {

struct NetworkPoint {
  std::int64_t trials = 0;
  double seconds = 0;
  double objective_us = 0;
};

class REWRIGHT_API NetworkTuning {
 public:
  /// `tasks`: not empty. `objective`: of their microseconds, in their order. Errors: of the tuner.
  [[nodiscard]] static Result<std::unique_ptr<NetworkTuning>> start(std::vector<TuningTask> tasks, Objective objective,
                                                                    const TuningSetting& setting,
                                                                    const TaskScheduling& scheduling,
                                                                    std::span<const ScheduleRecord> known);
  /// Measures what is there before a search, task by task. Errors: those of Measurer.
  Status measure_baselines(const std::function<bool(std::size_t)>& goes_on = {});
  /// Where schedules come from: kernels of each model, by its name.
  struct Donors {
    std::vector<std::pair<std::string, std::vector<DonorKernel>>> models;
    bool pooled = false;  ///< All of them; else the one with the best score.
    Division division = Division::kTails;
    std::size_t most = 8;  ///< Schedules measured of a kernel.
  };
  /// What was chosen: score and name of each model that has a class in common, the best first.
  using Scores = std::vector<std::pair<double, std::string>>;
  /// After baselines: measures what other kernels of the same classes were tuned to. Errors: those of Measurer.
  Result<Scores> measure_transfers(const Donors& donors, const std::function<bool(std::size_t)>& goes_on = {});
  /// One round of one task. False: nothing is left to try, in no task. Errors: those of Measurer.
  Result<bool> round(std::int64_t most_trials);
  /// TaskTuning::time_again() of each task that was tuned.
  Status time_again();
  void close();

  [[nodiscard]] const std::vector<std::unique_ptr<TaskTuning>>& tasks() const { return tasks_; }
  [[nodiscard]] std::int64_t trials() const;
  /// The objective with the schedule that needs no search for every task; with the best of each.
  [[nodiscard]] double one_shot_us() const;
  [[nodiscard]] double best_us() const;
  [[nodiscard]] const std::vector<NetworkPoint>& curve() const { return curve_; }
  [[nodiscard]] std::map<std::string, std::int64_t> outcomes() const;
  [[nodiscard]] TuningTimes times() const;
  [[nodiscard]] OrderedPairs ordered() const;
  /// Of all tasks; best_us: the objective, with the schedule that needs no search where none came over.
  [[nodiscard]] Transfers transfers() const;

 private:
  explicit NetworkTuning(const TaskScheduling& scheduling) : scheduling_(scheduling) {}
  void note();

  TaskScheduling scheduling_;
  std::vector<std::unique_ptr<TaskTuning>> tasks_;
  std::vector<ScheduledTask> scheduled_;
  Objective objective_;
  std::vector<NetworkPoint> curve_;
  std::size_t open_ = 0;  ///< Whose measurer may be open.
};

}  // namespace rewright::tune
