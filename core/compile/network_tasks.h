// The kernels of a network as tasks for tuning, and back: records as schedules of its kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compile/kernels.h"
#include "compile/scheduled_kernels.h"
#include "optimize/size_choice.h"
#include "store/schedule_records.h"
#include "tune/tuning_task.h"

namespace rewright::compile {

/// Equal kernels once, with their count, in the order of their first call. `kernels`: as kernels_of() gives them.
/// Errors: those of scheduled().
[[nodiscard]] REWRIGHT_API Result<std::vector<tune::TuningTask>> tasks_of(const Graph& graph, const Kernels& kernels,
                                                                          const schedule::VectorUnit& unit);

/// Of a model's file, simplified, at these sizes. Errors: those of open_model and scheduled(); kUnsupported, it
/// computes nothing, or a node of it cannot be compiled.
[[nodiscard]] REWRIGHT_API Result<std::vector<tune::TuningTask>> model_tasks(const std::string& file,
                                                                             const Sizes& sizes, const Runtime& runtime,
                                                                             const Registry& registry,
                                                                             const schedule::VectorUnit& unit);

/// What records must be of, beside the kernel.
struct RecordsOf {
  std::string machine;
  std::string target = "c";
  std::string dialect;
};
/// What a kernel's program is called among ranks.
[[nodiscard]] REWRIGHT_API std::string program_id(const loop::Program& program);
/// Of some programs, by their ids: how many faster schedules among the records are passed over.
using Ranks = std::map<std::string, std::size_t>;
/// The fastest schedule of each kernel among records, or that of its rank, the last where there are fewer; where there
/// is none, or it does not apply, nothing.
[[nodiscard]] REWRIGHT_API ScheduleChoice best_recorded(const std::vector<ScheduleRecord>& records, const RecordsOf& of,
                                                        const Ranks& ranks = {});

}  // namespace rewright::compile
