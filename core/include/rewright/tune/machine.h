// A machine in figures: what code can reach on it at most.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rewright::tune {

struct CacheLevel {
  int level = 0;  ///< 1: data. 0: memory.
  std::int64_t bytes = 0;
  double read_gb_s = 0;  ///< By one core, in 10^9 bytes a second.
};

struct Machine {
  std::string fingerprint;  ///< 16 hexadecimal digits, of the three below.
  std::string processor;
  std::vector<std::string> instructions;  ///< "AVX2", "AVX-512", "FMA".
  std::vector<CacheLevel> caches;         ///< Smallest first, memory last.
  double peak_gflops = 0;                 ///< Of one core, in 10^9 operations a second.
  /// Of the largest cache.
  [[nodiscard]] REWRIGHT_API std::int64_t last_cache_bytes() const;
};

}  // namespace rewright::tune
