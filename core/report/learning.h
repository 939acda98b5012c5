// A learned cost as one page: what was predicted of kernels that were held out, beside what they took.
#pragma once

#include <rewright/base/visibility.h>

#include <string>
#include <vector>

namespace rewright {

struct PredictedKernel {
  std::string kernel;
  double measured_us = 0, predicted_us = 0, spread_us = 0, roofline_us = 0;
};
struct HeldOut {
  std::string name;
  double error = 0, tau = 0, roofline_error = 0;  ///< Errors are shares.
  std::vector<PredictedKernel> kernels;
};
struct LearningReport {
  std::string title, device, split;
  std::string ceiling;  ///< How far measuring again is off.
  std::vector<HeldOut> folds;
};
/// A page that needs no other file: scatter, calibration of the spread, the folds, the kernels that are furthest off.
[[nodiscard]] REWRIGHT_API std::string learning_html(const LearningReport& report);

}  // namespace rewright
