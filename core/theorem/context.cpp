#include "theorem/context.h"

#include <rewright/tensor/dim.h>

#include <algorithm>
#include <set>

#include "theorem/exact_rational.h"
#include "theorem/refutation.h"

namespace rewright::theorem {

namespace {

/// Products of facts and symbols that one question may have.
constexpr std::size_t kMostFacts = 160;

}  // namespace

void Context::add(const Fact& fact) {
  facts_.push_back(tightened(fact));
  const auto [found, is_new] = state_after_.emplace(std::pair(states_.back(), facts_.back()),
                                                    static_cast<std::uint32_t>(state_after_.size() + 1));
  states_.push_back(found->second);
  witnesses_.add(facts_.back());
}

void Context::raise_bounds() {
  for (const Fact& fact : facts_) {
    const auto symbols = fact.value.symbols();
    if (fact.is_equality || symbols.size() != 1 || symbols_.kind(symbols[0]) != SymbolKind::kSize) continue;
    // Tightened: the coefficient is 1 or -1.
    if (fact.value == Polynomial::symbol(symbols[0]) + fact.value.constant_term())
      symbols_.raise_least(symbols[0], checked_multiply(fact.value.constant_term(), -1));
  }
}

void Context::remove_from(std::size_t size) {
  facts_.resize(size);
  states_.resize(size + 1);
  witnesses_.keep(size);
}

bool Context::holds_by_bounds(const Polynomial& p) const {
  std::int64_t least = 0;
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (monomial.empty()) {
      least = checked_add(least, coefficient);
      continue;
    }
    if (coefficient < 0 || !symbols_.at_least(monomial, 0)) return false;
    std::int64_t product = coefficient;
    for (const Symbol symbol : monomial) product = checked_multiply(product, *symbols_.least(symbol));
    least = checked_add(least, product);
  }
  return least >= 0;
}

bool Context::holds_by_one_fact(const Polynomial& p) const {
  return std::ranges::any_of(facts_, [&](const Fact& fact) {
    return holds_by_bounds(p - fact.value) || (fact.is_equality && holds_by_bounds(p + fact.value));
  });
}

bool Context::holds(const Fact& fact) {
  if (const auto constant = fact.value.constant()) {
    if (fact.is_equality ? *constant == 0 : *constant >= 0) return true;
    return is_contradictory();
  }
  if (!fact.is_equality && holds_by_bounds(fact.value)) return true;
  if (std::ranges::find(facts_, fact) != facts_.end()) return true;
  if (witnesses_.refute(fact)) return false;
  if (!fact.is_equality && holds_by_one_fact(fact.value)) return true;
  ++queries_;
  const auto [found, is_new] = known_.emplace(std::pair(states_.back(), fact), false);
  if (!is_new) return found->second;
  const bool result = fact.is_equality ? refuted({at_least_zero(fact.value - 1)}) &&
                                             refuted({at_least_zero(Polynomial(-1) - fact.value)})
                                       : refuted({negation(fact)});
  known_[std::pair(states_.back(), fact)] = result;
  return result;
}

bool Context::holds_for_good(const Fact& fact) {
  if (holds_by_bounds(fact.value)) return true;
  const std::size_t kept = std::min(kept_, facts_.size());
  const std::vector<Fact> cases(facts_.begin() + static_cast<std::ptrdiff_t>(kept), facts_.end());
  remove_from(kept);
  const bool result = holds(fact);
  for (const Fact& one : cases) add(one);
  return result;
}

bool Context::fails(const Fact& fact) {
  if (witnesses_.allow(fact)) return false;
  if (!fact.is_equality) return holds(negation(fact));
  return holds(at_least_zero(fact.value - 1)) || holds(at_least_zero(Polynomial(-1) - fact.value)) || refuted({fact});
}

bool Context::is_contradictory() {
  if (witnesses_.any()) return false;
  ++queries_;
  const std::pair key(states_.back(), at_least_zero(-1));
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_[key] = refuted({});
}

