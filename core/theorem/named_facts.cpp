#include "theorem/named_facts.h"

#include <algorithm>
#include <set>

#include "theorem/exact_rational.h"
#include "theorem/refutation.h"

namespace rewright::theorem {

namespace {

using certified::FactUse;

constexpr std::size_t kMostNamedFacts = 160;

/// Facts with what the checker is told of where they come from.
class NamedFacts {
 public:
  NamedFacts(const SymbolTable& symbols, const std::vector<Fact>& facts) : symbols_(symbols), given_(facts) {}

  std::optional<std::vector<FactUse>> refutation(std::int64_t& pivots) {
    if (auto found = by_two()) return found;
    gather();
    if (auto found = attempt(pivots)) return found;
    const std::size_t before = facts_.size();
    add_products();
    if (facts_.size() == before) return std::nullopt;
    return attempt(pivots);
  }

 private:
  /// The last fact, which is what is asked, alone or beside one other, where what all symbols are at least does the
  /// rest.
  std::optional<std::vector<FactUse>> by_two() const {
    if (given_.empty()) return std::nullopt;
    const std::size_t last = given_.size() - 1;
    const Fact asked = tightened(given_[last]);
    for (const int sign : {1, -1}) {
      if (sign < 0 && !asked.is_equality) break;
      const Polynomial value = asked.value * Polynomial(sign);
      const FactUse use{.source = 'F', .at = last, .numerator = sign};
      if (auto found = by_bounds(value, {use})) return found;
      for (std::size_t f = 0; f < last; ++f) {
        const Fact other = tightened(given_[f]);
        for (const int times : {1, -1}) {
          if (times < 0 && !other.is_equality) break;
          if (auto found = by_bounds(value + other.value * Polynomial(times),
                                     {use, FactUse{.source = 'F', .at = f, .numerator = times}}))
            return found;
        }
      }
    }
    return std::nullopt;
  }
  /// Is `sum` never at least 0, whatever the symbols are?
  std::optional<std::vector<FactUse>> by_bounds(const Polynomial& sum, std::vector<FactUse> uses) const {
    std::int64_t greatest = 0;
    for (const auto& [monomial, coefficient] : sum.terms()) {
      if (monomial.empty()) {
        greatest = checked_add(greatest, coefficient);
        continue;
      }
      if (coefficient > 0 || !symbols_.at_least(monomial, 0)) return std::nullopt;
      std::int64_t product = coefficient;
      for (const Symbol symbol : monomial) product = checked_multiply(product, *symbols_.least(symbol));
      greatest = checked_add(greatest, product);
      const bool is_one = monomial.size() == 1;
      FactUse bound{
          .source = is_one ? 'L' : 'P', .at = is_one ? monomial[0] : std::size_t{0}, .numerator = -coefficient};
      if (!is_one) bound.times = monomial;
      uses.push_back(std::move(bound));
    }
    if (greatest >= 0) return std::nullopt;
    return uses;
  }
  void add(Fact fact, FactUse use) {
    if (!there_.insert(fact).second) return;
    facts_.push_back(std::move(fact));
    uses_.push_back(std::move(use));
  }
  std::optional<std::vector<FactUse>> attempt(std::int64_t& pivots) {
    const auto combination = refute(facts_, pivots);
    if (!combination) return std::nullopt;
    std::vector<FactUse> uses;
    for (const auto& [place, weight] : *combination) {
      if (weight.is_zero()) continue;
      uses.push_back(uses_[place]);
      uses.back().numerator = weight.numerator();
      uses.back().denominator = weight.denominator();
    }
    return uses;
  }
  /// From the last fact on, which is what is asked: what shares symbols with it.
  void gather() {
    std::set<Symbol> seen;
    std::vector<Symbol> open, quotients;
    const auto note = [&](const Polynomial& p) {
      for (const Symbol symbol : p.symbols()) {
        if (seen.insert(symbol).second) open.push_back(symbol);
      }
    };
    std::vector<bool> taken(given_.size());
    const auto take = [&](std::size_t f) {
      taken[f] = true;
      const Fact fact = tightened(given_[f]);
      note(fact.value);
      add(fact, {.source = 'F', .at = f});
    };
    if (!given_.empty()) take(given_.size() - 1);
    while (!open.empty()) {
      const Symbol symbol = open.back();
      open.pop_back();
      const Polynomial self = Polynomial::symbol(symbol);
      if (const auto least = symbols_.least(symbol)) add(at_least_zero(self - *least), {.source = 'L', .at = symbol});
      if (symbols_.kind(symbol) == SymbolKind::kQuotient) {
        quotients.push_back(symbol);
        const Polynomial &p = symbols_.dividend(symbol), &q = symbols_.divisor(symbol);
        note(p);
        note(q);
        add(tightened(at_least_zero(p - q * self)), {.source = 'D', .at = symbol});
        add(tightened(at_least_zero(q - 1 - p + q * self)), {.source = 'E', .at = symbol});
      }
      for (std::size_t f = 0; f < given_.size(); ++f) {
        if (!taken[f] && given_[f].value.mentions(symbol)) take(f);
      }
    }
    for (const Symbol quotient : quotients) {
      for (std::size_t f = 0; f < given_.size(); ++f) {
        if (taken[f]) add_bounds(quotient, f);
      }
      for (const Symbol other : quotients) {
        const auto times = multiple(symbols_.divisor(other), symbols_.divisor(quotient));
        if (other == quotient || !(symbols_.dividend(other) == symbols_.dividend(quotient)) || !times) continue;
        const Polynomial rest = Polynomial::symbol(quotient) - *times * Polynomial::symbol(other);
        add(at_least_zero(rest), {.source = 'M', .at = quotient, .second = other});
        add(at_least_zero(*times - 1 - rest), {.source = 'O', .at = quotient, .second = other});
      }
    }
  }
  void add_bounds(Symbol quotient, std::size_t f) {
    if (given_[f].is_equality) return;
    const Polynomial value = tightened(given_[f]).value, p = symbols_.dividend(quotient),
                     self = Polynomial::symbol(quotient);
    if (const auto above = multiple(value + p + 1, symbols_.divisor(quotient)))
      add(at_least_zero(*above - 1 - self), {.source = 'U', .at = quotient, .second = f});
    if (const auto below = multiple(p - value, symbols_.divisor(quotient)))
      add(at_least_zero(self - *below), {.source = 'W', .at = quotient, .second = f});
  }
  static std::optional<Polynomial> multiple(const Polynomial& of, const Polynomial& q) {
    if (q.terms().size() != 1) return std::nullopt;
    Polynomial times;
    for (const auto& [monomial, coefficient] : of.terms()) {
      const auto rest = divide(monomial, q.terms()[0].first);
      if (!rest || coefficient % q.terms()[0].second != 0) return std::nullopt;
      times = times + Polynomial::term(*rest, coefficient / q.terms()[0].second);
    }
    return times;
  }
  void add_products() {
    for (int round = 0; round < 2; ++round) {
      std::set<Monomial> products;
      for (const Fact& fact : facts_) {
        for (const auto& [monomial, coefficient] : fact.value.terms()) {
          if (monomial.size() > 1) products.insert(monomial);
        }
      }
      const std::size_t before = facts_.size();
      for (const Monomial& product : products) {
        if (symbols_.at_least(product, 0)) {
          std::int64_t least = 1;
          for (const Symbol symbol : product) least *= std::min<std::int64_t>(*symbols_.least(symbol), 1);
          if (std::ranges::all_of(product, [&](Symbol s) { return *symbols_.least(s) <= 1; }))
            add(at_least_zero(Polynomial::term(product, 1) - least), {.source = 'P', .times = product});
        }
        for (std::size_t s = 0; s < product.size(); ++s) {
          if ((s > 0 && product[s] == product[s - 1]) || symbols_.least(product[s]).value_or(-1) < 0) continue;
          const Monomial others = *divide(product, {product[s]});
          for (std::size_t f = 0; f < before && facts_.size() < kMostNamedFacts; ++f) {
            if (facts_[f].value.coefficient(others) == 0 || uses_[f].source == 'P') continue;
            FactUse use = uses_[f];
            certified::Product times;
            std::ranges::merge(use.times, certified::Product{product[s]}, std::back_inserter(times));
            use.times = times;
            add({facts_[f].value * Polynomial::symbol(product[s]), facts_[f].is_equality}, std::move(use));
          }
        }
      }
      if (facts_.size() == before) return;
    }
  }

  const SymbolTable& symbols_;
  const std::vector<Fact>& given_;
  std::vector<Fact> facts_;
  std::vector<FactUse> uses_;
  std::set<Fact> there_;
};

}  // namespace

Polynomial polynomial_of(const certified::Polynomial& p) {
  Polynomial result;
  for (const auto& [product, coefficient] : p) result = result + Polynomial::term(product, coefficient);
  return result;
}

std::optional<std::vector<FactUse>> named_refutation(const SymbolTable& symbols, const std::vector<Fact>& facts,
                                                     std::int64_t& pivots) {
  return NamedFacts(symbols, facts).refutation(pivots);
}

}  // namespace rewright::theorem
