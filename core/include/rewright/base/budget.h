// What work is counted in: limits, and the time that it took.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

namespace rewright {

/// A limit in work, not in time, so that a verdict does not depend on the machine's load.
struct Budget {
  std::uint64_t work = 10'000'000;  ///< Solver resource units, e-graph nodes, evaluated elements.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
};

/// Wall-clock seconds, lap by lap.
class Stopwatch {
 public:
  /// Since the object was made, or since the last call.
  [[nodiscard]] double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace rewright
