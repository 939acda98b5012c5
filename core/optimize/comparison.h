// The time of two models, measured so that the difference can be trusted.
//
// In each round both are loaded anew, so that no claim rests on one pair of loaded models, and run in turn, A B B A in
// one round and B A A B in the next, so that what slows the machine down slows both. Of the rounds' times the median is
// given, and as spread the middle half (first to third quartile); of the rounds' ratios the median with its 95 %
// confidence interval, by the sign test. A gain is claimed only where that interval does not hold 1.
// tests/bench/comparison_bench.cpp measures how often that is wrong. Source  Conover, Practical Nonparametric
// Statistics, 3rd ed., section 3.2 (intervals of quantiles).
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>
#include <rewright/runtime.h>

#include <functional>
#include <string>
#include <vector>

#include "optimize/random_inputs.h"

namespace rewright {

struct TimeSpread {
  double median_us = 0;
  double low_us = 0;   ///< First quartile.
  double high_us = 0;  ///< Third quartile.
};

struct RatioSpread {
  double median = 1;
  double low = 1;  ///< Of the confidence interval.
  double high = 1;
};

struct TimeComparison {
  TimeSpread before;
  TimeSpread after;
  RatioSpread gain;  ///< Before divided by after, of the same round.
  int rounds = 0;
  [[nodiscard]] bool faster() const { return rounds > 1 && gain.low > 1; }
  [[nodiscard]] bool slower() const { return rounds > 1 && gain.high < 1; }
};

struct ComparisonOptions {
  int rounds = 1;
  std::string directory = {};                     ///< Where external data of models lies.
  GivenInputs inputs = {};                        ///< Those that are not random.
  std::function<bool(int done)> keep_going = {};  ///< False ends the rounds early, after the first. May be empty.
};

/// The median of at least one ratio, and the interval that holds that of the distribution they are drawn from with 95 %
/// or more; of five and fewer the smallest and the largest, which do so less often.
[[nodiscard]] REWRIGHT_API RatioSpread spread_of_median(std::vector<double> ratios);

/// The inputs of both are those of `graph`. Microseconds of thread CPU time.
[[nodiscard]] REWRIGHT_API Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph,
                                                                const std::string& before, const std::string& after,
                                                                const ComparisonOptions& options = {});

}  // namespace rewright
