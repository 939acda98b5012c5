// Real numbers in which + - * and the order obey the laws of the reals, and every other function is uninterpreted.
//
//   f(x)   a smooth function for each Function: no law of exp, log, ... holds, but those of signs, zeros and monotony
//          that floating point keeps as well (exp(x) > 0, tanh(-x) = -tanh(x), max(exp(x), exp(y)) = exp(max(x, y)))
//   a / b  a / constant as it is; a * q(b); constant * r(b)
//
// Smooth, so that rounding is not magnified: what is equal agrees in most of a double's digits, what is not in none.
#pragma once

#include <rewright/tensor/scalar.h>

#include <cmath>
#include <cstdint>

namespace rewright {

struct Uninterpreted {
  double value = 0;
  bool constant = true;  ///< Made of numbers alone.

  [[nodiscard]] static Uninterpreted from_integer(std::int64_t n) { return {static_cast<double>(n), true}; }
  [[nodiscard]] static Uninterpreted from_double(double value) { return {value, true}; }

  friend Uninterpreted operator+(Uninterpreted a, Uninterpreted b) { return {a.value + b.value, both(a, b)}; }
  friend Uninterpreted operator-(Uninterpreted a, Uninterpreted b) { return {a.value - b.value, both(a, b)}; }
  friend Uninterpreted operator*(Uninterpreted a, Uninterpreted b) { return {a.value * b.value, both(a, b)}; }
  friend Uninterpreted operator/(Uninterpreted a, Uninterpreted b) {
    if (b.constant) return {a.value / b.value, a.constant};
    return {a.value * (a.constant ? odd(b.value, 1.9, 0.4) : odd(b.value, 1.3, 0.7)), false};
  }
  friend Uninterpreted max(Uninterpreted a, Uninterpreted b) { return {std::fmax(a.value, b.value), both(a, b)}; }
  friend Uninterpreted apply(Function function, Uninterpreted x) { return {value_of(function, x.value), x.constant}; }

 private:
  static bool both(Uninterpreted a, Uninterpreted b) { return a.constant && b.constant; }
  /// Of the sign of x, and not monotone: what a quotient is of its divisor.
  static double odd(double x, double a, double b) { return a * x / (b + x * x); }

  static double value_of(Function function, double x) {
    switch (function) {
      case Function::kExp: return 1.7 + 1.1 * std::atan(0.9 * x + 0.3);
      case Function::kSigmoid: return 0.48 + 0.3 * std::atan(1.2 * x - 0.2);
      case Function::kLog: return 0.7 * std::atan(1.1 * x + 0.4) + 0.21 * x;
      case Function::kSqrt: return 0.8 * std::log1p(1.4 * std::abs(x));
      case Function::kTanh: return 0.9 * std::atan(0.8 * x);
      case Function::kErf: break;
    }
    return 0.6 * std::atan(1.5 * x) + 0.1 * x;
  }
};

}  // namespace rewright
