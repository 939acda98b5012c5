// A kernel that was tuned, for a page.
#pragma once

#include "report/tuning.h"
#include "tune/task_tuning.h"

namespace rewright::cli {

/// Of a task that is a file, without its folder.
[[nodiscard]] std::string shown_name(const std::string& task);
[[nodiscard]] TunedKernel tuned_kernel(const tune::TaskTuning& task);

}  // namespace rewright::cli
