// The integers modulo 2^32, in which + and * are associative to the bit: a program whose arithmetic is carried out in
// another order, or compiled, gives the same bits.
//
// Functions, and numbers that are not whole, are keyed mixing functions: equal arguments, equal values, no further law.
// A quotient truncates; x / 0 is 0.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/tensor/scalar.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rewright::loop {

/// The mixing function of a program's int32 calls: the C target writes the same.
[[nodiscard]] constexpr std::uint32_t mix32(std::uint32_t key, std::uint32_t x) {
  x = (x ^ (key * 0x9e3779b9U)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

struct Wrapping {
  std::int32_t value = 0;

  [[nodiscard]] static constexpr Wrapping from_bits(std::uint32_t bits) { return {static_cast<std::int32_t>(bits)}; }
  [[nodiscard]] static constexpr Wrapping from_integer(std::int64_t n) {
    return from_bits(static_cast<std::uint32_t>(static_cast<std::uint64_t>(n)));
  }
  /// -inf and inf are the least and the greatest integer.
  [[nodiscard]] static Wrapping from_double(double x) {
    if (std::isinf(x)) {
      return {x < 0 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max()};
    }
    if (std::trunc(x) == x && std::abs(x) < 0x1p63) return from_integer(static_cast<std::int64_t>(x));
    return from_bits(static_cast<std::uint32_t>(mix(std::bit_cast<std::uint64_t>(x))));
  }
  [[nodiscard]] constexpr std::uint32_t bits() const { return static_cast<std::uint32_t>(value); }

  friend constexpr Wrapping operator+(Wrapping a, Wrapping b) { return from_bits(a.bits() + b.bits()); }
  friend constexpr Wrapping operator-(Wrapping a, Wrapping b) { return from_bits(a.bits() - b.bits()); }
  friend constexpr Wrapping operator*(Wrapping a, Wrapping b) { return from_bits(a.bits() * b.bits()); }
  friend constexpr Wrapping operator/(Wrapping a, Wrapping b) {
    if (b.value == 0) return {};
    return b.value == -1 ? Wrapping{} - a : Wrapping{a.value / b.value};
  }
  constexpr Wrapping& operator+=(Wrapping other) { return *this = *this + other; }
  friend constexpr bool operator==(Wrapping, Wrapping) = default;
  friend constexpr Wrapping max(Wrapping a, Wrapping b) { return {std::max(a.value, b.value)}; }
  friend constexpr Wrapping apply(Function function, Wrapping x) {
    return from_bits(mix32(static_cast<std::uint32_t>(function) + 1, x.bits()));
  }
};

}  // namespace rewright::loop
