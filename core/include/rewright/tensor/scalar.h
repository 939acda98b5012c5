// The scalar algebras over which an operator's meaning is instantiated.
//
//   Field  integers modulo p = 2^61 - 1: fingerprints, refutation. +, -, * and / are exact, so a polynomial identity
//          that fails is seen with probability at least 1 - degree / (number of values an input is drawn from)
//          (Schwartz-Zippel). Order: an element stands for the fraction n / 36^4 of least absolute value, so max and
//          relu are the real ones on fractions that have such a denominator (halves, averages of 2x2 and 3x3) and are
//          below p / (2 * 36^4), about 6.8e11. Other functions are keyed pseudo-random functions: equal arguments,
//          equal values, no further law.
//   Exact  rationals of 63-bit numerator and denominator: counterexamples that a person can check. Overflow and
//          irrational functions give an undefined value, which every operation passes on.
//   Real   double: reference evaluation of real models.
//   Term   symbolic expressions: what a graph computes, written out.
//
// All have: T{} = 0, T::from_integer(n), T::from_double(x), + - * /, max(a, b), apply(Function, a).
#pragma once

#include <rewright/base/visibility.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace rewright {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Real functions beyond arithmetic and order.
enum class Function : std::uint8_t { kExp, kLog, kSqrt, kTanh, kSigmoid, kErf };

/// "exp", "log", ...
[[nodiscard]] REWRIGHT_API const char* name_of(Function function);

// --- Field -----------------------------------------------------------------------------------------------------

class Field {
 public:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  static constexpr std::uint64_t kOrderDenominator = 36 * 36 * 36 * 36;

  constexpr Field() = default;
  /// `residue` < kPrime.
  [[nodiscard]] static constexpr Field from_residue(std::uint64_t residue) { return Field(residue); }
  [[nodiscard]] static constexpr Field from_integer(std::int64_t n) {
    const std::int64_t r = n % static_cast<std::int64_t>(kPrime);
    return Field(static_cast<std::uint64_t>(r < 0 ? r + static_cast<std::int64_t>(kPrime) : r));
  }
  /// The number that it means (<rewright/operator/params.h>): 1/6 for 1.0 / 6. Infinities and NaN give pseudo-random
  /// constants.
  [[nodiscard]] REWRIGHT_API static Field from_double(double value);

  [[nodiscard]] constexpr std::uint64_t residue() const { return residue_; }
  /// The integer of least absolute value in the residue class.
  [[nodiscard]] constexpr std::int64_t to_signed() const {
    return residue_ > kPrime / 2 ? static_cast<std::int64_t>(residue_) - static_cast<std::int64_t>(kPrime)
                                 : static_cast<std::int64_t>(residue_);
  }
  /// n, where the element stands for n / kOrderDenominator.
  [[nodiscard]] constexpr std::int64_t order() const { return (*this * Field(kOrderDenominator)).to_signed(); }
  /// The multiplicative inverse; of 0 it is a pseudo-random constant, so that x / 0 equals itself and nothing else.
  [[nodiscard]] REWRIGHT_API Field inverse() const;

  friend constexpr Field operator+(Field a, Field b) { return Field(reduce(a.residue_ + b.residue_)); }
  friend constexpr Field operator-(Field a, Field b) { return Field(reduce(a.residue_ + kPrime - b.residue_)); }
  friend constexpr Field operator*(Field a, Field b) {
    const auto product = static_cast<Uint128>(a.residue_) * b.residue_;
    return Field(reduce(static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61)));
  }
  friend Field operator/(Field a, Field b) { return a * b.inverse(); }
  constexpr Field& operator+=(Field other) { return *this = *this + other; }
  friend constexpr bool operator==(Field, Field) = default;
  friend constexpr Field max(Field a, Field b) { return a.order() < b.order() ? b : a; }
  friend REWRIGHT_API Field apply(Function function, Field argument);

 private:
  constexpr explicit Field(std::uint64_t residue) : residue_(residue) {}
  static constexpr std::uint64_t reduce(std::uint64_t value) { return value >= kPrime ? value - kPrime : value; }
  std::uint64_t residue_ = 0;
};

// --- Exact -----------------------------------------------------------------------------------------------------

class REWRIGHT_API Exact {
 public:
  constexpr Exact() = default;
  [[nodiscard]] static Exact from_integer(std::int64_t n);
  [[nodiscard]] static Exact from_double(double value);
  /// numerator / denominator, reduced; undefined if the denominator is 0 or something does not fit.
  [[nodiscard]] static Exact ratio(Int128 numerator, Int128 denominator);
  [[nodiscard]] static Exact undefined();

