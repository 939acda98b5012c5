// Interval: a scalar algebra of one's own. A value is known to lie between two doubles.
//
// Each operation on doubles is rounded by at most half a unit in the last place, so that one step outwards encloses
// what it stands for (Moore, Kearfott & Cloud, Introduction to Interval Analysis, 2009, section 2.4). The functions of
// the C library are off by up to two units on x86_64 (The GNU C Library, Known Maximum Errors in Math Functions): four
// steps. What is not defined somewhere in an operand is the whole line, which says nothing.
#pragma once

#include <rewright/tensor/scalar.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace interval {

using rewright::Function;

class Interval {
 public:
  Interval() = default;
  static Interval from_integer(std::int64_t n) {
    const auto value = static_cast<double>(n);
    return std::abs(value) < 0x1p53 ? Interval{value, value} : Interval{value, value}.wider(1);
  }
  /// What a double means is another number by up to half a unit (1/6, 0.1), but for a few quarters and the like.
  static Interval from_double(double value) {
    const bool exact = std::abs(value) < 0x1p20 && value * 64 == std::floor(value * 64);
    return exact ? Interval{value, value} : Interval{value, value}.wider(1);
  }
  static Interval whole() { return {-kInfinity, kInfinity}; }

  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// No value lies in both: what they stand for is certainly not equal.
  [[nodiscard]] bool apart_from(const Interval& other) const { return high_ < other.low_ || other.high_ < low_; }
  [[nodiscard]] bool contains(double value) const { return low_ <= value && value <= high_; }

  friend Interval operator+(Interval a, Interval b) { return Interval{a.low_ + b.low_, a.high_ + b.high_}.wider(1); }
  friend Interval operator-(Interval a, Interval b) { return Interval{a.low_ - b.high_, a.high_ - b.low_}.wider(1); }
  friend Interval operator*(Interval a, Interval b) {
    return around(a.low_ * b.low_, a.low_ * b.high_, a.high_ * b.low_, a.high_ * b.high_);
  }
  friend Interval operator/(Interval a, Interval b) {
    if (b.contains(0)) return whole();
    return around(a.low_ / b.low_, a.low_ / b.high_, a.high_ / b.low_, a.high_ / b.high_);
  }
  friend Interval max(Interval a, Interval b) { return {std::max(a.low_, b.low_), std::max(a.high_, b.high_)}; }

  // All of them rise, so the ends go to the ends.
  friend Interval apply(Function function, Interval x) {
    switch (function) {
      case Function::kExp: return Interval{std::exp(x.low_), std::exp(x.high_)}.wider(4);
      case Function::kLog: return x.low_ > 0 ? Interval{std::log(x.low_), std::log(x.high_)}.wider(4) : whole();
      case Function::kSqrt: return x.low_ >= 0 ? Interval{std::sqrt(x.low_), std::sqrt(x.high_)}.wider(1) : whole();
      case Function::kTanh: return Interval{std::tanh(x.low_), std::tanh(x.high_)}.wider(4);
      case Function::kErf: return Interval{std::erf(x.low_), std::erf(x.high_)}.wider(4);
      case Function::kSigmoid: return from_integer(1) / (from_integer(1) + apply(Function::kExp, Interval() - x));
    }
    return whole();
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Interval(double low, double high) : low_(low), high_(high) {
    if (std::isnan(low) || std::isnan(high)) *this = whole();
  }
  static Interval around(double a, double b, double c, double d) {
    if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isnan(d)) return whole();
    return Interval{std::min({a, b, c, d}), std::max({a, b, c, d})}.wider(1);
  }
  [[nodiscard]] Interval wider(int steps) const {
    Interval wide = *this;
    for (int i = 0; i < steps; ++i) {
      wide.low_ = std::nextafter(wide.low_, -kInfinity);
      wide.high_ = std::nextafter(wide.high_, kInfinity);
    }
    return wide;
  }

  double low_ = 0;
  double high_ = 0;
};

}  // namespace interval
