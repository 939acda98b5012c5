// The fastest schedule of one kernel, in one call: what `rewright tune kernel` does with its plain options.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tune/task_tuning.h"
#include "tune/tuning_choice.h"

namespace rewright::tune {

struct KernelSearch {
  std::string kernel;                         ///< As text (kernel_text.h), or a file with a loop program.
  std::map<std::string, std::int64_t> sizes;  ///< Of a file that leaves some open.
  TuningChoice choice;
  std::int64_t trials = 64;  ///< Those of the records among them.
  double seconds = 0;        ///< After which no trial begins; 0: any number.
  std::string records;       ///< A store that what is measured is added to, and gone on from; "": none.
  /// After each round, so many trials, the best so far; false: what is there is the result.
  std::function<bool(std::int64_t trials, double best_us)> goes_on = {};
};

/// Times are microseconds, the least of their batches; infinite where nothing ran.
struct FoundSchedule {
  std::string kernel;
  std::int64_t trials = 0;
  double best_us = 0, unscheduled_us = 0;
  double one_shot_us = 0;                        ///< Of the schedule that needs no search.
  double gflops = 0;                             ///< Of the best: operations by its time.
  std::string schedule;                          ///< Of the best, as `rewright schedule apply` reads it.
  std::map<std::string, std::int64_t> outcomes;  ///< "ok", "wrong", "crashed", "timeout", "refused".
  std::vector<TuningPoint> curve;
};

/// Errors: a kernel that cannot be read, a plugin or option that is not there, what cannot be measured.
[[nodiscard]] REWRIGHT_API Result<FoundSchedule> search_kernel(const KernelSearch& search, const Registry& registry);

}  // namespace rewright::tune