  [[nodiscard]] bool defined() const { return denominator_ != 0; }
  [[nodiscard]] std::int64_t numerator() const { return numerator_; }
  [[nodiscard]] std::int64_t denominator() const { return denominator_; }

  friend REWRIGHT_API Exact operator+(Exact a, Exact b);
  friend REWRIGHT_API Exact operator-(Exact a, Exact b);
  friend REWRIGHT_API Exact operator*(Exact a, Exact b);
  friend REWRIGHT_API Exact operator/(Exact a, Exact b);
  Exact& operator+=(Exact other) { return *this = *this + other; }
  /// Two undefined values compare equal: it is "no value", not a number.
  friend constexpr bool operator==(const Exact&, const Exact&) = default;
  friend REWRIGHT_API Exact max(Exact a, Exact b);
  friend REWRIGHT_API Exact apply(Function function, Exact argument);

 private:
  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;  ///< > 0; 0 marks the undefined value.
};

/// "-3/4", "7", "undefined".
[[nodiscard]] REWRIGHT_API std::string to_string(Exact value);

// --- Real ------------------------------------------------------------------------------------------------------

struct Real {
  double value = 0;
  [[nodiscard]] static constexpr Real from_integer(std::int64_t n) { return {static_cast<double>(n)}; }
  [[nodiscard]] static constexpr Real from_double(double value) { return {value}; }
  friend constexpr Real operator+(Real a, Real b) { return {a.value + b.value}; }
  friend constexpr Real operator-(Real a, Real b) { return {a.value - b.value}; }
  friend constexpr Real operator*(Real a, Real b) { return {a.value * b.value}; }
  friend constexpr Real operator/(Real a, Real b) { return {a.value / b.value}; }
  constexpr Real& operator+=(Real other) { return *this = *this + other; }
  friend constexpr bool operator==(Real, Real) = default;
  friend constexpr Real max(Real a, Real b) { return a.value < b.value || a.value != a.value ? b : a; }
  friend REWRIGHT_API Real apply(Function function, Real argument);
};

// --- Term ------------------------------------------------------------------------------------------------------

/// An immutable expression, shared between the expressions that contain it. Folds what both operands being numbers
/// decides, and 0 + x, 0 * x, 1 * x; nothing else.
class REWRIGHT_API Term {
 public:
  enum class Kind : std::uint8_t { kNumber, kVariable, kAdd, kSubtract, kMultiply, kDivide, kMax, kFunction };
  struct Node;

  Term();
  [[nodiscard]] static Term from_integer(std::int64_t n);
  [[nodiscard]] static Term from_double(double value);
  [[nodiscard]] static Term variable(std::uint32_t index);

  [[nodiscard]] Kind kind() const;
  /// The value under an assignment of the variables, in another algebra: Field, Exact or Real.
  template <class Scalar>
  [[nodiscard]] Scalar evaluate(const std::function<Scalar(std::uint32_t)>& variable) const;
  /// Prefix form: (+ (* v0 v3) 1/9). Of a long term parts that occur again have names: t1 = (* v0 v3); (+ t1 t1).
  [[nodiscard]] std::string to_string() const;

  friend REWRIGHT_API Term operator+(const Term& a, const Term& b);
  friend REWRIGHT_API Term operator-(const Term& a, const Term& b);
  friend REWRIGHT_API Term operator*(const Term& a, const Term& b);
  friend REWRIGHT_API Term operator/(const Term& a, const Term& b);
  Term& operator+=(const Term& other) { return *this = *this + other; }
  /// Equal as written, not as values.
  friend REWRIGHT_API bool operator==(const Term& a, const Term& b);
  friend REWRIGHT_API Term max(const Term& a, const Term& b);
  friend REWRIGHT_API Term apply(Function function, const Term& argument);

 private:
  explicit Term(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static Term make(Kind kind, const Term& a, const Term& b);
  std::shared_ptr<const Node> node_;
};

/// max(x, 0).
template <class Scalar>
[[nodiscard]] Scalar relu(const Scalar& x) {
  return max(x, Scalar{});
}

/// min(a, b) = -max(-a, -b).
template <class Scalar>
[[nodiscard]] Scalar minimum(const Scalar& a, const Scalar& b) {
  return Scalar{} - max(Scalar{} - a, Scalar{} - b);
}

/// |x|.
template <class Scalar>
[[nodiscard]] Scalar magnitude(const Scalar& x) {
  return max(x, Scalar{} - x);
}

/// apply(function, x), for the insides of an operator, whose own apply() hides that name.
template <class Scalar>
[[nodiscard]] Scalar call(Function function, const Scalar& x) {
  return apply(function, x);
}

}  // namespace rewright
