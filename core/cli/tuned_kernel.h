// A kernel that was tuned, for a page.
#pragma once

#include "report/tuning.h"
#include "tune/task_tuning.h"

namespace rewright::cli {

[[nodiscard]] TunedKernel tuned_kernel(const tune::TaskTuning& task);

}  // namespace rewright::cli
