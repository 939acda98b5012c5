// What the checker of theorems computes with: polynomials, facts, fractions, all of them exact.
#pragma once

#include <rewright/tensor/linear.h>
#include <rewright/verify/theorem_certificate.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace rewright::certified {

/// Ends a check: what is outside of the rules, or an answer that is wrong.
struct Refused {
  ErrorCode code;
  std::string why;
};
[[noreturn]] inline void refuse(std::string why) { throw Refused{ErrorCode::kMismatch, std::move(why)}; }
[[noreturn]] inline void outside(std::string why) { throw Refused{ErrorCode::kUnsupported, std::move(why)}; }
/// What is to prove falls into cases.
struct CaseSplit {
  Fact guard;
};

inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) outside("a number passes 63 bits");
  return result;
}
inline std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) outside("a number passes 63 bits");
  return result;
}

// --- polynomials -------------------------------------------------------------------------------------------------

inline Polynomial number(std::int64_t value) { return value == 0 ? Polynomial{} : Polynomial{{Product{}, value}}; }
inline Polynomial symbol(int s) { return {{Product{s}, 1}}; }
inline void add_to(Polynomial& into, const Polynomial& p, std::int64_t times, const Product& with = {}) {
  for (const auto& [monomial, coefficient] : p) {
    Product both;
    std::ranges::merge(monomial, with, std::back_inserter(both));
    std::int64_t& entry = into[both];
    entry = sum(entry, product(coefficient, times));
    if (entry == 0) into.erase(both);
  }
}
inline Polynomial operator+(Polynomial a, const Polynomial& b) {
  add_to(a, b, 1);
  return a;
}
inline Polynomial operator-(Polynomial a, const Polynomial& b) {
  add_to(a, b, -1);
  return a;
}
inline Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [monomial, coefficient] : b) add_to(result, a, coefficient, monomial);
  return result;
}
inline std::int64_t constant_of(const Polynomial& p) {
  const auto found = p.find(Product{});
  return found == p.end() ? 0 : found->second;
}
inline bool is_number(const Polynomial& p) { return p.empty() || (p.size() == 1 && p.begin()->first.empty()); }
inline std::optional<Product> quotient(const Product& whole, const Product& part) {
  if (!std::ranges::includes(whole, part)) return std::nullopt;
  Product rest;
  std::ranges::set_difference(whole, part, std::back_inserter(rest));
  return rest;
}
inline Fact at_least_zero(Polynomial p) { return {std::move(p), false}; }
inline Fact zero(Polynomial p) { return {std::move(p), true}; }
inline Fact opposite(const Fact& fact) { return at_least_zero(number(-1) - fact.value); }
/// One after the other they cover all integers.
inline std::vector<Fact> cases_of(const Fact& fact) {
  if (!fact.is_equality) return {fact, opposite(fact)};
  return {fact, at_least_zero(fact.value - number(1)), at_least_zero(number(-1) - fact.value)};
}
/// g p + c >= 0 says p + floor(c / g) >= 0 of integers.
inline Fact tightened(const Fact& fact) {
  std::int64_t content = 0;
  for (const auto& [monomial, coefficient] : fact.value) {
    if (!monomial.empty()) content = std::gcd(content, coefficient);
  }
  const std::int64_t constant = constant_of(fact.value);
  if (content <= 1) return fact;
  if (fact.is_equality && constant % content != 0) return at_least_zero(number(-1));
  Polynomial result = number(floor_divide(constant, content));
  for (const auto& [monomial, coefficient] : fact.value) {
    if (!monomial.empty()) result[monomial] = coefficient / content;
  }
  return {result, fact.is_equality};
}

__extension__ using Wide = __int128;

/// numerator / denominator in lowest terms.
struct Fraction {
  std::int64_t numerator = 0, denominator = 1;
};
inline Fraction fraction(Wide n, Wide d) {
  if (d == 0) refuse("a fraction without a denominator");
  Wide a = n < 0 ? -n : n, b = d < 0 ? -d : d;
  while (b != 0) std::swap(a %= b, b);
  if (d < 0) a = -a;
  n /= a;
  d /= a;
  if (n > INT64_MAX || n < -INT64_MAX || d > INT64_MAX) outside("a number passes 63 bits");
  return {static_cast<std::int64_t>(n), static_cast<std::int64_t>(d)};
}
inline Fraction add(const Fraction& a, const Fraction& b) {
  return fraction(Wide{a.numerator} * b.denominator + Wide{b.numerator} * a.denominator,
                  Wide{a.denominator} * b.denominator);
}

using Map = std::map<int, Polynomial>;

}  // namespace rewright::certified
