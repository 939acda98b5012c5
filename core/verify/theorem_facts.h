// What is known of sizes and indices, for the checker of theorems: symbols, facts, what follows from them by shares
// that an oracle names, and the values of the sizes of an equation.
#pragma once

#include <rewright/axiom/axiom.h>

#include <concepts>
#include <map>
#include <set>

#include "verify/theorem_arithmetic.h"

namespace rewright::certified {

class FactCheck {
 protected:
  FactCheck(const TypedAxiom& equation, Oracle& recorded, Oracle& tried)
      : equation_(equation), oracle_(&recorded), tried_(&tried) {}
  ~FactCheck() = default;

  static constexpr int kMostSteps = 400;

  // --- symbols and facts

  int new_symbol(Symbol entry) {
    symbols_.push_back(std::move(entry));
    return static_cast<int>(symbols_.size()) - 1;
  }
  int new_bound() { return new_symbol({Symbol::Kind::kBound, std::nullopt}); }
  [[nodiscard]] const Symbol& entry(int s) const { return symbols_[static_cast<std::size_t>(s)]; }
  template <std::predicate<int> Is>
  [[nodiscard]] bool mentions(const Polynomial& p, const Is& is) const {
    return std::ranges::any_of(p, [&](const auto& term) {
      return std::ranges::any_of(term.first, [&](int s) {
        return is(s) || (entry(s).kind == Symbol::Kind::kQuotient &&
                         (mentions(entry(s).dividend, is) || mentions(entry(s).divisor, is)));
      });
    });
  }
  [[nodiscard]] bool mentions(const Polynomial& p, int s) const {
    return mentions(p, [s](int other) { return other == s; });
  }
  [[nodiscard]] bool has_bound(const Polynomial& p) const {
    return mentions(p, [this](int s) { return entry(s).kind == Symbol::Kind::kBound; });
  }
  [[nodiscard]] bool all_natural(const Product& monomial) const {
    return std::ranges::all_of(monomial, [this](int s) { return entry(s).least.value_or(-1) >= 0; });
  }

