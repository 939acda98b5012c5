// A search for schedules as one page: where time goes, how it fell, and the best schedule of each kernel.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tune/machine.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/loop_steps.h"

namespace rewright {

struct TunedKernel {
  std::string name;
  double count = 1;  ///< How often it runs.
  double unscheduled_us = 0, one_shot_us = 0, best_us = 0;
  std::int64_t trials = 0;
  std::vector<std::pair<double, double>> curve;  ///< Trials, and the best microseconds after them.
  std::string schedule;                          ///< Of the best, as text.
  std::string loops = {};                        ///< Unscheduled.
  std::vector<LoopStep> steps = {};              ///< Of the schedule.
  double operations = 0, bytes = 0;              ///< What a run does at least.
};

struct TuningReport {
  std::string title;
  tune::Machine machine = {};
  int threads = 1;
  std::vector<TunedKernel> kernels = {};              ///< Those that take most in front.
  std::vector<std::pair<double, double>> curve = {};  ///< Trials, and microseconds of all kernels.
  double one_shot_us = 0, best_us = 0;                ///< Of all kernels.
  std::string outcomes = {};                          ///< "160 ok, 2 wrong".
  std::string times = {};                             ///< Where the search's own time went.
};
/// A page that needs no other file.
[[nodiscard]] REWRIGHT_API std::string tuning_html(const TuningReport& report);

}  // namespace rewright
