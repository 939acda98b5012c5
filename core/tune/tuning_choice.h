// How a search is to be done, by the names of plugins and dialects.
#pragma once

#include <rewright/plugin/registry.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tune/task_tuning.h"

namespace rewright::tune {

struct TuningChoice {
  std::string tuner = "evolution";
  Options tuner_options = {};
  /// "none": what is proposed is not ranked. Empty: process for the tuner bayes, else trees; roofline where that is not
  /// built.
  std::string predictor;
  Options predictor_options = {};
  std::string orders = "category";  ///< Or "scores": how orders of loops are shown to the predictor.
  std::string structure = "SSRSRS";
  std::string dialect = "vectors";
  std::string policy = "hot";  ///< Or "cold".
  std::vector<std::string> generators = {};
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;  ///< Schedules proposed at a time; 0: 4 for the tuner bayes, which learns from each, else 8.
  bool is_patient = false;  ///< Slow schedules are timed as long as fast ones: for data to learn from.
};

/// Errors: kUsage, no such dialect or structure of tiles.
[[nodiscard]] REWRIGHT_API Result<schedule::SketchOptions> sketch_options(const TuningChoice& choice);
/// All but `given`, `records` and `stop`; measures what this machine can do where that is not known. Errors: a plugin
/// that is not there or cannot be used.
[[nodiscard]] REWRIGHT_API Result<TuningSetting> tuning_setting(const TuningChoice& choice, const Registry& registry);

}  // namespace rewright::tune
