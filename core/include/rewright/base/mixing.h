// Mixing of bits, and pseudo-random numbers of a seed. The same on every machine and with every standard library.
//
//   mix(x)     splitmix64: avalanche(x + gamma)
//   mix(h, x)  folds the product of 64 x 64 bits, as wyhash does: for hashes of sequences
//   Random     the sequence mix(seed), mix(seed + gamma), ...
//
// Source: Steele, Lea & Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

namespace rewright {

/// 2^64 divided by the golden ratio, odd.
inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

/// The finaliser of splitmix64: every bit of x changes about half of the bits of the result. avalanche(0) = 0.
[[nodiscard]] constexpr std::uint64_t avalanche(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) { return avalanche(x + kGoldenGamma); }

/// The hash of a sequence that is one value longer. Depends on the order of both.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(hash ^ kGoldenGamma) * (value ^ 0xd1b54a32d192ed03);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Seeded choices.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] constexpr std::uint64_t bits() { return avalanche(state_ += kGoldenGamma); }
  /// From 0 to count - 1; count is at least 1.
  [[nodiscard]] constexpr std::size_t below(std::size_t count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((static_cast<Wide>(bits()) * count) >> 64);
  }
  /// From `low` to `high`, both included.
  [[nodiscard]] constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  /// In [0, 1).
  [[nodiscard]] constexpr double fraction() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  [[nodiscard]] constexpr bool one_in(std::size_t n) { return below(n) == 0; }
  /// One of the elements; the range is not empty.
  template <class Range>
  [[nodiscard]] constexpr const auto& pick(const Range& range) {
    return range[below(std::size(range))];
  }
  /// All orders are equally likely (Fisher and Yates).
  template <class T>
  constexpr void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace rewright
