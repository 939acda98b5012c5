#include "tune/task_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace rewright::tune {
namespace {

constexpr double kStep = 1e-3;
constexpr double kLeastLeft = 0.01;  ///< Of its time: the limit is a model's.

double weighted(std::span<const double> counts, std::span<const double> us) {
  double sum = 0;
  for (std::size_t i = 0; i < us.size(); ++i) {
    if (counts[i] > 0) sum += counts[i] * us[i];
  }
  return sum;
}

std::size_t rounds(const ScheduledTask& task) { return task.best_us.size() - 1; }

/// Within rounding of measuring.
constexpr double kGain = 1e-3;

bool is_over(const ScheduledTask& task, std::size_t patience) {
  if (task.is_over) return true;
  if (patience == 0 || rounds(task) < patience) return false;
  const double before = task.best_us[task.best_us.size() - 1 - patience];
  return task.best_us.back() > (1 - kGain) * before;
}

}  // namespace

Objective sum_objective(std::vector<double> counts) {
  return [counts = std::move(counts)](std::span<const double> us) { return weighted(counts, us); };
}

Objective worst_objective(std::vector<std::vector<double>> counts) {
  return [counts = std::move(counts)](std::span<const double> us) {
    double worst = 0;
    for (const auto& model : counts) worst = std::max(worst, weighted(model, us));
    return worst;
  };
}

Objective target_objective(std::vector<std::vector<double>> counts, std::vector<double> targets_us) {
  return [counts = std::move(counts), targets_us = std::move(targets_us)](std::span<const double> us) {
    double above = 0;
    for (std::size_t m = 0; m < counts.size(); ++m) above += std::max(0.0, weighted(counts[m], us) - targets_us[m]);
    return above;
  };
}

std::optional<std::size_t> next_task(std::span<const ScheduledTask> tasks, const Objective& objective,
                                     const TaskScheduling& scheduling) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!is_over(tasks[i], scheduling.patience)) open.push_back(i);
  }
  if (open.empty()) return std::nullopt;
  if (scheduling.in_turn) return *std::ranges::min_element(open, {}, [&](std::size_t i) { return rounds(tasks[i]); });

  std::vector<double> us;
  std::map<std::string, double> best;  // Operations a microsecond.
  for (const ScheduledTask& task : tasks) {
    us.push_back(task.best_us.back());
    double& rate = best[task.kind];
    rate = std::max(rate, task.operations / task.best_us.back());
  }
  std::size_t chosen = open.front();
  double steepest = std::numeric_limits<double>::infinity();
  const double now = objective(us);
  for (const std::size_t i : open) {
    const ScheduledTask& task = tasks[i];
    const double g = us[i];
    if (!std::isfinite(g)) return i;
    std::vector<double> less = us;
    less[i] = g * (1 - kStep);
    const double slope = (now - objective(less)) / (g * kStep);
    const auto t = static_cast<double>(rounds(task));
    const std::size_t back = std::min(scheduling.window, rounds(task));
    const double before = task.best_us[task.best_us.size() - 1 - back];
    const double past = !std::isfinite(before) ? -g : back == 0 ? 0 : (g - before) / static_cast<double>(back);
    const double rate = best[task.kind];
    const double most = std::max(kLeastLeft * g, g - task.limit_us);
    double possible = -most / (t + 1);
    if (rate > 0) possible = std::min(possible, std::max(-most, scheduling.beta * task.operations / rate - g));
    const double gradient = slope * (scheduling.alpha * past + (1 - scheduling.alpha) * possible);
    if (gradient < steepest) steepest = gradient, chosen = i;
  }
  return chosen;
}

}  // namespace rewright::tune
