#include "optimize/comparison.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "optimize/random_inputs.h"

namespace rewright {
namespace {

constexpr int kBatches = 2;  // Of each of the four measurements of a round.
constexpr double kBatchUs = 1000;
constexpr double kConfidence = 0.95;

TimeSpread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.25), at(0.75)};
}

/// How many of the smallest of `count` values the interval of their median leaves out: so many that a sequence of
/// `count` fair coins has that many heads, or fewer, in less than (1 - kConfidence) / 2 of all cases; none of a few.
std::size_t left_out(std::size_t count) {
  double share = std::pow(0.5, static_cast<double>(count)), total = share;  // With exactly, and with up to, `heads`.
  std::size_t heads = 0;
  while (total <= (1 - kConfidence) / 2) {
    share *= static_cast<double>(count - heads) / static_cast<double>(heads + 1);
    total += share;
    ++heads;
  }
  return heads == 0 ? 0 : heads - 1;
}

std::vector<double> quotients(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) ratios.push_back(before[i] / after[i]);
  return ratios;
}

}  // namespace

RatioSpread spread_of_median(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const std::size_t count = ratios.size(), out = left_out(count);
  return {ratios[count / 2], ratios[out], ratios[count - 1 - out]};
}

Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph, const std::string& before,
                                     const std::string& after, const ComparisonOptions& options) {
  REWRIGHT_TRY(const auto inputs, random_inputs(graph, 1, options.inputs));
  std::vector<double> times[2];
  for (int round = 0; round < options.rounds; ++round) {
    if (round > 0 && options.keep_going && !options.keep_going(round)) break;
    const int first = round % 2, second = 1 - first;
    std::unique_ptr<RuntimeSession> sessions[2];
    for (const int which : {first, second}) {
      const std::string& model = which == 0 ? before : after;
      REWRIGHT_TRY(sessions[which], runtime.load(std::as_bytes(std::span(model)), {options.directory}));
    }
    double sum_us[2] = {};
    for (const int which : {first, second, second, first}) {
      REWRIGHT_TRY(const RunTimes measured, sessions[which]->measure(inputs, kBatches, kBatchUs));
      sum_us[which] += measured.least_us;
    }
    for (const int which : {0, 1}) times[which].push_back(sum_us[which] / 2);
  }
  return TimeComparison{spread_of(times[0]), spread_of(times[1]), spread_of_median(quotients(times[0], times[1])),
                        static_cast<int>(times[0].size())};
}

}  // namespace rewright
