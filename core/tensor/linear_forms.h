// Linear forms of sizes as Gaussian elimination and comparison want them: coefficients changed, common factors removed.
#pragma once

#include <rewright/tensor/dim.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

namespace rewright {

/// Coefficients beyond this are left alone: sums and products of a few then stay far inside 64 bits.
inline constexpr std::int64_t kLargest = std::int64_t{1} << 40;

inline SymbolicDim value_of(const SymbolicDim::Atom& atom) {
  switch (atom.kind) {
    case SymbolicDim::Atom::Kind::kVariable: return SymbolicDim::variable(*atom.variable);
    case SymbolicDim::Atom::Kind::kQuotient: return floor_divide(*atom.left, atom.divisor);
    case SymbolicDim::Atom::Kind::kProduct: break;
  }
  return *atom.left * *atom.right;
}

/// The same linear form with other coefficients.
template <class Change>
SymbolicDim with_coefficients(const SymbolicDim& form, Change change) {
  SymbolicDim result = change(form.constant_term());
  for (const SymbolicDim::Atom& atom : form.atoms()) {
    const std::int64_t coefficient = change(atom.coefficient);
    if (coefficient != 0) result = result + SymbolicDim(coefficient) * value_of(atom);
  }
  return result;
}

inline bool is_small(const SymbolicDim& form) {
  const auto small = [](std::int64_t n) { return n > -kLargest && n < kLargest; };
  return small(form.constant_term()) && std::all_of(form.atoms().begin(), form.atoms().end(),
                                                    [&](const auto& atom) { return small(atom.coefficient); });
}

/// The greatest common divisor of the coefficients; 0 where there are none.
inline std::int64_t content(const SymbolicDim& form) {
  std::int64_t divisor = 0;
  for (const SymbolicDim::Atom& atom : form.atoms()) divisor = std::gcd(divisor, atom.coefficient);
  return divisor;
}

/// The equation form = 0 divided by its common factor; nothing if no integers can satisfy it.
inline std::optional<SymbolicDim> primitive(const SymbolicDim& form) {
  const std::int64_t divisor = content(form);
  if (divisor == 0) return form.constant_term() == 0 ? std::optional(form) : std::nullopt;
  if (form.constant_term() % divisor != 0) return std::nullopt;
  if (divisor == 1) return form;
  return with_coefficients(form, [&](std::int64_t n) { return n / divisor; });
}

/// form >= 0 over the integers, divided by the common factor of its variables' coefficients.
inline SymbolicDim tightened(const SymbolicDim& form) {
  const std::int64_t divisor = content(form);
  if (divisor <= 1) return form;
  SymbolicDim result = with_coefficients(form - form.constant_term(), [&](std::int64_t n) { return n / divisor; });
  return result + floor_divide(form.constant_term(), divisor);
}

/// With coefficients from 0 to divisor - 1.
inline SymbolicDim residue(const SymbolicDim& form, std::int64_t divisor) {
  return with_coefficients(form, [&](std::int64_t n) { return n - floor_divide(n, divisor) * divisor; });
}

}  // namespace rewright