  Fact fact_of(const FactUse& use, const std::vector<Fact>& facts) const {
    const auto symbol_at = [&](std::size_t place) -> const Symbol& {
      if (place >= symbols_.size()) refuse("a symbol that there is not");
      return symbols_[place];
    };
    const auto fact_at = [&](std::size_t place) -> const Fact& {
      if (place >= facts.size()) refuse("a fact that there is not");
      return facts[place];
    };
    const auto quotient_at = [&](std::size_t place) -> const Symbol& {
      if (symbol_at(place).kind != Symbol::Kind::kQuotient) refuse("a symbol that is no quotient");
      return symbols_[place];
    };
    const Polynomial self = symbol(static_cast<int>(use.at));
    switch (use.source) {
      case 'F': return tightened(fact_at(use.at));
      case 'L': {
        const Symbol& own = symbol_at(use.at);
        if (!own.least) refuse("a symbol without a least value");
        return at_least_zero(self - number(*own.least));
      }
      case 'D':
      case 'E': {
        const Symbol& q = quotient_at(use.at);
        const Polynomial rest = q.dividend - q.divisor * self;
        return tightened(at_least_zero(use.source == 'D' ? rest : q.divisor - number(1) - rest));
      }
      case 'U':
      case 'W': {
        const Symbol& q = quotient_at(use.at);
        const Fact& given = fact_at(use.second);
        if (given.is_equality) refuse("a bound from an equation");
        const Polynomial value = tightened(given).value;
        const Polynomial bound = use.source == 'U' ? value + q.dividend + number(1) : q.dividend - value;
        const auto times = multiple_of(bound, q.divisor);
        if (!times) refuse("a bound that the divisor does not divide");
        return at_least_zero(use.source == 'U' ? *times - number(1) - self : self - *times);
      }
      case 'M':
      case 'O': {
        const Symbol &inner = quotient_at(use.at), &outer = quotient_at(use.second);
        const auto times = multiple_of(outer.divisor, inner.divisor);
        if (inner.dividend != outer.dividend || !times) refuse("quotients that are not of one another");
        const Polynomial rest = self - *times * symbol(static_cast<int>(use.second));
        return at_least_zero(use.source == 'M' ? rest : *times - number(1) - rest);
      }
      default: refuse("a fact of an unknown kind");
    }
  }
  /// p / q for a q of one product.
  static std::optional<Polynomial> multiple_of(const Polynomial& p, const Polynomial& q) {
    if (q.size() != 1) return std::nullopt;
    Polynomial times;
    for (const auto& [monomial, coefficient] : p) {
      const auto rest = quotient(monomial, q.begin()->first);
      if (!rest || coefficient % q.begin()->second != 0) return std::nullopt;
      times[*rest] = coefficient / q.begin()->second;
    }
    return times;
  }
  void check_refutation(const std::vector<FactUse>& uses, const std::vector<Fact>& facts) const {
    std::map<Product, Fraction> total;
    for (const FactUse& use : uses) {
      if (use.second != 0 && std::string_view("UWMO").find(use.source) == std::string_view::npos)
        refuse("a second place of a fact that has one");
      if (use.source == 'P' && use.at != 0) refuse("a place of a product");
      if (!std::ranges::is_sorted(use.times)) refuse("a product out of order");
      for (const int s : use.times) {
        if (s < 0 || s >= static_cast<int>(symbols_.size())) refuse("a symbol that there is not");
      }
      Fact fact;
      if (use.source == 'P') {
        if (!all_natural(use.times)) refuse("a product of what may be negative");
        std::int64_t least = 1;
        for (const int s : use.times) least = product(least, *entry(s).least);
        fact = at_least_zero(Polynomial{{use.times, 1}} - number(least));
      } else {
        fact = fact_of(use, facts);
        if (!use.times.empty() && !fact.is_equality && !all_natural(use.times))
          refuse("a fact times what may be negative");
        Polynomial scaled;
        add_to(scaled, fact.value, 1, use.times);
        fact.value = scaled;
      }
      add_share(total, fact, use);
    }
    check_negative(total);
  }
  static void add_share(std::map<Product, Fraction>& total, const Fact& fact, const FactUse& use) {
    const Fraction weight = fraction(use.numerator, use.denominator);
    if (weight.numerator == 0) refuse("a share of 0");
    if (weight.numerator != use.numerator || weight.denominator != use.denominator)
      refuse("a share that is not in lowest terms");
    if (!fact.is_equality && weight.numerator < 0) refuse("a negative share of an inequality");
    for (const auto& [monomial, coefficient] : fact.value) {
      Fraction& entry = total[monomial];
      entry = add(entry, fraction(Wide{weight.numerator} * coefficient, weight.denominator));
    }
  }
  static void check_negative(const std::map<Product, Fraction>& total) {
    bool is_negative = false;
    for (const auto& [monomial, value] : total) {
      if (monomial.empty()) is_negative = value.numerator < 0;
      if (!monomial.empty() && value.numerator != 0) refuse("a combination in which something is left");
    }
    if (!is_negative) refuse("a combination that is not negative");
  }
  /// Runs where these hold besides.
  template <class Run>
  auto with(const std::vector<Fact>& more, const Run& run) {
    const std::size_t before = facts_.size();
    facts_.insert(facts_.end(), more.begin(), more.end());
    struct Restore {
      std::vector<Fact>& facts;
      std::size_t size;
      ~Restore() { facts.resize(size); }
    } restore{facts_, before};
    return run();
  }
  bool excluded(const std::vector<Fact>& more) {
    return with(more, [&] {
      const auto uses = oracle_->refutation(symbols_, facts_);
      if (uses) check_refutation(*uses, facts_);
      return uses.has_value();
    });
  }
  bool implied(const Fact& fact) {
    if (is_number(fact.value)) return fact.is_equality ? fact.value.empty() : constant_of(fact.value) >= 0;
    if (std::ranges::find(facts_, fact) != facts_.end()) return true;
    if (!fact.is_equality) return excluded({opposite(fact)});
    return excluded({at_least_zero(fact.value - number(1))}) && excluded({at_least_zero(number(-1) - fact.value)});
  }
  bool cannot_hold(const Fact& fact) {
    if (is_number(fact.value)) return fact.is_equality ? !fact.value.empty() : constant_of(fact.value) < 0;
    return excluded({fact});
  }
  /// Runs where only what holds in all cases is known.
  template <class Run>
  auto without_cases(const Run& run) {
    const auto first = facts_.begin() + static_cast<std::ptrdiff_t>(std::min(kept_, facts_.size()));
    struct Restore {
      std::vector<Fact>& facts;
      std::vector<Fact> cases;
      ~Restore() { facts.insert(facts.end(), cases.begin(), cases.end()); }
    } restore{facts_, {first, facts_.end()}};
    facts_.erase(first, facts_.end());
    return run();
  }
  template <class Run>
  bool trial(const Run& run) {
    const auto symbols = static_cast<std::ptrdiff_t>(symbols_.size());
    Oracle* const recorded = std::exchange(oracle_, tried_);
    bool result = false;
    try {
      result = run();
    } catch (const Refused&) {
    } catch (const CaseSplit&) {
    }
    oracle_ = recorded;
    symbols_.erase(symbols_.begin() + symbols, symbols_.end());
    std::erase_if(quotients_, [&](const auto& quotient) { return quotient.second >= symbols; });
    return result;
  }

