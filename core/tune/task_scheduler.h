// Which task of several to tune next, so that what they are parts of becomes faster soonest.
//
//   gradient  the task whose next round promises most, by what its last rounds gained and what is thought possible:
//             df/dg (alpha (g(t) - g(t - window)) / window + (1 - alpha) min(-d / (t + 1), beta operations / best - g))
//             g: microseconds after t rounds; d: g less what the machine allows at best; f: the objective; best:
//             operations a microsecond, the greatest among tasks of its class. df/dg is a difference with a step of
//             one part in a thousand of g.
//   in-turn   round robin, the baseline
//
// Source  Zheng et al., Ansor, OSDI 2020, section 6. There the step is absolute, and longer than most kernels take;
//         d is g, so that kernels at their limit are tuned on; and every task has a round first: here t + 1 stands for
//         t, so that small tasks wait.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright::tune {

/// What is to be small, of all tasks' microseconds.
using Objective = std::function<double(std::span<const double> us)>;
/// The sum of counts times microseconds.
[[nodiscard]] REWRIGHT_API Objective sum_objective(std::vector<double> counts);
/// The greatest of several such sums: of models that share tasks.
[[nodiscard]] REWRIGHT_API Objective worst_objective(std::vector<std::vector<double>> counts);
/// The sum of what each such sum is above its target.
[[nodiscard]] REWRIGHT_API Objective target_objective(std::vector<std::vector<double>> counts,
                                                      std::vector<double> targets_us);

struct ScheduledTask {
  std::string kind;             ///< Tasks of one kind differ in sizes alone.
  double operations = 0;        ///< Of a run.
  double limit_us = 0;          ///< That a run takes at least, by the machine's figures.
  std::vector<double> best_us;  ///< After its baselines, and after each round.
  bool is_over = false;         ///< There is nothing left to try.
};

struct TaskScheduling {
  bool in_turn = false;
  double alpha = 0.2, beta = 2;
  std::size_t window = 3;
  std::size_t patience = 8;  ///< Rounds without a gain after which a task is over; 0: any number.
};

/// Nothing where all are over.
[[nodiscard]] REWRIGHT_API std::optional<std::size_t> next_task(std::span<const ScheduledTask> tasks,
                                                                const Objective& objective,
                                                                const TaskScheduling& scheduling);

}  // namespace rewright::tune
