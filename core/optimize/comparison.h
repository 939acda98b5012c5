// The time of two models, measured so that the difference can be trusted.
//
// The two run in turn, round by round, the first one first in every other round, so that what slows the machine down
// slows both. Of the rounds' times the median is given, and as spread the middle half (first to third quartile); of the
// rounds' ratios the median with its 95 % confidence interval, by the sign test. A gain is claimed only where that
// interval does not hold 1.
// Source  Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2 (intervals of quantiles).
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>
#include <rewright/runtime.h>

#include <functional>
#include <string>

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

/// The inputs of both are those of `graph`. Microseconds of thread CPU time.
[[nodiscard]] REWRIGHT_API Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph,
                                                                const std::string& before, const std::string& after,
                                                                const ComparisonOptions& options = {});

}  // namespace rewright
