// Polynomials with integer coefficients over integer symbols: sizes, indices and quotients of both.
//
//   p := sum of c * s1 * .. * sn        2*i + k - 1, o*q + c
//
// What is said of them is a Fact: p >= 0 or p = 0.
#pragma once

#include <rewright/base/short_list.h>
#include <rewright/base/visibility.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rewright::theorem {

/// A place in a SymbolTable (symbols.h).
using Symbol = std::uint32_t;
/// A product of symbols, ascending, each as often as it is a factor; empty: 1.
using Monomial = ShortList<std::uint16_t, 15>;

class REWRIGHT_API Polynomial {
 public:
  Polynomial(std::int64_t constant = 0) {
    if (constant != 0) terms_.emplace_back(Monomial{}, constant);
  }
  [[nodiscard]] static Polynomial symbol(Symbol symbol) { return term({symbol}, 1); }
  [[nodiscard]] static Polynomial term(Monomial monomial, std::int64_t coefficient);

  /// Ascending monomials, no coefficient 0.
  using Terms = std::vector<std::pair<Monomial, std::int64_t>>;
  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] bool is_zero() const { return terms_.empty(); }
  [[nodiscard]] std::optional<std::int64_t> constant() const;
  [[nodiscard]] std::int64_t constant_term() const {
    return !terms_.empty() && terms_[0].first.empty() ? terms_[0].second : 0;
  }
  /// The symbol if the polynomial is just one.
  [[nodiscard]] std::optional<Symbol> sole_symbol() const;
  [[nodiscard]] std::int64_t coefficient(const Monomial& monomial) const;
  [[nodiscard]] bool mentions(Symbol symbol) const;
  /// Each once, ascending.
  [[nodiscard]] std::vector<Symbol> symbols() const;

  friend REWRIGHT_API Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend REWRIGHT_API Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a) { return Polynomial(0) - a; }
  friend REWRIGHT_API Polynomial operator*(const Polynomial& a, const Polynomial& b);
  friend bool operator==(const Polynomial&, const Polynomial&) = default;
  friend auto operator<=>(const Polynomial&, const Polynomial&) = default;

 private:
  Terms terms_;
};

/// whole / part; nothing if `part` is no factor.
[[nodiscard]] std::optional<Monomial> divide(const Monomial& whole, const Monomial& part);
/// The greatest number that divides every coefficient but the constant; 0 where there is none.
[[nodiscard]] std::int64_t content_without_constant(const Polynomial& p);

/// value >= 0, or value = 0.
struct Fact {
  Polynomial value;
  bool is_equality = false;
  friend bool operator==(const Fact&, const Fact&) = default;
  friend auto operator<=>(const Fact&, const Fact&) = default;
};
[[nodiscard]] inline Fact at_least_zero(Polynomial p) { return {std::move(p), false}; }
[[nodiscard]] inline Fact is_zero(Polynomial p) { return {std::move(p), true}; }
/// Of an inequality over the integers: -p - 1 >= 0.
[[nodiscard]] inline Fact negation(const Fact& fact) { return at_least_zero(Polynomial(-1) - fact.value); }
/// One after the other they cover all integers: the fact, and what is left.
[[nodiscard]] inline std::vector<Fact> cases_of(const Fact& fact) {
  if (!fact.is_equality) return {fact, negation(fact)};
  return {fact, at_least_zero(fact.value - 1), at_least_zero(Polynomial(-1) - fact.value)};
}

/// Over the integers g p + c >= 0 says p + floor(c / g) >= 0; g p + c = 0 says the same of p, or nothing can meet it.
[[nodiscard]] Fact tightened(const Fact& fact);

/// What to put in place of symbols.
using SymbolMap = std::map<Symbol, Polynomial>;

}  // namespace rewright::theorem
