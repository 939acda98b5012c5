// A C program that measures what a core can do at most.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <span>
#include <string>

namespace rewright::tune {

/// It prints the peak of multiply-adds in GFLOP/s; those of dot products of bfloat16 and of int8 in GOP/s, 0 where the
/// processor has no instructions for them; and for each size the GB/s of reading a buffer of so many bytes. Greatest
/// values of repeated runs on one core. With an argument it prints what the dot products compute instead: a line for
/// each type, numbers or "none". -DPORTABLE: as on a processor of another kind than x86-64. Needs the vector extensions
/// of GCC or Clang.
[[nodiscard]] REWRIGHT_API std::string probe_source(std::span<const std::int64_t> bytes);

}  // namespace rewright::tune
