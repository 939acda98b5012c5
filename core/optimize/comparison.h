// The time of two models, measured so that the difference can be trusted.
//
// A round measures both in turn, A B B A and in the next round B A A B, so that what slows the machine down slows both;
// of each model it keeps the least, and of both the ratio. A round takes both models loaded anew, because where a
// model's memory lies makes it faster or slower for as long as it is loaded. Where loading would spend the budget, some
// rounds share their models; then all loaded pairs must agree with the verdict. Models so slow that rounds of four
// measurements would spend the budget are measured once each, A B and then B A.
//
// The gain is the median of the ratios. Its interval holds all medians m against which a bet has not won 1 / (1 -
// confidence) times its stake: each round is a coin that shows whether the ratio is above m, and n coins of which h are
// above multiply the stake by
//
//   2^n B(h + 1/2, n - h + 1/2) / B(1/2, 1/2)
//
// at the odds of Krichevsky and Trofimov. No fair coins let that grow so far with a chance above 1 - confidence, at
// whatever round one stops; so the rounds end as soon as the verdict is clear (7 rounds at 95 %, 13 at 99.9 %, where
// all agree), and a claim is no more often wrong for it. One round claims nothing. tests/bench/comparison_bench.cpp
// measures how often claims are wrong.
//
// Units   wall-clock microseconds
// Errors  those of the runtime
// Source  Ville, Étude critique de la notion de collectif, 1939; Howard and Ramdas, Sequential estimation of quantiles,
//         Bernoulli 28(3), 2022; Krichevsky and Trofimov, The performance of universal encoding, IEEE Trans. Inf.
//         Theory 27(2), 1981.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>

#include <functional>
#include <limits>
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

enum class TimeVerdict : std::uint8_t { kNone, kFaster, kSlower };

struct TimeComparison {
  TimeSpread before;
  TimeSpread after;
  RatioSpread gain;  ///< Before divided by after, of the same round; 1 after a single round.
  int rounds = 0;
  TimeVerdict verdict = TimeVerdict::kNone;  ///< Of the second model: the interval lies above 1, or below.
  [[nodiscard]] bool faster() const { return verdict == TimeVerdict::kFaster; }
  [[nodiscard]] bool slower() const { return verdict == TimeVerdict::kSlower; }
};

struct ComparisonOptions {
  int rounds = 201;                                          ///< At most.
  double seconds = std::numeric_limits<double>::infinity();  ///< No round begins later, but for the first three.
  double confidence = 0.95;
  bool stop_when_clear = true;  ///< Or go on to the last round, for a narrow interval.
  std::string directory = {};   ///< Where external data of models lies.
  GivenInputs inputs = {};      ///< Those that are not random.
  /// False ends the rounds early, after the first. May be empty. `share` of the rounds or seconds, the further one.
  std::function<bool(int done, double share)> keep_going = {};
  std::function<double()> clock_s = {};  ///< Of what `seconds` counts; empty: the monotonic clock.
};

/// The median of at least one ratio and its interval; of too few to say anything, the smallest and the largest.
[[nodiscard]] REWRIGHT_API RatioSpread spread_of_median(std::vector<double> ratios, double confidence = 0.95);

/// The inputs of both are those of `graph`.
[[nodiscard]] REWRIGHT_API Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph,
                                                                const std::string& before, const std::string& after,
                                                                const ComparisonOptions& options = {});

/// The nodes that the runtime's own optimisations leave of a model, those of subgraphs among them. Where a model runs
/// too briefly for the clock, fewer of them is what a gain can be judged by. Errors: as Runtime::optimised.
[[nodiscard]] REWRIGHT_API Result<int> optimised_node_count(const Runtime& runtime, const std::string& model,
                                                            const std::string& directory);

}  // namespace rewright
