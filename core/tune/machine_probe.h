// A C program that measures what a core can do at most.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rewright::tune {

/// It prints the peak of multiply-adds in GFLOP/s, and for each size the GB/s of reading a buffer of so many bytes.
/// Greatest values of repeated runs on one core. Needs the vector extensions of GCC or Clang.
[[nodiscard]] std::string probe_source(std::span<const std::int64_t> bytes);

}  // namespace rewright::tune
