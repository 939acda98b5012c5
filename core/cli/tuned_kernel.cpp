#include "cli/tuned_kernel.h"

#include <filesystem>

#include "cli/schedule_steps.h"
#include "tune/kernel_program.h"

namespace rewright::cli {

std::string shown_name(const std::string& task) {
  return task.ends_with(".loop") ? std::filesystem::path(task).filename().string() : task;
}

TunedKernel tuned_kernel(const tune::TaskTuning& task) {
  const loop::Program& program = task.task().program;
  TunedKernel kernel;
  kernel.name = shown_name(task.task().name);
  kernel.count = task.task().count;
  kernel.unscheduled_us = task.unscheduled_us();
  kernel.one_shot_us = task.one_shot_us();
  kernel.best_us = task.best_us();
  kernel.trials = task.trials();
  for (const tune::TuningPoint& point : task.curve())
    kernel.curve.emplace_back(static_cast<double>(point.trials), point.best_us);
  kernel.schedule = task.best().schedule;
  kernel.loops = schedule::loop_drawing(program);
  if (const auto steps = schedule::parse_schedule(kernel.schedule)) kernel.steps = loop_steps_of(program, *steps);
  const tune::ProgramWork work = tune::work_of(program);
  kernel.operations = work.operations;
  kernel.bytes = static_cast<double>(work.bytes);
  return kernel;
}

}  // namespace rewright::cli
