#include "tune/kernel_search.h"

#include <rewright/base/budget.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "store/schedule_records.h"
#include "tune/kernel_program.h"
#include "tune/tuning_task.h"

namespace rewright::tune {
namespace {

Result<TuningTask> task_for(const KernelSearch& search, const Registry& registry) {
  std::error_code ignored;
  return std::filesystem::exists(search.kernel, ignored) ? file_task(search.kernel, search.sizes)
                                                         : kernel_task(search.kernel, registry);
}

FoundSchedule found_by(const TaskTuning& tuning) {
  FoundSchedule found;
  found.kernel = tuning.task().name;
  found.trials = tuning.trials();
  found.best_us = tuning.best_us();
  found.unscheduled_us = tuning.unscheduled_us();
  found.one_shot_us = tuning.one_shot_us();
  found.gflops = work_of(tuning.task().program).operations / found.best_us * 1e-3;
  found.schedule = tuning.best_schedule();
  found.outcomes = tuning.outcomes();
  found.curve = tuning.curve();
  return found;
}

}  // namespace

Result<FoundSchedule> search_kernel(const KernelSearch& search, const Registry& registry) {
  REWRIGHT_TRY(TuningTask task, task_for(search, registry));
  REWRIGHT_TRY(TuningSetting setting, tuning_setting(search.choice, registry));
  std::optional<ScheduleRecords> records;
  std::vector<ScheduleRecord> known;
  KernelPrograms programs;
  if (!search.records.empty()) {
    REWRIGHT_TRY(ScheduleRecords opened, ScheduleRecords::open(search.records));
    records.emplace(std::move(opened));
    REWRIGHT_TRY(known, ScheduleRecords::read(search.records));
    REWRIGHT_TRY(programs, ScheduleRecords::programs(search.records));
    setting.records = &*records;
  }
  setting.programs = &programs;
  std::unique_ptr<TaskTuning> tuning;
  Stopwatch stopwatch;
  double seconds = 0;
  bool is_left = false, is_over = false;
  setting.stop = [&] {
    seconds += stopwatch.lap();
    is_left = is_left || (search.goes_on && tuning && !search.goes_on(tuning->trials(), tuning->best_us()));
    return is_left || (!is_over && search.seconds > 0 && seconds > search.seconds);
  };
  REWRIGHT_TRY(tuning, TaskTuning::start(std::move(task), setting, known));
  Status status = tuning->run(search.trials);
  is_over = true;
  const bool is_ended = !status && status.error().code == ErrorCode::kBudget;
  if ((status || is_ended) && !is_left) status = tuning->time_again();
  tuning->close();
  if (!status && status.error().code != ErrorCode::kBudget) return status.error();
  return found_by(*tuning);
}

}  // namespace rewright::tune
