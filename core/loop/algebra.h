// What loop programs ask of a scalar algebra beyond tensor/scalar.h: order, integers, remainders.
//
//                    Field                         Exact                Real               Wrapping
//   is_less          order of the fractions        of the rationals     of doubles         of int32
//   whole_number     the signed residue            if the denominator   if it is whole     itself
//                                                  is 1
//   truncated        itself                        towards 0            towards 0          itself
//   whole_quotient   of small integers; else a/b   towards 0            towards 0          towards 0; x / 0 = 0
//   remainder        of small integers; else 0     a - b floor(a/b)     a - b floor(a/b)   the same; x mod 0 = 0
#pragma once

#include <rewright/tensor/dim.h>
#include <rewright/tensor/scalar.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "loop/wrapping.h"

namespace rewright::loop {

[[nodiscard]] inline bool is_less(Field a, Field b) { return a.order() < b.order(); }
[[nodiscard]] inline bool is_less(const Exact& a, const Exact& b) {
  if (!a.defined() || !b.defined()) return false;
  return Int128{a.numerator()} * b.denominator() < Int128{b.numerator()} * a.denominator();
}
[[nodiscard]] inline bool is_less(Real a, Real b) { return a.value < b.value; }
[[nodiscard]] inline bool is_less(Wrapping a, Wrapping b) { return a.value < b.value; }

[[nodiscard]] inline std::optional<std::int64_t> whole_number(Field a) { return a.to_signed(); }
[[nodiscard]] inline std::optional<std::int64_t> whole_number(const Exact& a) {
  return a.denominator() == 1 ? std::optional(a.numerator()) : std::nullopt;
}
[[nodiscard]] inline std::optional<std::int64_t> whole_number(Real a) {
  if (std::trunc(a.value) != a.value || std::abs(a.value) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(a.value);
}
[[nodiscard]] inline std::optional<std::int64_t> whole_number(Wrapping a) { return a.value; }

[[nodiscard]] inline Field truncated(Field a) { return a; }
[[nodiscard]] inline Exact truncated(const Exact& a) {
  return a.defined() ? Exact::from_integer(a.numerator() / a.denominator()) : a;
}
[[nodiscard]] inline Real truncated(Real a) { return {std::trunc(a.value)}; }
[[nodiscard]] inline Wrapping truncated(Wrapping a) { return a; }

/// Residues up to this are taken for integers.
inline constexpr std::int64_t kSmallInteger = std::int64_t{1} << 40;
[[nodiscard]] inline bool are_small(Field a, Field b) {
  return std::abs(a.to_signed()) < kSmallInteger && std::abs(b.to_signed()) < kSmallInteger && b != Field();
}

template <class Scalar>
[[nodiscard]] Scalar whole_quotient(const Scalar& a, const Scalar& b) {
  return truncated(a / b);
}
[[nodiscard]] inline Field whole_quotient(Field a, Field b) {
  return are_small(a, b) ? Field::from_integer(a.to_signed() / b.to_signed()) : a / b;
}

[[nodiscard]] inline Field remainder(Field a, Field b) {
  if (!are_small(a, b)) return {};
  const std::int64_t rest = a.to_signed() % b.to_signed();
  return Field::from_integer(rest != 0 && (rest < 0) != (b.to_signed() < 0) ? rest + b.to_signed() : rest);
}
[[nodiscard]] inline Exact remainder(const Exact& a, const Exact& b) {
  const Exact quotient = a / b;
  if (!quotient.defined()) return quotient;
  return a - b * Exact::from_integer(floor_divide(quotient.numerator(), quotient.denominator()));
}
[[nodiscard]] inline Real remainder(Real a, Real b) {
  const double rest = std::fmod(a.value, b.value);
  return {rest != 0 && (rest < 0) != (b.value < 0) ? rest + b.value : rest};
}
[[nodiscard]] inline Wrapping remainder(Wrapping a, Wrapping b) {
  if (b.value == 0 || b.value == -1) return {};
  const std::int32_t rest = a.value % b.value;
  return {rest != 0 && (rest < 0) != (b.value < 0) ? rest + b.value : rest};
}

}  // namespace rewright::loop
