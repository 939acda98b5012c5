// What this machine can do at most, measured once and kept in the user's cache folder.
//
//   peak       2 * lanes * multiply-adds a second, of one core, by vectors of the widest kind that the processor has
//   bandwidth  bytes read a second, of one core, out of a buffer that fits each cache, and one that fits none
//
// Units: GFLOP/s and GB/s of 10^9; sizes in bytes. Both are greatest values: noise only makes them smaller.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rewright::tune {

struct CacheLevel {
  int level = 0;  ///< 1: data. 0: memory.
  std::int64_t bytes = 0;
  double read_gb_s = 0;
};

struct Machine {
  std::string fingerprint;  ///< 16 hexadecimal digits, of the three below.
  std::string processor;
  std::vector<std::string> instructions;  ///< "AVX2", "AVX-512", "FMA".
  std::vector<CacheLevel> caches;         ///< Smallest first, memory last.
  double peak_gflops = 0;
  /// Of the largest cache.
  [[nodiscard]] REWRIGHT_API std::int64_t last_cache_bytes() const;
};

/// Without measuring: peak and bandwidths are 0.
[[nodiscard]] REWRIGHT_API Machine described_machine();
/// Out of the cache folder if it is there, else measured, which takes about two seconds. Errors: no compiler, a cache
/// folder that cannot be written.
[[nodiscard]] REWRIGHT_API Result<Machine> measured_machine(bool again = false);

/// More than this share of the peak is a fault of measuring.
inline constexpr double kMostOfPeak = 1.03;

}  // namespace rewright::tune
