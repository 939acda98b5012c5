// Measured schedules as a data set: for predictors that put the schedules of a kernel in order.
//
//   {"rewright_programs": 1, "unit": "us", "device": "c vectors-avx512, hot caches, ...", "columns": ["runs", ...]}
//   {"task": "|matmul|data(64, 64)weight(64, 64)", "us": 3.1, "stages": [[4096, ...], ...]}
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>
#include <rewright/tune/predictor.h>

#include <functional>
#include <string>
#include <vector>

#include "learn/fit.h"

namespace rewright::learn {

struct ProgramData {
  std::string device;
  std::vector<std::string> columns;
  std::vector<tune::Observation> programs;
};

/// Is it what write_programs() writes? False for what cannot be read.
[[nodiscard]] REWRIGHT_API bool holds_programs(const std::string& file);
/// Errors: kIo; kParse, FILE:LINE; kMismatch, of another version or unit.
[[nodiscard]] REWRIGHT_API Result<ProgramData> read_programs(const std::string& file);
[[nodiscard]] REWRIGHT_API Status write_programs(const std::string& file, const ProgramData& data);
/// Records of a store that ran here, of kernels that are written as operators: `least` schedules of each or more.
/// Errors: of the store; kUnsupported, where there are none.
[[nodiscard]] REWRIGHT_API Result<ProgramData> programs_of_store(const std::string& store, std::size_t least,
                                                                 const Registry& registry);

/// How well schedules of kernels that were held out are put in order; means over these kernels.
struct OrderAccuracy {
  std::size_t kernels = 0, programs = 0;
  double tau = 0;    ///< Kendall's tau-b.
  double pairs = 0;  ///< Share of the pairs that differ by 1 % or more in their order.
  /// How much longer than the best of all takes the best of the one, or five, that are said to be fastest.
  double best_of_1 = 0, best_of_5 = 0;
  double random_of_5 = 0;  ///< What five that are drawn give, on average.
};
/// Each fifth of the kernels, by a hash of them, is held out in turn.
[[nodiscard]] REWRIGHT_API Result<OrderAccuracy> evaluate_order(const ProgramData& data, const Recipe& recipe,
                                                                const Registry& registry,
                                                                const std::function<bool(std::size_t)>& goes_on = {});

}  // namespace rewright::learn
