#include "optimize/comparison.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "optimize/random_inputs.h"

namespace rewright {
namespace {

constexpr int kBatchesPerRound = 3;
constexpr double kBatchUs = 1000;

TimeSpread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.25), at(0.75)};
}

/// The order statistics at n/2 -+ 1.96 sqrt(n)/2; all of a few.
RatioSpread ratio_of(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) ratios.push_back(before[i] / after[i]);
  std::sort(ratios.begin(), ratios.end());
  const auto count = static_cast<double>(ratios.size());
  const double low = std::floor(count / 2 - 0.98 * std::sqrt(count));
  const auto first = static_cast<std::size_t>(std::max(low, 0.0));
  return {ratios[ratios.size() / 2], ratios[first], ratios[ratios.size() - 1 - first]};
}

}  // namespace

Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph, const std::string& before,
                                     const std::string& after, const ComparisonOptions& options) {
  REWRIGHT_TRY(const auto first, runtime.load(std::as_bytes(std::span(before)), options.directory));
  REWRIGHT_TRY(const auto second, runtime.load(std::as_bytes(std::span(after)), options.directory));
  REWRIGHT_TRY(const auto inputs, random_inputs(graph, 1, options.inputs));
  std::vector<double> first_us, second_us;
  for (int round = 0; round < options.rounds; ++round) {
    if (round > 0 && options.keep_going && !options.keep_going(round)) break;
    for (const bool original : {round % 2 == 0, round % 2 != 0}) {
      RuntimeSession& session = original ? *first : *second;
      REWRIGHT_TRY(const double us, session.measure_us(inputs, kBatchesPerRound, kBatchUs));
      (original ? first_us : second_us).push_back(us);
    }
  }
  return TimeComparison{spread_of(first_us), spread_of(second_us), ratio_of(first_us, second_us),
                        static_cast<int>(first_us.size())};
}

}  // namespace rewright
