// Seeded random choices that are the same with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace rewright::contract {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t bits() { return engine_(); }
  /// From `low` to `high`, both included.
  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <class Range>
  [[nodiscard]] const auto& pick(const Range& range) {
    return range[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(std::size(range)) - 1))];
  }
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rewright::contract
