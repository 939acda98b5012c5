// Exact fractions that say when they no longer fit: numerator and denominator of 63 bits, lowest terms.
//
// Errors  Overflow is thrown where a result does not fit; whoever asks for a proof gets none.
#pragma once

#include <compare>
#include <cstdint>
#include <numeric>

namespace rewright::theorem {

/// A number does not fit 63 bits. Caught where a proof begins (theorem_prover.cpp).
struct Overflow {};

[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw Overflow{};
  return result;
}
[[nodiscard]] inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw Overflow{};
  return result;
}

class Rational {
 public:
  constexpr Rational(std::int64_t number = 0) : numerator_(number) {}
  /// `denominator` is not 0.
  Rational(std::int64_t numerator, std::int64_t denominator) : Rational(reduced(numerator, denominator)) {}

  [[nodiscard]] std::int64_t numerator() const { return numerator_; }
  [[nodiscard]] std::int64_t denominator() const { return denominator_; }
  [[nodiscard]] bool is_zero() const { return numerator_ == 0; }
  [[nodiscard]] int sign() const { return (numerator_ > 0) - (numerator_ < 0); }

  friend Rational operator+(const Rational& a, const Rational& b) {
    if (a.denominator_ == 1 && b.denominator_ == 1) return checked_add(a.numerator_, b.numerator_);
    return reduced(Wide{a.numerator_} * b.denominator_ + Wide{b.numerator_} * a.denominator_,
                   Wide{a.denominator_} * b.denominator_);
  }
  friend Rational operator-(const Rational& a) { return Rational(0) - a; }
  friend Rational operator-(const Rational& a, const Rational& b) {
    return reduced(Wide{a.numerator_} * b.denominator_ - Wide{b.numerator_} * a.denominator_,
                   Wide{a.denominator_} * b.denominator_);
  }
  friend Rational operator*(const Rational& a, const Rational& b) {
    if (a.denominator_ == 1 && b.denominator_ == 1) return checked_multiply(a.numerator_, b.numerator_);
    return reduced(Wide{a.numerator_} * b.numerator_, Wide{a.denominator_} * b.denominator_);
  }
  /// `b` is not 0.
  friend Rational operator/(const Rational& a, const Rational& b) {
    return reduced(Wide{a.numerator_} * b.denominator_, Wide{a.denominator_} * b.numerator_);
  }
  friend bool operator==(const Rational&, const Rational&) = default;
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
    const Wide left = Wide{a.numerator_} * b.denominator_, right = Wide{b.numerator_} * a.denominator_;
    return left < right   ? std::strong_ordering::less
           : left > right ? std::strong_ordering::greater
                          : std::strong_ordering::equal;
  }

 private:
  __extension__ using Wide = __int128;
  static Rational reduced(Wide numerator, Wide denominator) {
    if (denominator < 0) {
      numerator = -numerator;
      denominator = -denominator;
    }
    Wide a = numerator < 0 ? -numerator : numerator, b = denominator;
    while (b != 0) {
      const Wide rest = a % b;
      a = b;
      b = rest;
    }
    if (a > 1) {
      numerator /= a;
      denominator /= a;
    }
    if (numerator > INT64_MAX || numerator < -INT64_MAX || denominator > INT64_MAX) throw Overflow{};
    Rational result(static_cast<std::int64_t>(numerator));
    result.denominator_ = static_cast<std::int64_t>(denominator);
    return result;
  }

  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

}  // namespace rewright::theorem