/// The facts that share symbols with what is asked, directly or through others, and what is known of these symbols.
std::vector<Fact> Context::relevant(const std::vector<Fact>& negated) const {
  std::vector<Fact> result;
  for (const Fact& fact : negated) result.push_back(tightened(fact));
  std::set<Symbol> seen;
  std::vector<Symbol> open;
  const auto note = [&](const Polynomial& p) {
    for (const Symbol symbol : p.symbols()) {
      if (seen.insert(symbol).second) open.push_back(symbol);
    }
  };
  for (const Fact& fact : negated) note(fact.value);
  std::vector<bool> taken(facts_.size(), negated.empty());
  if (negated.empty()) {
    for (const Fact& fact : facts_) {
      result.push_back(fact);
      note(fact.value);
    }
  }
  std::vector<Symbol> quotients;
  while (!open.empty()) {
    const Symbol symbol = open.back();
    open.pop_back();
    if (const auto least = symbols_.least(symbol)) result.push_back(at_least_zero(Polynomial::symbol(symbol) - *least));
    if (symbols_.kind(symbol) == SymbolKind::kQuotient) {
      const Polynomial &p = symbols_.dividend(symbol), &q = symbols_.divisor(symbol);
      const Polynomial rest = p - q * Polynomial::symbol(symbol);
      for (const Polynomial& bound : {rest, q - 1 - rest}) {
        result.push_back(tightened(at_least_zero(bound)));
        note(bound);
      }
    }
    if (symbols_.kind(symbol) == SymbolKind::kQuotient) quotients.push_back(symbol);
    for (std::size_t f = 0; f < facts_.size(); ++f) {
      if (taken[f] || !facts_[f].value.mentions(symbol)) continue;
      taken[f] = true;
      result.push_back(facts_[f]);
      note(facts_[f].value);
    }
  }
  add_quotient_bounds(result, quotients);
  return result;
}

/// p < q c gives floor(p / q) < c, p >= q c gives floor(p / q) >= c; floor(p / (q r)) is floor(floor(p / q) / r).
void Context::add_quotient_bounds(std::vector<Fact>& facts, std::span<const Symbol> quotients) const {
  const std::size_t before = facts.size();
  for (const Symbol quotient : quotients) {
    const Polynomial &p = symbols_.dividend(quotient), &q = symbols_.divisor(quotient);
    if (q.terms().size() != 1) continue;
    const auto multiple = [&](const Polynomial& of) -> std::optional<Polynomial> {
      Polynomial times;
      for (const auto& [monomial, coefficient] : of.terms()) {
        const auto rest = divide(monomial, q.terms()[0].first);
        if (!rest || coefficient % q.terms()[0].second != 0) return std::nullopt;
        times = times + Polynomial::term(*rest, coefficient / q.terms()[0].second);
      }
      return times;
    };
    for (std::size_t f = 0; f < before; ++f) {
      if (facts[f].is_equality) continue;
      const Polynomial value = facts[f].value;
      if (const auto above = multiple(value + p + 1))
        facts.push_back(at_least_zero(*above - 1 - Polynomial::symbol(quotient)));
      if (const auto below = multiple(p - value)) facts.push_back(at_least_zero(Polynomial::symbol(quotient) - *below));
    }
    for (const Symbol other : quotients) {
      const Polynomial& larger = symbols_.divisor(other);
      if (other == quotient || !(symbols_.dividend(other) == p) || larger.terms().size() != 1) continue;
      const auto times = multiple(larger);
      if (!times) continue;
      const Polynomial rest = Polynomial::symbol(quotient) - *times * Polynomial::symbol(other);
      facts.push_back(at_least_zero(rest));
      facts.push_back(at_least_zero(*times - 1 - rest));
    }
  }
}

void Context::add_products(std::vector<Fact>& facts) const {
  std::set<Fact> there(facts.begin(), facts.end());
  for (int round = 0; round < 2; ++round) {
    std::set<Monomial> products;
    for (const Fact& fact : facts) {
      for (const auto& [monomial, coefficient] : fact.value.terms()) {
        if (monomial.size() > 1) products.insert(monomial);
      }
    }
    const std::size_t before = facts.size();
    for (const Monomial& product : products) {
      if (symbols_.at_least(product, 1)) {
        if (there.insert(at_least_zero(Polynomial::term(product, 1) - 1)).second)
          facts.push_back(at_least_zero(Polynomial::term(product, 1) - 1));
      } else if (symbols_.at_least(product, 0)) {
        if (there.insert(at_least_zero(Polynomial::term(product, 1))).second)
          facts.push_back(at_least_zero(Polynomial::term(product, 1)));
      }
      for (std::size_t s = 0; s < product.size(); ++s) {
        if (s > 0 && product[s] == product[s - 1]) continue;
        if (symbols_.least(product[s]).value_or(-1) < 0) continue;
        const Monomial others = *divide(product, {product[s]});
        for (std::size_t f = 0; f < before && facts.size() < kMostFacts; ++f) {
          if (facts[f].value.coefficient(others) == 0) continue;
          Fact lemma{facts[f].value * Polynomial::symbol(product[s]), facts[f].is_equality};
          if (there.insert(lemma).second) facts.push_back(std::move(lemma));
        }
      }
    }
    if (facts.size() == before) return;
  }
}

