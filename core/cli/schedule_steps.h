// What each step of a schedule does, for pages.
#pragma once

#include <string>
#include <vector>

#include "report/loop_steps.h"
#include "schedule/apply.h"
#include "schedule/explain.h"

namespace rewright::cli {

/// "2 to 3 loops, 1 stores, 3 buffers".
[[nodiscard]] std::string changes_of(const schedule::StepReport& report);

/// Up to the first step that ends the schedule. `origins`: of each step, or none.
[[nodiscard]] std::vector<LoopStep> loop_steps_of(const loop::Program& program, const schedule::Schedule& schedule,
                                                  const std::vector<std::string>& origins = {});

}  // namespace rewright::cli