  Polynomial floor_of(const Polynomial& p, const Polynomial& q) {
    if (is_number(q) && constant_of(q) == 1) return p;
    // A quotient outlives the case that it is met in: its divisor is positive by what holds in all of them.
    if (!without_cases([&] { return implied(at_least_zero(q - number(1))); }))
      outside("a divisor that is not known to be positive");
    Polynomial whole, rest;
    if (q.size() == 1) {
      for (const auto& [monomial, coefficient] : p) {
        const auto part = quotient(monomial, q.begin()->first);
        const std::int64_t times = part ? floor_divide(coefficient, q.begin()->second) : 0;
        if (part) add_to(whole, {{*part, 1}}, times);
        add_to(rest, {{monomial, 1}}, coefficient - times * q.begin()->second);
      }
    } else {
      rest = p;
      std::set<int> factors;
      for (const auto& [monomial, coefficient] : p) factors.insert(monomial.begin(), monomial.end());
      std::vector<Polynomial> tried{number(1)};
      for (const int s : factors) tried.push_back(symbol(s));
      for (const Polynomial& factor : tried) {
        for (const std::int64_t sign : {1, -1}) {
          const Polynomial less = rest - q * factor * number(sign);
          if (less.size() >= rest.size()) continue;
          rest = less;
          whole = whole + factor * number(sign);
        }
      }
    }
    for (const std::int64_t near : {0, -1, 1}) {
      const Polynomial remainder = rest - q * number(near);
      if (implied(at_least_zero(remainder)) && implied(at_least_zero(q - number(1) - remainder)))
        return whole + number(near);
    }
    if (rest.size() == 1 && rest.begin()->second == 1 && rest.begin()->first.size() == 1) {
      const Symbol inner = entry(rest.begin()->first[0]);
      if (inner.kind == Symbol::Kind::kQuotient) return whole + floor_of(inner.dividend, inner.divisor * q);
    }
    if (rest != p && !whole.empty()) return whole + floor_of(rest, q);
    const auto known = quotients_.find({rest, q});
    if (known != quotients_.end()) return whole + symbol(known->second);
    const bool is_natural =
        std::ranges::all_of(rest, [this](const auto& t) { return t.second > 0 && all_natural(t.first); });
    const int made =
        new_symbol({Symbol::Kind::kQuotient, is_natural ? std::optional<std::int64_t>(0) : std::nullopt, rest, q});
    quotients_.emplace(std::pair(rest, q), made);
    return whole + symbol(made);
  }
  Polynomial put(const Polynomial& p, const Map& map) {
    const auto is_mapped = [&](int s) { return map.contains(s); };
    if (!mentions(p, is_mapped)) return p;
    Polynomial result;
    for (const auto& [monomial, coefficient] : p) {
      Polynomial value = number(coefficient);
      for (const int s : monomial) {
        const auto found = map.find(s);
        if (found != map.end()) {
          value = value * found->second;
        } else if (entry(s).kind == Symbol::Kind::kQuotient && mentions(symbol(s), is_mapped)) {
          const Polynomial dividend = entry(s).dividend, divisor = entry(s).divisor;
          const Polynomial changed = put(dividend, map);
          value = value * floor_of(changed, put(divisor, map));
        } else {
          value = value * symbol(s);
        }
      }
      result = result + value;
    }
    return result;
  }

