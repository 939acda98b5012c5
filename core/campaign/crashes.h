// Verifiers that crashed, each in a process of its own: what the store knows of it.
#pragma once

#include <rewright/base/result.h>

#include <map>
#include <string>
#include <vector>

#include "campaign/run_types.h"
#include "store/store.h"

namespace rewright {

/// Goals that verifiers crashed over, by name.
[[nodiscard]] Result<std::map<std::string, std::size_t>> count_crashes(Store& store);
/// In the order of their first crashes.
[[nodiscard]] Result<std::vector<CrashSummary>> crash_summaries(Store& store);

}  // namespace rewright
