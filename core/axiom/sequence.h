// Pseudo-random numbers of a seed: splitmix64 (Steele et al., OOPSLA 2014). The same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace rewright {

/// The finaliser of splitmix64.
[[nodiscard]] constexpr std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Sequence {
 public:
  explicit Sequence(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next() { return splitmix(state_ += 0x9e3779b97f4a7c15); }
  /// 0 .. bound - 1; bound is at least 1.
  [[nodiscard]] std::size_t below(std::size_t bound) { return next() % bound; }
  /// low .. high.
  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace rewright
