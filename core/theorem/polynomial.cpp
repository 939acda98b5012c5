#include "theorem/polynomial.h"

#include <rewright/tensor/dim.h>

#include <algorithm>
#include <numeric>

#include "theorem/exact_rational.h"

namespace rewright::theorem {

namespace {

std::int64_t negated(std::int64_t number) { return checked_multiply(number, -1); }

}  // namespace

Polynomial Polynomial::term(Monomial monomial, std::int64_t coefficient) {
  Polynomial result;
  if (coefficient != 0) result.terms_.emplace_back(std::move(monomial), coefficient);
  return result;
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].first.empty()) return terms_[0].second;
  return std::nullopt;
}

std::optional<Symbol> Polynomial::sole_symbol() const {
  if (terms_.size() != 1 || terms_[0].second != 1 || terms_[0].first.size() != 1) return std::nullopt;
  return terms_[0].first[0];
}

std::int64_t Polynomial::coefficient(const Monomial& monomial) const {
  const auto found = std::ranges::lower_bound(terms_, monomial, {}, &std::pair<Monomial, std::int64_t>::first);
  return found != terms_.end() && found->first == monomial ? found->second : 0;
}

bool Polynomial::mentions(Symbol symbol) const {
  return std::ranges::any_of(
      terms_, [symbol](const auto& term) { return std::ranges::find(term.first, symbol) != term.first.end(); });
}

std::vector<Symbol> Polynomial::symbols() const {
  std::vector<Symbol> found;
  for (const auto& [monomial, coefficient] : terms_) found.insert(found.end(), monomial.begin(), monomial.end());
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  auto left = a.terms_.begin(), right = b.terms_.begin();
  while (left != a.terms_.end() || right != b.terms_.end()) {
    if (right == b.terms_.end() || (left != a.terms_.end() && left->first < right->first)) {
      result.terms_.push_back(*left++);
    } else if (left == a.terms_.end() || right->first < left->first) {
      result.terms_.push_back(*right++);
    } else {
      const std::int64_t sum = checked_add(left->second, right->second);
      if (sum != 0) result.terms_.emplace_back(left->first, sum);
      ++left;
      ++right;
    }
  }
  return result;
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) {
  Polynomial negative = b;
  for (auto& [monomial, coefficient] : negative.terms_) coefficient = negated(coefficient);
  return a + negative;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  std::map<Monomial, std::int64_t> sums;
  for (const auto& [left, c] : a.terms_) {
    for (const auto& [right, d] : b.terms_) {
      Monomial product;
      std::ranges::merge(left, right, std::back_inserter(product));
      std::int64_t& sum = sums[product];
      sum = checked_add(sum, checked_multiply(c, d));
    }
  }
  Polynomial result;
  for (auto& [monomial, coefficient] : sums) {
    if (coefficient != 0) result.terms_.emplace_back(monomial, coefficient);
  }
  return result;
}

std::optional<Monomial> divide(const Monomial& whole, const Monomial& part) {
  if (!std::ranges::includes(whole, part)) return std::nullopt;
  Monomial rest;
  std::ranges::set_difference(whole, part, std::back_inserter(rest));
  return rest;
}

std::int64_t content_without_constant(const Polynomial& p) {
  std::int64_t content = 0;
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (!monomial.empty()) content = std::gcd(content, coefficient);
  }
  return content;
}

Fact tightened(const Fact& fact) {
  const std::int64_t content = content_without_constant(fact.value);
  const std::int64_t constant = fact.value.constant_term();
  if (content <= 1) return fact;
  if (fact.is_equality && constant % content != 0) return at_least_zero(-1);
  Polynomial result = floor_divide(constant, content);
  for (const auto& [monomial, coefficient] : fact.value.terms()) {
    if (!monomial.empty()) result = result + Polynomial::term(monomial, coefficient / content);
  }
  return {std::move(result), fact.is_equality};
}

}  // namespace rewright::theorem
