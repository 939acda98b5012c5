#include "optimize/comparison.h"

#include <algorithm>
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

}  // namespace

Result<TimeComparison> compare_times(const Runtime& runtime, const Graph& graph, const std::string& before,
                                     const std::string& after, const std::string& directory, int rounds,
                                     const std::function<bool()>& keep_going) {
  REWRIGHT_TRY(const auto first, runtime.load(std::as_bytes(std::span(before)), directory));
  REWRIGHT_TRY(const auto second, runtime.load(std::as_bytes(std::span(after)), directory));
  REWRIGHT_TRY(const auto inputs, random_inputs(graph, 1));
  std::vector<double> first_us, second_us;
  for (int round = 0; round < rounds && (round == 0 || !keep_going || keep_going()); ++round) {
    REWRIGHT_TRY(const double a, first->measure_us(inputs, kBatchesPerRound, kBatchUs));
    REWRIGHT_TRY(const double b, second->measure_us(inputs, kBatchesPerRound, kBatchUs));
    first_us.push_back(a);
    second_us.push_back(b);
  }
  return TimeComparison{spread_of(first_us), spread_of(second_us), static_cast<int>(first_us.size())};
}

}  // namespace rewright
