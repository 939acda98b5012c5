// Tasks are chosen by what their next round promises for the objective.
#include "tune/task_scheduler.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace rewright::tune;

ScheduledTask task(std::vector<double> best_us, double operations = 1e6, std::string kind = "") {
  return {.kind = kind.empty() ? std::to_string(best_us[0]) : std::move(kind),
          .operations = operations,
          .best_us = std::move(best_us)};
}

TEST(TaskScheduler, SmallTasksWait) {
  const std::vector<ScheduledTask> fresh = {task({100, 50}), task({1}), task({900})};
  EXPECT_EQ(next_task(fresh, sum_objective({1, 1, 1}), {}), 2);
  const std::vector<ScheduledTask> fruitless = {task({100, 100, 100, 100, 100}), task({30})};
  EXPECT_EQ(next_task(fruitless, sum_objective({1, 1}), {}), 1) << "a sixth of the larger is less";
}

TEST(TaskScheduler, AKernelAtItsLimitIsLeft) {
  std::vector<ScheduledTask> tasks = {task({100, 95}, 1e6, "a"), task({40, 39}, 1e6, "b")};
  EXPECT_EQ(next_task(tasks, sum_objective({1, 1}), {}), 0);
  tasks[0].limit_us = 94;
  tasks[1].limit_us = 10;
  EXPECT_EQ(next_task(tasks, sum_objective({1, 1}), {}), 1);
}

TEST(TaskScheduler, InTurnTakesTheOneWithTheFewestRounds) {
  const std::vector<ScheduledTask> tasks = {task({100, 50, 40}), task({1, 1}), task({900, 800, 700})};
  EXPECT_EQ(next_task(tasks, sum_objective({1, 1, 1}), {.in_turn = true}), 1);
}

TEST(TaskScheduler, WhatWeighsMoreIsTunedFirst) {
  const std::vector<ScheduledTask> tasks = {task({100, 90}), task({100, 90})};
  EXPECT_EQ(next_task(tasks, sum_objective({1, 5}), {}), 1);
  EXPECT_EQ(next_task(tasks, sum_objective({5, 1}), {}), 0);
}

TEST(TaskScheduler, ATaskThatIsSlowForItsKindPromisesMore) {
  // Both take as long and weigh as much; the first does ten times the work.
  const std::vector<ScheduledTask> tasks = {task({100, 100, 100, 100}, 1e7, "product"),
                                            task({100, 100, 100, 100}, 1e6, "product")};
  EXPECT_EQ(next_task(tasks, sum_objective({1, 1}), {}), 1);
}

TEST(TaskScheduler, TasksWithoutAGainEnd) {
  const std::vector<ScheduledTask> tasks = {task({100, 100, 100, 100}), task({50, 40, 30, 20})};
  EXPECT_EQ(next_task(tasks, sum_objective({1, 1}), {.patience = 3}), 1);
  const std::vector<ScheduledTask> ended = {task({100, 100, 100, 100}), task({50, 50, 50, 50})};
  EXPECT_EQ(next_task(ended, sum_objective({1, 1}), {.patience = 3}), std::nullopt);
}

TEST(TaskScheduler, OfTwoModelsTheWorseCounts) {
  const std::vector<ScheduledTask> tasks = {task({100, 90}), task({200, 150})};
  EXPECT_EQ(next_task(tasks, worst_objective({{1, 0}, {0, 1}}), {}), 1);
  EXPECT_EQ(next_task(tasks, worst_objective({{2, 0}, {0, 1}}), {}), 0);
}

TEST(TaskScheduler, AModelWithinItsTargetIsLeft) {
  const std::vector<ScheduledTask> tasks = {task({100, 90}), task({200, 150})};
  EXPECT_EQ(next_task(tasks, target_objective({{1, 0}, {0, 1}}, {10, 1000}), {}), 0);
}

TEST(TaskScheduler, ATaskOfWhichNothingRanComesFirst) {
  const std::vector<ScheduledTask> tasks = {task({100, 90}), task({INFINITY, INFINITY})};
  EXPECT_EQ(next_task(tasks, sum_objective({1, 1}), {}), 1);
}

}  // namespace