  // --- sizes

  Polynomial value_of(const SymbolicDim& dim) {
    Polynomial result = number(dim.constant_term());
    for (const SymbolicDim::Atom& atom : dim.atoms()) {
      Polynomial factor;
      if (atom.kind == SymbolicDim::Atom::Kind::kVariable) {
        const auto found = sizes_.find(*atom.variable);
        if (found == sizes_.end()) outside("a size without a value");
        factor = found->second;
      } else if (atom.kind == SymbolicDim::Atom::Kind::kQuotient) {
        factor = floor_of(value_of(*atom.left), number(atom.divisor));
      } else {
        factor = value_of(*atom.left) * value_of(*atom.right);
      }
      result = result + factor * number(atom.coefficient);
    }
    return result;
  }
  /// p without common factors that are at least 1; p = 0 says the same of it.
  Polynomial stripped(Polynomial p) const {
    std::set<int> all;
    for (const auto& [monomial, coefficient] : p) all.insert(monomial.begin(), monomial.end());
    for (const int s : all) {
      const auto has = [s](const auto& term) { return std::ranges::find(term.first, s) != term.first.end(); };
      while (entry(s).least.value_or(0) >= 1 && !p.empty() && std::ranges::all_of(p, has)) {
        Polynomial less;
        for (const auto& [monomial, coefficient] : p) less[*quotient(monomial, {s})] = coefficient;
        p = less;
      }
    }
    std::int64_t content = 0;
    for (const auto& [monomial, coefficient] : p) content = std::gcd(content, coefficient);
    if (content > 1) {
      for (auto& [monomial, coefficient] : p) coefficient /= content;
    }
    return p;
  }
  struct Linear {
    std::int64_t sign;
    Polynomial rest;  ///< sign * symbol + rest = p.
  };
  [[nodiscard]] std::optional<Linear> linear(const Polynomial& p, int s) const {
    const auto found = p.find({s});
    if (found == p.end() || (found->second != 1 && found->second != -1)) return std::nullopt;
    Linear part{found->second, p - Polynomial{{{s}, found->second}}};
    if (mentions(part.rest, s)) return std::nullopt;
    return part;
  }
  static Polynomial solution(const Linear& part) { return part.rest * number(-part.sign); }

