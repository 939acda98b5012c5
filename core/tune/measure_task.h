// What is measured, and within which limits; what came of it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rewright::tune {

enum class CachePolicy : std::uint8_t {
  kHot,   ///< Runs follow each other.
  kCold,  ///< Before each run, more memory is walked through than the last cache holds.
};
[[nodiscard]] inline const char* name_of(CachePolicy policy) { return policy == CachePolicy::kHot ? "hot" : "cold"; }

inline constexpr double kNoRace = 1e9;  ///< Nothing is so much slower.

struct MeasureTask {
  std::string target = "c";
  std::string dialect;  ///< Of the candidates; what they are compared with is of the plainest.
  CachePolicy policy = CachePolicy::kHot;
  std::uint64_t seed = 1;
  double low = -1, high = 1;  ///< Floating-point inputs are uniform in [low, high).
  int batches = 15;           ///< At most: fewer where the three least of them differ by 0.5 %.
  double batch_us = 200;      ///< A batch is so long, or one run.
  double race = 1.25;         ///< Left early: so many times slower than the incumbent.
  double seconds = 2;         ///< Of timing a candidate, once there are three batches.
  int run_seconds = 20;       ///< After which a run hangs.
  int compile_seconds = 60;   ///< For a module.
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
  std::uint64_t source_bytes = std::uint64_t{1} << 20;  ///< Of a candidate, as the target writes it.
  int processor = -1;                                   ///< To run on; -1: the last of those allowed.
};

struct Measurement {
  std::string outcome;             ///< As in store/schedule_records.h.
  std::string text;                ///< Why, where it is not ok; "left early" where it is.
  std::vector<double> batches_us;  ///< Of one run.
  double reference_us = 0;         ///< Of a fixed piece of arithmetic, at that time.

  [[nodiscard]] bool is_ok() const { return outcome == "ok"; }
  [[nodiscard]] double least_us() const {
    double least = std::numeric_limits<double>::infinity();
    for (const double us : batches_us) least = us < least ? us : least;
    return least;
  }
};

}  // namespace rewright::tune