bool Context::refuted(const std::vector<Fact>& negated) {
  std::vector<Fact> facts = relevant(negated);
  const auto is_shown = [&] {
    const auto combination = refute(facts, pivots_);
    if (pivots_ <= 0) throw Unsupported{"the work that one proof may take is spent"};
    return combination && is_refutation(facts, *combination);
  };
  if (is_shown()) return true;
  const std::size_t before = facts.size();
  add_products(facts);
  return facts.size() > before && is_shown();
}

Polynomial Context::floor_divide(const Polynomial& dividend, const Polynomial& divisor) {
  if (divisor.constant() == 1) return dividend;
  if (!holds_for_good(at_least_zero(divisor - 1))) {
    for (const Symbol symbol : divisor.symbols()) {
      if (symbols_.kind(symbol) == SymbolKind::kSize && symbols_.least(symbol) == 0)
        throw UnclearSize{symbols_.text(Polynomial::symbol(symbol))};
    }
    throw Unsupported{"a divisor that is not known to be positive: " + symbols_.text(divisor)};
  }
  // dividend = divisor * whole + rest
  Polynomial whole, rest;
  if (divisor.terms().size() == 1) {
    const auto& [monomial, coefficient] = divisor.terms()[0];
    for (const auto& [product, count] : dividend.terms()) {
      const auto quotient = divide(product, monomial);
      const std::int64_t times = quotient ? rewright::floor_divide(count, coefficient) : 0;
      if (quotient) whole = whole + Polynomial::term(*quotient, times);
      rest = rest + Polynomial::term(product, count - times * coefficient);
    }
  } else {
    rest = dividend;
    std::vector<Polynomial> tried{1};
    for (const Symbol symbol : dividend.symbols()) tried.push_back(Polynomial::symbol(symbol));
    for (const Polynomial& factor : tried) {
      for (const std::int64_t sign : {1, -1}) {
        const Polynomial less = rest - divisor * factor * Polynomial(sign);
        if (less.terms().size() >= rest.terms().size()) continue;
        rest = less;
        whole = whole + factor * Polynomial(sign);
      }
    }
  }
  for (const std::int64_t near : {0, -1, 1}) {
    const Polynomial remainder = rest - divisor * Polynomial(near);
    if (holds(at_least_zero(remainder)) && holds(at_least_zero(divisor - 1 - remainder))) return whole + near;
  }
  // floor(floor(p / q) / r) = floor(p / (q r))
  if (const auto inner = rest.sole_symbol(); inner && symbols_.kind(*inner) == SymbolKind::kQuotient) {
    const Polynomial p = symbols_.dividend(*inner), q = symbols_.divisor(*inner);
    return whole + floor_divide(p, q * divisor);
  }
  if (!(rest == dividend) && !whole.is_zero()) return whole + floor_divide(rest, divisor);
  return whole + Polynomial::symbol(symbols_.quotient(rest, divisor));
}

Polynomial Context::substitute(const Polynomial& p, const SymbolMap& map) {
  if (map.empty() || !symbols_.mentions_any(p, map)) return p;
  Polynomial result;
  for (const auto& [monomial, coefficient] : p.terms()) {
    Polynomial product = coefficient;
    for (const Symbol symbol : monomial) {
      const auto found = map.find(symbol);
      if (found != map.end()) {
        product = product * found->second;
      } else if (symbols_.kind(symbol) == SymbolKind::kQuotient &&
                 symbols_.mentions_any(Polynomial::symbol(symbol), map)) {
        const Polynomial dividend = symbols_.dividend(symbol), divisor = symbols_.divisor(symbol);
        product = product * floor_divide(substitute(dividend, map), substitute(divisor, map));
      } else {
        product = product * Polynomial::symbol(symbol);
      }
    }
    result = result + product;
  }
  return result;
}

}  // namespace rewright::theorem