  void solve_sizes() {
    std::vector<Constraint> constraints;
    for (const auto* list : {&equation_.left_defined, &equation_.right_defined, &equation_.condition})
      constraints.insert(constraints.end(), list->begin(), list->end());
    std::set<SizeVar> names;
    const auto note = [&](const SymbolicDim& dim) {
      for (const SizeVar name : dim.variables()) names.insert(name);
    };
    for (const TypedTerm& term : equation_.terms) {
      for (const SymbolicDim& dim : term.shape) note(dim);
      for (const auto& value : term.params.values()) {
        if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value)) std::ranges::for_each(list->values, note);
      }
    }
    for (const Constraint& constraint : constraints) {
      note(constraint.left);
      note(constraint.right);
    }
    std::vector<std::pair<Polynomial, std::int64_t>> bounds;
    const SizeOrder order(SizeOrder::Least::kOneInTensors);
    for (const SizeVar name : names) {
      sizes_.emplace(name, symbol(new_symbol({Symbol::Kind::kSize, order.least(name)})));
      bounds.emplace_back(sizes_.at(name), order.least(name));
    }
    std::map<std::size_t, Polynomial> parts;  // d | O: O = d q.
    std::set<int> quotients;
    const auto equation = [&](std::size_t c) -> Polynomial {
      const Constraint& constraint = constraints[c];
      if (constraint.kind == Constraint::Kind::kEqual) return value_of(constraint.left) - value_of(constraint.right);
      if (constraint.kind != Constraint::Kind::kDivides) return {};
      const Polynomial whole = value_of(constraint.right), divisor = value_of(constraint.left);
      if (!is_number(divisor) || constant_of(divisor) < 1) return {};
      if (std::ranges::all_of(whole, [&](const auto& t) { return t.second % constant_of(divisor) == 0; })) return {};
      if (!parts.contains(c)) {
        const int q = new_symbol({Symbol::Kind::kSize, std::nullopt});
        quotients.insert(q);
        parts.emplace(c, symbol(q));
      }
      return whole - divisor * parts.at(c);
    };
    const auto solve_one = [&] {
      for (std::size_t c = 0; c < constraints.size(); ++c) {
        const Polynomial p = stripped(equation(c));
        for (const bool of_quotients : {false, true}) {
          for (const auto& [monomial, coefficient] : p) {
            if (monomial.size() != 1 || entry(monomial[0]).kind != Symbol::Kind::kSize ||
                quotients.contains(monomial[0]) != of_quotients)
              continue;
            const auto part = linear(p, monomial[0]);
            if (!part) continue;
            const Map one{{monomial[0], solution(*part)}};
            for (auto& [name, size] : sizes_) size = put(size, one);
            for (auto& [place, q] : parts) q = put(q, one);
            for (auto& [size, least] : bounds) size = put(size, one);
            return true;
          }
        }
      }
      return false;
    };
    const auto pin_one = [&] {  // 1 <= s <= 1
      for (const Constraint& constraint : constraints) {
        if (constraint.kind != Constraint::Kind::kAtLeast) continue;
        const Polynomial rest = value_of(constraint.left) - value_of(constraint.right);
        for (const auto& [monomial, coefficient] : rest) {
          if (monomial.size() != 1 || coefficient != -1 || !entry(monomial[0]).least) continue;
          if (rest + symbol(monomial[0]) != number(*entry(monomial[0]).least)) continue;
          const Map one{{monomial[0], number(*entry(monomial[0]).least)}};
          for (auto& [name, size] : sizes_) size = put(size, one);
          for (auto& [place, q] : parts) q = put(q, one);
          for (auto& [size, least] : bounds) size = put(size, one);
          return true;
        }
      }
      return false;
    };
    for (int step = 0; solve_one() || pin_one(); ++step) {
      if (step > kMostSteps) outside("sizes that do not come to rest");
    }
    const auto learn = [&](const Fact& fact) {
      if (!is_number(fact.value) || !implied(fact)) facts_.push_back(tightened(fact));
    };
    for (const auto& [size, least] : bounds) learn(at_least_zero(size - number(least)));
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      if (const Polynomial p = equation(c); !p.empty()) learn(zero(p));
      if (constraints[c].kind == Constraint::Kind::kAtLeast)
        learn(at_least_zero(value_of(constraints[c].left) - value_of(constraints[c].right)));
    }
    for (const Fact& fact : facts_) {  // s - c >= 0
      if (fact.is_equality || fact.value.size() > 2 || fact.value.empty()) continue;
      const auto& [monomial, coefficient] = *fact.value.rbegin();
      if (monomial.size() != 1 || coefficient != 1 || entry(monomial[0]).kind != Symbol::Kind::kSize) continue;
      if (fact.value.size() == 2 && !fact.value.begin()->first.empty()) continue;
      auto& least = symbols_[static_cast<std::size_t>(monomial[0])].least;
      least = std::max(least.value_or(INT64_MIN), -constant_of(fact.value));
    }
    kept_ = facts_.size();
  }

  const TypedAxiom& equation_;
  Oracle* oracle_;
  Oracle* tried_;
  std::vector<Symbol> symbols_;
  std::map<std::pair<Polynomial, Polynomial>, int> quotients_;
  std::vector<Fact> facts_;
  std::size_t kept_ = 0;
  std::map<SizeVar, Polynomial> sizes_;
};

}  // namespace rewright::certified
