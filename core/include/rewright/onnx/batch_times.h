// Wall-clock times of something that is run again and again, in batches that are long enough for the clock.
//
// Thread CPU time reads up to 61 % low for short kernels where a virtual machine's time is stolen, and a least value
// picks exactly those.
#pragma once

#include <rewright/onnx/runtime.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace rewright {

/// Times `repetitions` batches of at least `batch_us` each of `run_once()`, which gives a Result or Status. It was run
/// before. Errors: its own.
template <class Run>
Result<RunTimes> time_batches(int repetitions, double batch_us, const Run& run_once) {
  const auto time_us = [&](int runs) -> Result<double> {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) REWRIGHT_CHECK(run_once());
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  };
  REWRIGHT_TRY(const double first_us, time_us(1));
  const int runs = static_cast<int>(std::clamp(batch_us / std::max(first_us, 0.1), 1.0, 1e6) + 0.999);
  std::vector<double> samples;
  if (runs == 1) samples.push_back(first_us);  // As long as a batch: one.
  while (samples.size() < static_cast<std::size_t>(std::max(repetitions, 1))) {
    REWRIGHT_TRY(const double batch, time_us(runs));
    samples.push_back(batch / runs);
  }
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1) + 0.5)];
  };
  return RunTimes{samples.front(), at(0.25), at(0.5), at(0.75)};
}

}  // namespace rewright
