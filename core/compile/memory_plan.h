// Where buffers lie in one block of memory: those that are never in use at once may share it.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <span>
#include <vector>

namespace rewright::compile {

/// Of buffers and weights, in bytes.
inline constexpr std::int64_t kAlignment = 64;
[[nodiscard]] constexpr std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// A buffer in use from step `first` to step `last`, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  ///< One for each buffer, multiples of kAlignment.
  std::int64_t bytes = 0;             ///< Of the block.
};

/// The largest first, each at the lowest place that no buffer in use at the same time overlaps.
[[nodiscard]] REWRIGHT_API MemoryPlan plan_memory(std::span<const Lifetime> buffers);

}  // namespace rewright::compile
