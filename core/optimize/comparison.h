// The time of two models, measured so that the difference can be trusted.
//
// The two run in turn, round by round, so that what slows the machine down slows both. Of the rounds the median is
// given, and as spread the middle half (first to third quartile). A gain is claimed only where the spreads do not meet.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>
#include <rewright/runtime.h>

#include <functional>
#include <string>

namespace rewright {

struct TimeSpread {
  double median_us = 0;
  double low_us = 0;   ///< First quartile.
  double high_us = 0;  ///< Third quartile.
};

struct TimeComparison {
  TimeSpread before;
  TimeSpread after;
  int rounds = 0;
  /// The spreads do not meet.
  [[nodiscard]] bool differs() const { return after.high_us < before.low_us || before.high_us < after.low_us; }
};

/// `inputs` of both are those of `graph`, with seeded random values. Microseconds of thread CPU time. `keep_going`
/// may be empty; false ends the rounds early, after the first.
[[nodiscard]] REWRIGHT_API Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph,
                                                                const std::string& before, const std::string& after,
                                                                const std::string& directory, int rounds,
                                                                const std::function<bool()>& keep_going = {});

}  // namespace rewright
