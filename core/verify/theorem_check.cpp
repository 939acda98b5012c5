#include <rewright/tensor/linear.h>
#include <rewright/verify/theorem_certificate.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>

#include "tensor/real.h"

namespace rewright::certified {

Trial::~Trial() = default;
Oracle::~Oracle() = default;

namespace {

/// Ends a check: what is outside of the rules, or an answer that is wrong.
struct Refused {
  ErrorCode code;
  std::string why;
};
[[noreturn]] void refuse(std::string why) { throw Refused{ErrorCode::kMismatch, std::move(why)}; }
[[noreturn]] void outside(std::string why) { throw Refused{ErrorCode::kUnsupported, std::move(why)}; }
/// What is to prove falls into cases.
struct CaseSplit {
  Fact guard;
};

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) outside("a number passes 63 bits");
  return result;
}
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) outside("a number passes 63 bits");
  return result;
}

// --- polynomials -------------------------------------------------------------------------------------------------

Polynomial number(std::int64_t value) { return value == 0 ? Polynomial{} : Polynomial{{Product{}, value}}; }
Polynomial symbol(int s) { return {{Product{s}, 1}}; }
void add_to(Polynomial& into, const Polynomial& p, std::int64_t times, const Product& with = {}) {
  for (const auto& [monomial, coefficient] : p) {
    Product both;
    std::ranges::merge(monomial, with, std::back_inserter(both));
    std::int64_t& entry = into[both];
    entry = sum(entry, product(coefficient, times));
    if (entry == 0) into.erase(both);
  }
}
Polynomial operator+(Polynomial a, const Polynomial& b) {
  add_to(a, b, 1);
  return a;
}
Polynomial operator-(Polynomial a, const Polynomial& b) {
  add_to(a, b, -1);
  return a;
}
Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [monomial, coefficient] : b) add_to(result, a, coefficient, monomial);
  return result;
}
std::int64_t constant_of(const Polynomial& p) {
  const auto found = p.find(Product{});
  return found == p.end() ? 0 : found->second;
}
bool is_number(const Polynomial& p) { return p.empty() || (p.size() == 1 && p.begin()->first.empty()); }
std::optional<Product> quotient(const Product& whole, const Product& part) {
  if (!std::ranges::includes(whole, part)) return std::nullopt;
  Product rest;
  std::ranges::set_difference(whole, part, std::back_inserter(rest));
  return rest;
}
Fact at_least_zero(Polynomial p) { return {std::move(p), false}; }
Fact zero(Polynomial p) { return {std::move(p), true}; }
Fact opposite(const Fact& fact) { return at_least_zero(number(-1) - fact.value); }
/// One after the other they cover all integers.
std::vector<Fact> cases_of(const Fact& fact) {
  if (!fact.is_equality) return {fact, opposite(fact)};
  return {fact, at_least_zero(fact.value - number(1)), at_least_zero(number(-1) - fact.value)};
}
/// g p + c >= 0 says p + floor(c / g) >= 0 of integers.
Fact tightened(const Fact& fact) {
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
Fraction fraction(Wide n, Wide d) {
  if (d == 0) refuse("a fraction without a denominator");
  Wide a = n < 0 ? -n : n, b = d < 0 ? -d : d;
  while (b != 0) std::swap(a %= b, b);
  if (d < 0) a = -a;
  n /= a;
  d /= a;
  if (n > INT64_MAX || n < -INT64_MAX || d > INT64_MAX) outside("a number passes 63 bits");
  return {static_cast<std::int64_t>(n), static_cast<std::int64_t>(d)};
}
Fraction add(const Fraction& a, const Fraction& b) {
  return fraction(Wide{a.numerator} * b.denominator + Wide{b.numerator} * a.denominator,
                  Wide{a.denominator} * b.denominator);
}

using Map = std::map<int, Polynomial>;

// --- the machine -------------------------------------------------------------------------------------------------

class Machine final : public Trial {
 public:
  Machine(const TypedAxiom& equation, Oracle& recorded, Oracle& tried)
      : equation_(equation), oracle_(&recorded), tried_(&tried) {}

  void run() {
    solve_sizes();
    const SymbolicShape &left = equation_.terms[equation_.left].shape, &right = equation_.terms[equation_.right].shape;
    for (int axis = 0; axis < left.rank(); ++axis) {
      const Polynomial size = value_of(left[axis]);
      if (!implied(zero(size - value_of(right[axis])))) throw Refused{ErrorCode::kNotFound, "the sides differ in size"};
      index_.push_back(symbol(new_symbol({Symbol::Kind::kIndex, 0})));
      facts_.push_back(at_least_zero(size - index_.back() - number(1)));
    }
    kept_ = facts_.size();
    for (const TypedTerm& term : equation_.terms) {
      if (!term.variable) continue;
      if (*term.variable >= shapes_.size()) shapes_.resize(*term.variable + 1);
      for (const SymbolicDim& dim : term.shape) shapes_[*term.variable].push_back(value_of(dim));
    }
    prove_case(0);
  }

  bool fits(const Term& first, const Term& term, const Member& member) override {
    return trial([&] { return aligned(first, term, member).has_value(); });
  }
  bool covers(const Branch& branch, const Branch& other, const std::vector<Polynomial>& map) override {
    return trial([&] { return is_covered(branch, other, map); });
  }
  bool cancels(const std::vector<Term>& terms, const std::vector<Member>& group) override {
    return trial([&] { return group_vanishes(terms, group); });
  }

 private:
  static constexpr int kMostCases = 14, kMostSteps = 400;

  // --- symbols and facts

  int new_symbol(Symbol entry) {
    symbols_.push_back(std::move(entry));
    return static_cast<int>(symbols_.size()) - 1;
  }
  int new_bound() { return new_symbol({Symbol::Kind::kBound, std::nullopt}); }
  [[nodiscard]] const Symbol& entry(int s) const { return symbols_[static_cast<std::size_t>(s)]; }
  [[nodiscard]] bool mentions(const Polynomial& p, const std::function<bool(int)>& is) const {
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
  bool excluded(std::vector<Fact> more) {
    std::vector<Fact> facts = facts_;
    facts.insert(facts.end(), more.begin(), more.end());
    const auto uses = oracle_->refutation(symbols_, facts);
    if (!uses) return false;
    check_refutation(*uses, facts);
    return true;
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
  template <class Run>
  bool trial(const Run& run) {
    const std::vector<Symbol> symbols = symbols_;
    const auto quotients = quotients_;
    const std::vector<Fact> facts = facts_;
    Oracle* const recorded = std::exchange(oracle_, tried_);
    bool result = false;
    try {
      result = run();
    } catch (const Refused&) {
    } catch (const CaseSplit&) {
    }
    oracle_ = recorded;
    symbols_ = symbols;
    quotients_ = quotients;
    facts_ = facts;
    return result;
  }

  Polynomial floor_of(const Polynomial& p, const Polynomial& q) {
    if (is_number(q) && constant_of(q) == 1) return p;
    {
      // A quotient outlives the case that it is met in: its divisor is positive by what holds in all of them.
      const std::vector<Fact> facts = facts_;
      facts_.resize(std::min(kept_, facts_.size()));
      const bool is_positive = implied(at_least_zero(q - number(1)));
      facts_ = facts;
      if (!is_positive) outside("a divisor that is not known to be positive");
    }
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

  // --- values

  using Sum = std::vector<Term>;
  using Places = std::map<std::uint32_t, Polynomial>;

  Term renamed(const Term& term) {
    Map map;
    Term copy = term;
    for (int& s : copy.bound) {
      const int fresh = new_bound();
      map.emplace(s, symbol(fresh));
      s = fresh;
    }
    return put(copy, map);
  }
  Sum renamed(const Sum& all) {
    Sum result;
    for (const Term& term : all) result.push_back(renamed(term));
    return result;
  }
  std::vector<Fact> put(const std::vector<Fact>& facts, const Map& map) {
    std::vector<Fact> result;
    for (const Fact& fact : facts) result.push_back({put(fact.value, map), fact.is_equality});
    return result;
  }
  Factor put(const Factor& factor, const Map& map) {
    Factor result = factor;
    for (Polynomial& p : result.at) p = put(p, map);
    for (Term& term : result.argument) term = put(term, map);
    for (Branch& branch : result.branches) {
      branch.guards = put(branch.guards, map);
      for (Term& term : branch.value) term = put(term, map);
    }
    return result;
  }
  Term put(const Term& term, const Map& map) {
    if (map.empty()) return term;
    Term result = term;
    result.guards = put(term.guards, map);
    return with(result.guards, [&] {
      for (Factor& factor : result.factors) factor = put(factor, map);
      return result;
    });
  }
  static Sum joined(Sum a, const Sum& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Sum scaled(Sum all, const Fraction& by) {
    for (Term& term : all) {
      const Fraction f = fraction(Wide{term.numerator} * by.numerator, Wide{term.denominator} * by.denominator);
      term.numerator = f.numerator;
      term.denominator = f.denominator;
    }
    return all;
  }
  Sum times(const Sum& a, const Sum& b) {
    Sum result;
    for (const Term& left : a) {
      for (const Term& other : b) {
        const Term right = renamed(other);
        Term both = scaled({left}, {right.numerator, right.denominator})[0];
        both.bound.insert(both.bound.end(), right.bound.begin(), right.bound.end());
        both.guards.insert(both.guards.end(), right.guards.begin(), right.guards.end());
        both.factors.insert(both.factors.end(), right.factors.begin(), right.factors.end());
        result.push_back(std::move(both));
      }
    }
    return result;
  }
  /// sum over `bound` of [guards] * body
  Sum over(const std::vector<int>& bound, const std::vector<Fact>& guards, const Sum& body) {
    Sum result;
    for (Term term : body) {
      term.bound.insert(term.bound.begin(), bound.begin(), bound.end());
      term.guards.insert(term.guards.begin(), guards.begin(), guards.end());
      result.push_back(bound.empty() ? std::move(term) : renamed(term));
    }
    return result;
  }
  static Sum one(Factor factor) {
    Term term;
    term.factors.push_back(std::move(factor));
    return {std::move(term)};
  }
  static Sum constant(const Fraction& value) {
    if (value.numerator == 0) return {};
    return scaled({Term{}}, value);
  }
  Sum integer(const Polynomial& p) {
    Sum result;
    for (const auto& [monomial, coefficient] : p) {
      Term term{.numerator = coefficient};
      for (const int s : monomial) term.factors.push_back({.kind = Factor::Kind::kInteger, .at = {symbol(s)}});
      result.push_back(std::move(term));
    }
    return result;
  }

  // --- definitions

  const Definition& definition_of(std::uint32_t term) {
    const auto found = definitions_.find(term);
    if (found != definitions_.end()) return found->second;
    std::vector<SymbolicShape> in;
    for (const std::uint32_t operand : equation_.terms[term].operands) in.push_back(equation_.terms[operand].shape);
    auto definition = equation_.terms[term].op->definition(equation_.terms[term].params, in);
    if (!definition) outside(definition.error().message);
    return definitions_.emplace(term, *std::move(definition)).first->second;
  }
  Sum element(std::uint32_t term, const std::vector<Polynomial>& at) {
    const TypedTerm& typed = equation_.terms[term];
    if (typed.variable) return one({.kind = Factor::Kind::kElement, .which = *typed.variable, .at = at});
    return read(term, {static_cast<std::uint32_t>(typed.operands.size()) + typed.output}, at);
  }
  Sum read(std::uint32_t term, BufferId buffer, const std::vector<Polynomial>& at) {
    const Definition& definition = definition_of(term);
    if (definition[buffer].role == BufferRole::kInput) return element(equation_.terms[term].operands[buffer.value], at);
    Sum result;
    for (const Stage& stage : definition.stages) {
      if (stage.target == buffer) result = joined(result, stage_value(term, stage, at));
    }
    return result;
  }
  Sum stage_value(std::uint32_t term, const Stage& stage, const std::vector<Polynomial>& at) {
    if (serial_axis(stage) != nullptr) outside("a recurrence");
    Places places;
    std::vector<Fact> guards;
    std::set<std::uint32_t> whole;
    for (std::size_t d = 0; d < stage.at.size(); ++d) {
      const auto form = affine(stage.at[d]);
      if (!form || form->terms.size() > 1 || (form->terms.size() == 1 && !(form->terms[0].second == SymbolicDim(1))))
        outside("a stage that writes at an index that is not an axis");
      const Polynomial place = at[d] - value_of(form->constant);
      if (form->terms.empty()) {
        guards.push_back(zero(place));
        continue;
      }
      const std::uint32_t axis = form->terms[0].first.id;
      if (!places.emplace(axis, place).second) outside("a stage that writes on a diagonal");
      if (stage.at[d] == IndexExpr(form->terms[0].first)) {
        for (const AxisRange& range : stage.axes) {
          if (range.axis.id == axis &&
              index(term, range.extent, places) == index(term, definition_of(term)[stage.target].sizes[d], places))
            whole.insert(axis);
        }
      }
    }
    for (const AxisRange& range : stage.axes) {
      if (!places.contains(range.axis.id)) outside("a stage that writes twice");
      if (whole.contains(range.axis.id)) continue;
      const Polynomial& place = places.at(range.axis.id);
      guards.push_back(at_least_zero(place));
      guards.push_back(at_least_zero(index(term, range.extent, places) - place - number(1)));
    }
    for (const IndexCondition& condition : stage.where) guards.push_back(fact_of(term, condition, places));
    return where(guards, [&] { return value(term, stage.value, places); });
  }
  template <class Make>
  Sum where(const std::vector<Fact>& guards, const Make& make) {
    std::vector<Fact> kept;
    for (const Fact& guard : guards) {
      if (implied(guard)) continue;
      if (cannot_hold(guard)) return {};
      if (!has_bound(guard.value)) throw CaseSplit{guard};
      kept.push_back(guard);
    }
    return with(kept, [&] { return over({}, kept, make()); });
  }
  Polynomial index(std::uint32_t term, const IndexExpr& expression, const Places& places) {
    if (const auto size = expression.size()) return value_of(*size);
    const auto operand = [&](std::size_t k) { return index(term, expression.operands()[k], places); };
    switch (expression.kind()) {
      case IndexExpr::Kind::kAxis:
        if (!places.contains(expression.axis().id)) outside("an axis outside of its loop");
        return places.at(expression.axis().id);
      case IndexExpr::Kind::kAdd: return operand(0) + operand(1);
      case IndexExpr::Kind::kSubtract: return operand(0) - operand(1);
      case IndexExpr::Kind::kMultiply: return operand(0) * operand(1);
      case IndexExpr::Kind::kFloor: {
        const Polynomial p = operand(0);
        return floor_of(p, operand(1));
      }
      case IndexExpr::Kind::kModulo: {
        const Polynomial p = operand(0), q = operand(1);
        return p - q * floor_of(p, q);
      }
      default: break;
    }
    // A table of numbers, written by one stage.
    const Definition& definition = definition_of(term);
    const Stage* table = nullptr;
    for (const Stage& stage : definition.stages) {
      if (stage.target != expression.buffer()) continue;
      if (table != nullptr || stage.axes.size() != 1 || !stage.where.empty()) outside("a table of parts");
      table = &stage;
    }
    if (table == nullptr || expression.operands().size() != 3 ||
        definition[expression.buffer()].role == BufferRole::kInput)
      outside("an index that is data");
    return number_in(term, table->value, {{table->axes[0].axis.id, operand(2)}});
  }
  Polynomial number_in(std::uint32_t term, const ValueExpr& expression, const Places& places) {
    if (expression.kind() == ValueExpr::Kind::kIndex) return index(term, expression.indices()[0], places);
    if (expression.kind() != ValueExpr::Kind::kSelect) outside("a table of what is no number");
    const Choice all = choice(term, expression.operands()[0], places);
    if (all.yes.size() != 1 || all.yes[0].size() != 1) outside("a table of involved cases");
    if (implied(all.yes[0][0])) return number_in(term, expression.operands()[1], places);
    if (cannot_hold(all.yes[0][0])) return number_in(term, expression.operands()[2], places);
    if (has_bound(all.yes[0][0].value)) outside("a table that is read inside of a sum");
    throw CaseSplit{all.yes[0][0]};
  }
  Fact fact_of(std::uint32_t term, const IndexCondition& condition, const Places& places) {
    const Polynomial left = index(term, condition.left, places), right = index(term, condition.right, places);
    if (condition.relation == IndexCondition::Relation::kEqual) return zero(left - right);
    return at_least_zero(right - left - number(condition.relation == IndexCondition::Relation::kLess ? 1 : 0));
  }
  /// Lists of guards: exactly one of them holds where the condition does (yes), or does not (no).
  struct Choice {
    std::vector<std::vector<Fact>> yes, no;
  };
  Choice choice(std::uint32_t term, const ValueExpr& expression, const Places& places) {
    const auto both = [](const auto& a, const auto& b) {
      std::vector<std::vector<Fact>> all;
      for (const auto& left : a) {
        for (const auto& right : b) {
          all.push_back(left);
          all.back().insert(all.back().end(), right.begin(), right.end());
        }
      }
      return all;
    };
    const auto either = [](auto a, const auto& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    const auto part = [&](std::size_t k) { return choice(term, expression.operands()[k], places); };
    const auto whole = [&](std::size_t k) {
      if (expression.operands()[k].kind() != ValueExpr::Kind::kIndex) outside("a condition on values");
      return index(term, expression.operands()[k].indices()[0], places);
    };
    switch (expression.kind()) {
      case ValueExpr::Kind::kNot: {
        const Choice inner = part(0);
        return {inner.no, inner.yes};
      }
      case ValueExpr::Kind::kAnd: {
        const Choice a = part(0), b = part(1);
        return {both(a.yes, b.yes), either(a.no, both(a.yes, b.no))};
      }
      case ValueExpr::Kind::kOr: {
        const Choice a = part(0), b = part(1);
        return {either(a.yes, both(a.no, b.yes)), both(a.no, b.no)};
      }
      case ValueExpr::Kind::kEqual:
      case ValueExpr::Kind::kLess:
      case ValueExpr::Kind::kLessEqual: {
        const Polynomial left = whole(0), right = whole(1);
        const bool is_less = expression.kind() == ValueExpr::Kind::kLess;
        const std::vector<Fact> all = cases_of(expression.kind() == ValueExpr::Kind::kEqual
                                                   ? zero(left - right)
                                                   : at_least_zero(right - left - number(is_less ? 1 : 0)));
        Choice result{{{all[0]}}, {}};
        for (std::size_t c = 1; c < all.size(); ++c) result.no.push_back({all[c]});
        return result;
      }
      default: outside("a condition on values");
    }
  }
  Sum value(std::uint32_t term, const ValueExpr& expression, const Places& places) {
    const auto operand = [&](std::size_t k) { return value(term, expression.operands()[k], places); };
    switch (expression.kind()) {
      case ValueExpr::Kind::kLoad: {
        std::vector<Polynomial> at;
        for (const IndexExpr& one : expression.indices()) at.push_back(index(term, one, places));
        return read(term, expression.buffer(), at);
      }
      case ValueExpr::Kind::kNumber: {
        if (!std::isfinite(expression.number())) outside("a parameter that is no number");
        const RealMeaning meant = meaning_of(expression.number());
        Fraction result{meant.numerator, meant.denominator};
        for (int i = 0; i < std::abs(meant.ten); ++i)
          result = fraction(Wide{result.numerator} * (meant.ten > 0 ? 10 : 1),
                            Wide{result.denominator} * (meant.ten > 0 ? 1 : 10));
        for (int i = 0; i < meant.two; ++i) result = fraction(Wide{result.numerator} * 2, result.denominator);
        return constant(result);
      }
      case ValueExpr::Kind::kIndex: return integer(index(term, expression.indices()[0], places));
      case ValueExpr::Kind::kAdd: {
        const Sum a = operand(0);
        return joined(a, operand(1));
      }
      case ValueExpr::Kind::kSubtract: {
        const Sum a = operand(0);
        return joined(a, scaled(operand(1), {-1, 1}));
      }
      case ValueExpr::Kind::kMultiply: {
        const Sum a = operand(0);
        return times(a, operand(1));
      }
      case ValueExpr::Kind::kDivide: {
        const Sum a = operand(0);
        return times(a, applied({.kind = Factor::Kind::kInverse}, operand(1), 0));
      }
      case ValueExpr::Kind::kCall:
        return applied({.kind = Factor::Kind::kCall, .which = static_cast<std::size_t>(expression.function())},
                       operand(0), 0);
      case ValueExpr::Kind::kMaximum:
      case ValueExpr::Kind::kMinimum: {
        const Fraction sign{expression.kind() == ValueExpr::Kind::kMaximum ? 1 : -1, 1};
        std::vector<Branch> branches;
        for (std::size_t k = 0; k < expression.operands().size(); ++k) {
          const ValueExpr& one = expression.operands()[k];
          if (one.kind() == ValueExpr::Kind::kNumber && std::isinf(one.number()) &&
              (one.number() > 0) == (sign.numerator < 0))
            continue;
          branches.push_back({{}, {}, scaled(operand(k), sign)});
        }
        return scaled(greatest(branches, 0), sign);
      }
      case ValueExpr::Kind::kSelect: {
        const Choice all = choice(term, expression.operands()[0], places);
        Sum result;
        for (const auto& guards : all.yes) result = joined(result, where(guards, [&] { return operand(1); }));
        for (const auto& guards : all.no) result = joined(result, where(guards, [&] { return operand(2); }));
        return result;
      }
      case ValueExpr::Kind::kReduce: break;
      default: outside("a value that is no real number");
    }
    Places inside = places;
    std::vector<int> bound;
    std::vector<Fact> guards;
    for (const AxisRange& range : expression.axes()) {
      bound.push_back(new_bound());
      inside[range.axis.id] = symbol(bound.back());
      guards.push_back(at_least_zero(symbol(bound.back())));
      guards.push_back(at_least_zero(index(term, range.extent, places) - symbol(bound.back()) - number(1)));
    }
    const std::vector<Fact> ranges = guards;
    with(ranges, [&] {
      for (const IndexCondition& condition : expression.guard()) guards.push_back(fact_of(term, condition, inside));
      return 0;
    });
    const Sum body = with(guards, [&] { return value(term, expression.operands()[0], inside); });
    if (expression.reduction() == ValueExpr::Reduction::kSum) return over(bound, guards, body);
    if (expression.reduction() != ValueExpr::Reduction::kMaximum) outside("a reduction of another kind");
    return greatest({{bound, guards, body}}, 0);
  }

  // --- rules

  [[nodiscard]] bool is_about(const Fact& fact, const std::vector<int>& bound) const {
    return std::ranges::any_of(bound, [&](int s) { return mentions(fact.value, s); });
  }
  /// f(sum): a guard that is not about the terms' own variables makes cases.
  Sum applied(Factor shape, const Sum& argument, int depth) {
    const Sum simple = simplified(argument);
    for (const Term& term : simple) {
      for (const Fact& guard : term.guards) {
        if (is_about(guard, term.bound)) continue;
        if (depth > 6) outside("a function of too many cases");
        Sum result;
        for (const Fact& fact : cases_of(guard))
          result = joined(result, with({fact}, [&] { return over({}, {fact}, applied(shape, simple, depth + 1)); }));
        return result;
      }
    }
    if (shape.kind == Factor::Kind::kCall) {
      if (auto value = by_law(static_cast<Function>(shape.which), simple)) return *std::move(value);
    }
    shape.argument = renamed(simple);
    return one(std::move(shape));
  }
  /// exp(a + b) = exp(a) exp(b), log(exp(a)) = a, sqrt(a a) = max{a, -a}, tanh(-a) = -tanh(a), erf(-a) = -erf(a)
  std::optional<Sum> by_law(Function function, const Sum& argument) {
    const Factor shape{.kind = Factor::Kind::kCall, .which = static_cast<std::size_t>(function)};
    if (function == Function::kExp && argument.size() > 1) {
      Sum result = constant({1, 1});
      for (const Term& term : argument) result = times(result, applied(shape, {term}, 0));
      return result;
    }
    if (function == Function::kTanh || function == Function::kErf) {
      if (argument.empty()) return Sum{};
      if (argument[0].numerator < 0) return scaled(applied(shape, scaled(argument, {-1, 1}), 0), {-1, 1});
    }
    const bool is_product = argument.size() == 1 && argument[0].numerator == 1 && argument[0].denominator == 1 &&
                            argument[0].bound.empty() && argument[0].guards.empty();
    if (!is_product) return std::nullopt;
    const std::vector<Factor>& factors = argument[0].factors;
    if (function == Function::kLog && factors.size() == 1 && factors[0].kind == Factor::Kind::kCall &&
        static_cast<Function>(factors[0].which) == Function::kExp)
      return renamed(factors[0].argument);
    if (function == Function::kSqrt && factors.size() == 2 && is_same(factors[0], factors[1]))
      return greatest({{{}, {}, one(factors[0])}, {{}, {}, scaled(one(factors[0]), {-1, 1})}}, 0);
    return std::nullopt;
  }
  Sum greatest(const std::vector<Branch>& branches, int depth) {
    std::vector<Branch> kept;
    for (Branch branch : branches) {
      if (!reduced(branch.guards)) continue;
      branch.value = with(branch.guards, [&] { return simplified(branch.value); });
      if (project(branch) && !reduced(branch.guards)) continue;
      std::vector<Fact> outer;
      for (const Fact& guard : branch.guards) {
        if (!is_about(guard, branch.bound)) outer.push_back(guard);
      }
      for (const Term& term : branch.value) {
        for (const Fact& guard : term.guards) {
          if (is_about(guard, term.bound)) continue;
          if (is_about(guard, branch.bound)) outside("a maximum of a value in cases");
          outer.push_back(guard);
        }
      }
      if (!outer.empty()) {
        if (depth > 6) outside("a maximum of too many cases");
        Sum result;
        for (const Fact& fact : cases_of(outer[0]))
          result = joined(result, with({fact}, [&] { return over({}, {fact}, greatest(branches, depth + 1)); }));
        return result;
      }
      kept.push_back(std::move(branch));
    }
    if (kept.empty()) outside("a greatest value over nothing");
    return plain_greatest(std::move(kept), depth);
  }
  /// max{v | a <= k <= b, ..} = max{v | a <= b, ..} for a v without k. Was there one?
  bool project(Branch& branch) const {
    bool changed = false;
    for (const int s : std::vector<int>(branch.bound)) {
      std::vector<Polynomial> low, high;
      std::vector<Fact> others;
      bool is_plain = !mentions(branch.value, s);
      for (const Fact& guard : branch.guards) {
        if (!mentions(guard.value, s)) {
          others.push_back(guard);
          continue;
        }
        const auto part = guard.is_equality ? std::nullopt : linear(guard.value, s);
        is_plain = is_plain && part;
        if (part) (part->sign > 0 ? low : high).push_back(solution(*part));
      }
      if (!is_plain) continue;
      for (const Polynomial& a : low) {
        for (const Polynomial& b : high) others.push_back(at_least_zero(b - a));
      }
      branch.guards = std::move(others);
      std::erase(branch.bound, s);
      changed = true;
    }
    return changed;
  }
  /// Takes out of all branches what is in every term and never negative, and does not change with their variables.
  std::vector<Factor> common_naturals(std::vector<Branch>& branches) const {
    std::vector<Factor> common;
    const auto first = std::ranges::find_if(branches, [](const Branch& branch) { return !branch.value.empty(); });
    if (first == branches.end()) return common;
    for (const Factor& factor : std::vector<Factor>(first->value[0].factors)) {
      const auto place_in = [&](const Term& term) {
        return std::ranges::find_if(term.factors, [&](const Factor& f) { return is_same(f, factor); });
      };
      const bool is_common =
          is_natural(factor) && std::ranges::all_of(branches, [&](const Branch& branch) {
            return std::ranges::none_of(branch.bound, [&](int s) { return mentions(factor, s); }) &&
                   std::ranges::all_of(branch.value, [&](const Term& term) {
                     return place_in(term) != term.factors.end() &&
                            std::ranges::none_of(term.bound, [&](int s) { return mentions(factor, s); });
                   });
          });
      if (!is_common) continue;
      for (Branch& branch : branches) {
        for (Term& term : branch.value) term.factors.erase(place_in(term));
      }
      common.push_back(factor);
    }
    return common;
  }
  Sum plain_greatest(std::vector<Branch> kept, int depth) {
    const auto is_always = [](const Branch& branch) { return branch.bound.empty() && branch.guards.empty(); };
    // max{0, a} = a for a >= 0
    const bool has_natural = std::ranges::any_of(kept, [&](const Branch& branch) {
      return is_always(branch) && !branch.value.empty() && is_natural(branch.value);
    });
    if (has_natural) std::erase_if(kept, [](const Branch& branch) { return branch.value.empty(); });
    for (std::size_t a = 0; a < kept.size(); ++a) {
      for (std::size_t b = kept.size(); b-- > a + 1;) {
        if (is_always(kept[a]) && is_always(kept[b]) && is_same(kept[a].value, kept[b].value))
          kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(b));
      }
    }
    if (kept.size() == 1 && is_always(kept[0])) return kept[0].value;
    // max{c max{a, b} + d, e} = max{c a + d, c b + d, e}
    for (std::size_t k = 0; k < kept.size(); ++k) {
      for (std::size_t t = 0; t < kept[k].value.size(); ++t) {
        const Term& term = kept[k].value[t];
        if (!term.bound.empty() || !term.guards.empty() || term.numerator < 0) continue;
        std::optional<std::size_t> inner;
        for (std::size_t f = 0; f < term.factors.size(); ++f) {
          Term rest = term;
          rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(f));
          if (term.factors[f].kind == Factor::Kind::kMaximum && is_natural(rest)) inner = f;
        }
        if (!inner) continue;
        if (kept.size() > 40) outside("a maximum of too many branches");
        const Factor maximum = term.factors[*inner];
        Term scale = term;
        scale.factors.erase(scale.factors.begin() + static_cast<std::ptrdiff_t>(*inner));
        Sum others = kept[k].value;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(t));
        std::vector<Branch> flat = kept;
        flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(k));
        for (const Branch& given : maximum.branches) {
          const Branch branch = renamed(given);
          Branch whole = kept[k];
          whole.bound.insert(whole.bound.end(), branch.bound.begin(), branch.bound.end());
          whole.guards.insert(whole.guards.end(), branch.guards.begin(), branch.guards.end());
          whole.value = joined(renamed(others), times({scale}, branch.value));
          flat.push_back(std::move(whole));
        }
        return greatest(flat, depth);
      }
    }
    // max{f a, f b} = f max{a, b} for f >= 0; max{c a, c b} = c max{a, b}
    if (std::vector<Factor> common = common_naturals(kept); !common.empty()) {
      Term outside_of;
      outside_of.factors = std::move(common);
      return times({outside_of}, plain_greatest(std::move(kept), depth));
    }
    Fraction scale{0, 1};
    for (const Branch& branch : kept) {
      for (const Term& term : branch.value) {
        scale = {std::gcd(scale.numerator, term.numerator),
                 product(scale.denominator / std::gcd(scale.denominator, term.denominator), term.denominator)};
      }
    }
    if (scale.numerator == 0) scale = {1, 1};
    Factor maximum{.kind = Factor::Kind::kMaximum};
    for (Branch& branch : kept) {
      branch.value = scaled(branch.value, {scale.denominator, scale.numerator});
      maximum.branches.push_back(renamed(branch));
    }
    return scaled(one(std::move(maximum)), scale);
  }
  /// Its variables, and those inside, by new names.
  Branch renamed(const Branch& branch) {
    Map map;
    Branch copy = branch;
    for (int& s : copy.bound) {
      const int fresh = new_bound();
      map.emplace(s, symbol(fresh));
      s = fresh;
    }
    copy.guards = put(branch.guards, map);
    copy.value = with(copy.guards, [&] {
      Sum values;
      for (const Term& term : renamed(branch.value)) values.push_back(put(term, map));
      return values;
    });
    return copy;
  }

  /// Never negative: sums of products of squares and of what is never negative.
  [[nodiscard]] bool is_natural(const Sum& all) const {
    return std::ranges::all_of(all, [this](const Term& term) { return is_natural(term); });
  }
  [[nodiscard]] bool is_natural(const Term& term) const {
    std::vector<const Factor*> rest;
    for (const Factor& factor : term.factors) {
      if (is_natural(factor)) continue;
      const auto twin = std::ranges::find_if(rest, [&](const Factor* other) { return is_same(*other, factor); });
      if (twin == rest.end()) {
        rest.push_back(&factor);
      } else {
        rest.erase(twin);
      }
    }
    return term.numerator > 0 && rest.empty();
  }
  [[nodiscard]] bool is_natural(const Factor& factor) const {
    switch (factor.kind) {
      case Factor::Kind::kElement: return false;
      case Factor::Kind::kInteger:
        return factor.at[0].size() == 1 && factor.at[0].begin()->second > 0 && all_natural(factor.at[0].begin()->first);
      case Factor::Kind::kCall: {
        const auto function = static_cast<Function>(factor.which);
        return function == Function::kExp || function == Function::kSqrt || function == Function::kSigmoid;
      }
      case Factor::Kind::kInverse: return is_natural(factor.argument);
      case Factor::Kind::kMaximum: break;
    }
    return std::ranges::all_of(factor.branches, [this](const Branch& branch) { return is_natural(branch.value); }) ||
           std::ranges::any_of(factor.branches, [this](const Branch& branch) {
             return branch.bound.empty() && branch.guards.empty() && is_natural(branch.value);
           });
  }
  /// Written alike, to the names.
  static bool is_same(const Factor& a, const Factor& b) {
    return a.kind == b.kind && a.which == b.which && a.at == b.at && is_same(a.argument, b.argument) &&
           std::ranges::equal(a.branches, b.branches, [](const Branch& x, const Branch& y) {
             return x.bound == y.bound && x.guards == y.guards && is_same(x.value, y.value);
           });
  }
  static bool is_same(const Sum& a, const Sum& b) {
    return std::ranges::equal(a, b, [](const Term& x, const Term& y) {
      return x.numerator == y.numerator && x.denominator == y.denominator && x.bound == y.bound &&
             x.guards == y.guards &&
             std::ranges::equal(x.factors, y.factors, [](const Factor& f, const Factor& g) { return is_same(f, g); });
    });
  }
  /// Without what follows from the facts and from the other guards; false where they cannot hold.
  bool reduced(std::vector<Fact>& guards) {
    std::vector<Fact> kept;
    for (const Fact& guard : guards) {
      if (std::ranges::find(kept, guard) != kept.end() || implied(guard)) continue;
      if (cannot_hold(guard)) return false;
      if (!has_bound(guard.value)) throw CaseSplit{guard};
      kept.push_back(guard);
    }
    for (std::size_t a = 0; a < kept.size(); ++a) {
      for (std::size_t b = a + 1; b < kept.size(); ++b) {
        if (kept[a].is_equality || kept[b].is_equality || !(kept[a].value + kept[b].value).empty()) continue;
        kept[a].is_equality = true;
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(b));
        break;
      }
    }
    if (!kept.empty() && with(kept, [&] { return excluded({}); })) return false;
    for (std::size_t g = 0; g < kept.size();) {
      std::vector<Fact> others = kept;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(g));
      if (with(others, [&] { return implied(kept[g]); })) {
        kept = std::move(others);
      } else {
        ++g;
      }
    }
    guards = std::move(kept);
    return true;
  }
  [[nodiscard]] bool mentions(const Factor& factor, int s) const {
    return std::ranges::any_of(factor.at, [&](const Polynomial& p) { return mentions(p, s); }) ||
           mentions(factor.argument, s) || std::ranges::any_of(factor.branches, [&](const Branch& branch) {
             return is_in(branch.guards, s) || mentions(branch.value, s);
           });
  }
  [[nodiscard]] bool is_in(const std::vector<Fact>& facts, int s) const {
    return std::ranges::any_of(facts, [&](const Fact& fact) { return mentions(fact.value, s); });
  }
  [[nodiscard]] bool mentions(const Sum& all, int s) const {
    return std::ranges::any_of(all, [&](const Term& term) {
      return is_in(term.guards, s) ||
             std::ranges::any_of(term.factors, [&](const Factor& f) { return mentions(f, s); });
    });
  }
  Sum simplified(const Sum& all) {
    Sum open = all, done;
    for (int step = 0; !open.empty(); ++step) {
      if (step > kMostSteps) outside("a sum that does not come to rest");
      Term term = std::move(open.back());
      open.pop_back();
      if (!reduced(term.guards)) continue;
      if (!step_of(term, open)) done.push_back(std::move(term));
    }
    // Terms written alike are one.
    Sum result;
    for (Term& term : done) {
      const auto twin = std::ranges::find_if(result, [&](const Term& other) {
        Term scaled = other;
        scaled.numerator = term.numerator;
        scaled.denominator = term.denominator;
        return is_same(Sum{scaled}, Sum{term});
      });
      if (twin == result.end()) {
        result.push_back(std::move(term));
        continue;
      }
      const Fraction both = add({twin->numerator, twin->denominator}, {term.numerator, term.denominator});
      twin->numerator = both.numerator;
      twin->denominator = both.denominator;
    }
    std::erase_if(result, [](const Term& term) { return term.numerator == 0; });
    return result;
  }
  /// One rule on one term; what it becomes is put to `open`. False where none applies.
  bool step_of(const Term& term, Sum& open) {
    const auto without = [&](int s) {
      Term rest = term;
      std::erase(rest.bound, s);
      return rest;
    };
    for (const Fact& guard : term.guards) {  // [k = e]
      for (const int s : term.bound) {
        const auto part = guard.is_equality ? linear(guard.value, s) : std::nullopt;
        if (!part) continue;
        open.push_back(put(without(s), {{s, solution(*part)}}));
        return true;
      }
    }
    for (const int s : term.bound) {  // A variable that is only counted.
      if (std::ranges::any_of(term.factors, [&](const Factor& f) { return mentions(f, s); })) continue;
      std::vector<Polynomial> low, high;
      Term rest = without(s);
      std::erase_if(rest.guards, [&](const Fact& guard) { return mentions(guard.value, s); });
      bool is_plain = true;
      for (const Fact& guard : term.guards) {
        if (!mentions(guard.value, s)) continue;
        const auto part = guard.is_equality ? std::nullopt : linear(guard.value, s);
        is_plain = is_plain && part;
        if (part) (part->sign > 0 ? low : high).push_back(solution(*part));
      }
      if (!is_plain || low.size() != 1 || high.size() != 1) continue;
      const Polynomial count = high[0] - low[0] + number(1);
      if (has_bound(count)) continue;
      if (!with(rest.guards, [&] { return implied(at_least_zero(count)); })) throw CaseSplit{at_least_zero(count)};
      open = joined(open, times({rest}, integer(count)));
      return true;
    }
    for (int q = 0; q < static_cast<int>(symbols_.size()); ++q) {  // floor((k + r) / q)
      if (entry(q).kind != Symbol::Kind::kQuotient || has_bound(entry(q).divisor)) continue;
      for (const int s : term.bound) {
        const Polynomial dividend = entry(q).dividend, divisor = entry(q).divisor;
        const auto part = linear(dividend, s);
        if (!part || part->sign != 1 || !uses(term, q)) continue;
        const int a = new_bound(), b = new_bound();
        const std::vector<Fact> range{at_least_zero(symbol(b)), at_least_zero(divisor - number(1) - symbol(b))};
        Term split = with(range, [&] { return put(without(s), {{s, divisor * symbol(a) + symbol(b) - part->rest}}); });
        split.bound.insert(split.bound.end(), {a, b});
        split.guards.insert(split.guards.end(), range.begin(), range.end());
        open.push_back(std::move(split));
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool uses(const Term& term, int q) const {
    const auto in = [&](const Polynomial& p) {
      return std::ranges::any_of(p, [q](const auto& t) { return std::ranges::find(t.first, q) != t.first.end(); });
    };
    return std::ranges::any_of(term.guards, [&](const Fact& guard) { return in(guard.value); }) ||
           std::ranges::any_of(term.factors, [&](const Factor& f) { return std::ranges::any_of(f.at, in); });
  }

  // --- cancelling

  bool vanishes(const Sum& all) { return left_of(all).empty(); }
  /// What the groups do not cancel.
  Sum left_of(const Sum& all) {
    const Sum terms = simplified(all);
    if (terms.empty()) return {};
    const Groups groups = oracle_->groups(symbols_, terms, *this);
    std::set<std::size_t> gone;
    for (const auto& group : groups) {
      for (const Member& member : group) {
        if (member.term >= terms.size() || !gone.insert(member.term).second)
          refuse("a term that is not there, or there twice");
      }
      if (!group_vanishes(terms, group)) refuse("a group of terms that does not vanish");
    }
    Sum left;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (!gone.contains(t)) left.push_back(terms[t]);
    }
    return left;
  }
  bool group_vanishes(const Sum& terms, const std::vector<Member>& group) {
    if (group.empty()) return true;
    if (!group[0].map.empty() || !group[0].inverse.empty() || !group[0].factors.empty())
      refuse("a map of a group's first term, whose variables stay");
    const Term& first = terms[group[0].term];
    Sum all{first};
    for (std::size_t m = 1; m < group.size(); ++m) {
      const auto term = aligned(first, terms[group[m].term], group[m]);
      if (!term) return false;
      all.push_back(*term);
    }
    return indicators_vanish(all, 0);
  }
  /// The term in the first one's variables: its map is one to one, and its factors are the first one's where its guards
  /// hold.
  std::optional<Term> aligned(const Term& first, const Term& term, const Member& member) {
    if (member.map.size() != term.bound.size() || member.inverse.size() != first.bound.size() ||
        term.bound.size() != first.bound.size() || member.factors.size() != first.factors.size() ||
        term.factors.size() != first.factors.size())
      return std::nullopt;
    for (const auto* list : {&member.map, &member.inverse}) {
      if (!std::ranges::all_of(*list, [&](const Polynomial& p) { return is_well_formed(p); })) return std::nullopt;
    }
    Map there, back;
    for (std::size_t v = 0; v < term.bound.size(); ++v) there.emplace(term.bound[v], member.map[v]);
    for (std::size_t v = 0; v < first.bound.size(); ++v) back.emplace(first.bound[v], member.inverse[v]);
    // No variable of either may stand on both sides, nor one that is bound elsewhere.
    for (const Polynomial& p : member.map) {
      if (!is_known(p, first.bound) || std::ranges::any_of(term.bound, [&](int s) { return mentions(p, s); }))
        return std::nullopt;
    }
    for (const Polynomial& p : member.inverse) {
      if (!is_known(p, term.bound) || std::ranges::any_of(first.bound, [&](int s) { return mentions(p, s); }))
        return std::nullopt;
    }
    for (const auto& [s, p] : there) {
      if (put(p, back) != symbol(s)) return std::nullopt;
    }
    for (const auto& [s, p] : back) {
      if (put(p, there) != symbol(s)) return std::nullopt;
    }
    Term changed = put(term, there);
    changed.bound = first.bound;
    std::set<std::size_t> used(member.factors.begin(), member.factors.end());
    if (used.size() != changed.factors.size() || (!used.empty() && *used.rbegin() >= changed.factors.size()))
      return std::nullopt;
    const bool same = with(changed.guards, [&] {
      for (std::size_t f = 0; f < first.factors.size(); ++f) {
        if (!equal(first.factors[f], changed.factors[member.factors[f]])) return false;
      }
      return true;
    });
    if (!same) return std::nullopt;
    return changed;
  }
  bool equal(const Factor& a, const Factor& b) {
    if (a.kind != b.kind || a.which != b.which || a.at.size() != b.at.size()) return false;
    switch (a.kind) {
      case Factor::Kind::kInteger: return implied(zero(a.at[0] - b.at[0]));
      case Factor::Kind::kElement: {
        bool same = true;
        for (std::size_t d = 0; d < a.at.size() && same; ++d) same = implied(zero(a.at[d] - b.at[d]));
        if (same || a.at.size() < 2) return same;
        Polynomial left, right;  // Both lie inside of the tensor: one place among its elements is one index.
        for (std::size_t d = 0; d < a.at.size(); ++d) {
          left = left * shapes_[a.which][d] + a.at[d];
          right = right * shapes_[a.which][d] + b.at[d];
        }
        return implied(zero(left - right));
      }
      case Factor::Kind::kCall:
      case Factor::Kind::kInverse: return equal(a.argument, b.argument);
      case Factor::Kind::kMaximum: break;
    }
    return all_covered(a, b) && all_covered(b, a);
  }
  /// Each branch has one in the other that is as great, for all of its variables.
  bool all_covered(const Factor& a, const Factor& b) {
    return std::ranges::all_of(a.branches, [&](const Branch& given) {
      const Branch branch = renamed(given);
      const auto cover = oracle_->cover(symbols_, branch, b.branches, *this);
      if (!cover) return false;
      if (cover->branch >= b.branches.size()) refuse("a branch that there is not");
      return is_covered(branch, b.branches[cover->branch], cover->map);
    });
  }
  bool is_covered(const Branch& branch, const Branch& given, const std::vector<Polynomial>& map) {
    if (map.size() != given.bound.size()) return false;
    for (const Polynomial& p : map) {
      if (!is_well_formed(p) || !is_known(p, branch.bound)) return false;
    }
    Map values;
    for (std::size_t v = 0; v < map.size(); ++v) values.emplace(given.bound[v], map[v]);
    return with(branch.guards, [&] {
      for (const Fact& guard : put(given.guards, values)) {
        if (!implied(guard)) return false;
      }
      Sum other;
      for (const Term& term : renamed(given.value)) other.push_back(put(term, values));
      return equal(branch.value, other);
    });
  }
  [[nodiscard]] bool is_well_formed(const Polynomial& p) const {
    return std::ranges::all_of(p, [&](const auto& term) {
      return term.second != 0 && std::ranges::is_sorted(term.first) &&
             std::ranges::all_of(term.first, [&](int s) { return s >= 0 && s < static_cast<int>(symbols_.size()); });
    });
  }
  /// Bound variables in it are these, or are bound around this place.
  [[nodiscard]] bool is_known(const Polynomial& p, const std::vector<int>& own) const {
    return !mentions(p, [&](int s) {
      return entry(s).kind == Symbol::Kind::kBound && std::ranges::find(own, s) == own.end() && !is_in(facts_, s);
    });
  }
  bool equal(const Sum& a, const Sum& b) { return vanishes(joined(renamed(a), scaled(renamed(b), {-1, 1}))); }
  /// sum of c * [guards] = 0 wherever the facts hold.
  bool indicators_vanish(const Sum& terms, int depth) {
    if (depth > 24) return false;
    Sum open;
    for (const Term& term : terms) {
      Term next{.numerator = term.numerator, .denominator = term.denominator};
      bool is_there = true;
      for (const Fact& guard : term.guards) {
        if (implied(guard)) continue;
        if (cannot_hold(guard)) {
          is_there = false;
          break;
        }
        next.guards.push_back(guard);
      }
      if (is_there) open.push_back(std::move(next));
    }
    const auto undecided = std::ranges::find_if(open, [](const Term& term) { return !term.guards.empty(); });
    if (undecided == open.end()) {
      Fraction total;
      for (const Term& term : open) total = add(total, {term.numerator, term.denominator});
      return total.numerator == 0 || excluded({});
    }
    const std::vector<Fact> all = cases_of(undecided->guards[0]);
    return std::ranges::all_of(all, [&](const Fact& fact) {
      return with({fact}, [&] { return excluded({}) || indicators_vanish(open, depth + 1); });
    });
  }

  // --- maxima of free values, branch by branch

  struct Sign {
    Sum value;  ///< >= 0, or > 0.
    bool is_strict;
  };
  [[nodiscard]] bool is_free(const Factor& factor) const {
    return std::ranges::none_of(factor.at, [this](const Polynomial& p) { return has_bound(p); }) &&
           is_free(factor.argument) && std::ranges::all_of(factor.branches, [this](const Branch& branch) {
             return branch.bound.empty() && branch.guards.empty() && is_free(branch.value);
           });
  }
  [[nodiscard]] bool is_free(const Sum& all) const {
    return std::ranges::all_of(all, [this](const Term& term) {
      return term.bound.empty() && term.guards.empty() &&
             std::ranges::all_of(term.factors, [this](const Factor& f) { return is_free(f); });
    });
  }
  /// The innermost maximum of free values.
  [[nodiscard]] const Factor* free_maximum(const Sum& all) const {
    for (const Term& term : all) {
      for (const Factor& factor : term.factors) {
        for (const Branch& branch : factor.branches) {
          if (const Factor* inner = free_maximum(branch.value)) return inner;
        }
        if (const Factor* inner = free_maximum(factor.argument)) return inner;
        if (factor.kind == Factor::Kind::kMaximum && is_free(factor)) return &factor;
      }
    }
    return nullptr;
  }
  Sum with_maximum(const Sum& all, const Factor& maximum, const Sum& by) {
    Sum result;
    for (const Term& term : all) {
      Term rest = term;
      rest.factors.clear();
      Sum value{rest};
      for (const Factor& factor : term.factors) {
        Sum changed = one(factor);
        if (!is_free(factor)) {
        } else if (is_same(factor, maximum)) {
          changed = by;
        } else if (factor.kind == Factor::Kind::kMaximum) {
          std::vector<Branch> branches;
          for (const Branch& branch : factor.branches)
            branches.push_back({{}, {}, with_maximum(branch.value, maximum, by)});
          changed = greatest(branches, 0);
        } else if (factor.kind == Factor::Kind::kCall || factor.kind == Factor::Kind::kInverse) {
          changed =
              applied({.kind = factor.kind, .which = factor.which}, with_maximum(factor.argument, maximum, by), 0);
        }
        value = times(value, changed);
      }
      result = joined(result, value);
    }
    return result;
  }
  /// Can no values have these signs? Unknowns are products of values; unknown 0 is 1, of which constants are multiples,
  /// so that "above 0" may be said as "at least 1" (Motzkin). Products of two signs, and of what is never negative,
  /// too.
  bool signs_exclude() {
    std::vector<Sign> all = signs_;
    for (std::size_t a = 0; a < signs_.size(); ++a) {
      for (std::size_t b = a; b < signs_.size(); ++b)
        all.push_back({times(signs_[a].value, signs_[b].value), signs_[a].is_strict && signs_[b].is_strict});
    }
    std::vector<Factor> values;
    std::vector<std::vector<int>> products{{}};
    std::vector<Fact> facts{at_least_zero(symbol(0) - number(1))};
    for (const Sign& sign : all) {
      if (!is_free(sign.value)) return false;
      std::int64_t denominator = 1;
      for (const Term& term : sign.value)
        denominator = product(denominator / std::gcd(denominator, term.denominator), term.denominator);
      Polynomial sum_of;
      for (const Term& term : sign.value) {
        std::vector<int> key;
        for (const Factor& factor : term.factors) {
          const auto known = std::ranges::find_if(values, [&](const Factor& f) { return is_same(f, factor); });
          key.push_back(static_cast<int>(known - values.begin()));
          if (known == values.end()) values.push_back(factor);
        }
        std::ranges::sort(key);
        const auto known = std::ranges::find(products, key);
        const auto unknown = static_cast<int>(known - products.begin());
        if (known == products.end()) {
          products.push_back(key);
          Term bare{.factors = term.factors};
          if (is_natural(bare)) facts.push_back(at_least_zero(symbol(unknown)));
        }
        add_to(sum_of, symbol(unknown), product(term.numerator, denominator / term.denominator));
      }
      facts.push_back(at_least_zero(sign.is_strict ? sum_of - number(1) : sum_of));
    }
    const auto uses = oracle_->combination(facts);
    if (!uses) return false;
    std::map<Product, Fraction> total;
    for (const FactUse& use : *uses) {
      if (use.source != 'F' || use.at >= facts.size() || use.second != 0 || !use.times.empty())
        refuse("a sign that there is not");
      add_share(total, facts[use.at], use);
    }
    check_negative(total);
    return true;
  }
  bool vanishes_by_signs(const Sum& rest, int depth) {
    const Factor* const found = depth < 7 ? free_maximum(rest) : nullptr;
    if (found == nullptr) {
      for (const std::int64_t sign : {1, -1}) {  // The signs leave nothing but 0.
        signs_.push_back({scaled(rest, {sign, 1}), true});
        const bool cannot_be = signs_exclude();
        signs_.pop_back();
        if (!cannot_be) return false;
      }
      return true;
    }
    const Factor maximum = *found;
    for (std::size_t g = 0; g < maximum.branches.size(); ++g) {
      const std::size_t before = signs_.size();
      for (std::size_t o = 0; o < maximum.branches.size(); ++o) {
        if (o != g)
          signs_.push_back({joined(maximum.branches[g].value, scaled(maximum.branches[o].value, {-1, 1})), o < g});
      }
      bool holds = signs_exclude();
      if (!holds) {
        const Sum left = left_of(with_maximum(rest, maximum, maximum.branches[g].value));
        holds = left.empty() || vanishes_by_signs(left, depth + 1);
      }
      signs_.resize(before);
      if (!holds) return false;
    }
    return true;
  }

  void prove_case(int depth) {
    if (depth > kMostCases) outside("too many cases");
    std::optional<Fact> split;
    try {
      const Sum left = element(equation_.left, index_), right = element(equation_.right, index_);
      const Sum rest = left_of(joined(left, scaled(renamed(right), {-1, 1})));
      signs_.clear();
      if (!rest.empty() && !vanishes_by_signs(rest, 0)) throw Refused{ErrorCode::kNotFound, "terms are left"};
      return;
    } catch (const CaseSplit& cases) {
      split = cases.guard;
    }
    for (const Fact& fact : cases_of(*split)) {
      with({fact}, [&] {
        if (!excluded({})) prove_case(depth + 1);
        return 0;
      });
    }
  }

  const TypedAxiom& equation_;
  Oracle* oracle_;
  Oracle* tried_;
  std::vector<Symbol> symbols_;
  std::map<std::pair<Polynomial, Polynomial>, int> quotients_;
  std::vector<Fact> facts_;
  std::size_t kept_ = 0;
  std::map<SizeVar, Polynomial> sizes_;
  std::vector<Polynomial> index_;
  std::vector<std::vector<Polynomial>> shapes_;
  std::vector<Sign> signs_;
  std::map<std::uint32_t, Definition> definitions_;
};

// --- certificates as text ------------------------------------------------------------------------------------------
//
//   r no | r USE*     USE := source at second numerator denominator count symbol*
//   g GROUP*          an answer about groups: counts before lists, numbers all along
//   c no | c branch MAP

void write(std::string& text, const Polynomial& p) {
  text += fmt::format(" {}", p.size());
  for (const auto& [monomial, coefficient] : p) {
    text += fmt::format(" {} {}", coefficient, monomial.size());
    for (const int s : monomial) text += fmt::format(" {}", s);
  }
}

class Recorder final : public Oracle {
 public:
  explicit Recorder(Oracle& oracle) : oracle_(oracle) {}
  std::optional<std::vector<FactUse>> combination(const std::vector<Fact>& facts) override {
    return written(oracle_.combination(facts));
  }
  std::optional<std::vector<FactUse>> refutation(const std::vector<Symbol>& symbols,
                                                 const std::vector<Fact>& facts) override {
    return written(oracle_.refutation(symbols, facts));
  }
  std::optional<std::vector<FactUse>> written(std::optional<std::vector<FactUse>> answer) {
    text += answer ? fmt::format("r {}", answer->size()) : "r no";
    for (const FactUse& use : answer.value_or(std::vector<FactUse>())) {
      text += fmt::format(" {} {} {} {} {} {}", use.source, use.at, use.second, use.numerator, use.denominator,
                          use.times.size());
      for (const int s : use.times) text += fmt::format(" {}", s);
    }
    text += '\n';
    return answer;
  }
  Groups groups(const std::vector<Symbol>& symbols, const std::vector<Term>& terms, Trial& trial) override {
    Groups answer = oracle_.groups(symbols, terms, trial);
    text += fmt::format("g {}", answer.size());
    for (const auto& group : answer) {
      text += fmt::format(" {}", group.size());
      for (const Member& member : group) {
        text +=
            fmt::format(" {} {} {} {}", member.term, member.map.size(), member.inverse.size(), member.factors.size());
        for (const Polynomial& p : member.map) write(text, p);
        for (const Polynomial& p : member.inverse) write(text, p);
        for (const std::size_t f : member.factors) text += fmt::format(" {}", f);
      }
    }
    text += '\n';
    return answer;
  }
  std::optional<Cover> cover(const std::vector<Symbol>& symbols, const Branch& branch,
                             const std::vector<Branch>& others, Trial& trial) override {
    auto answer = oracle_.cover(symbols, branch, others, trial);
    text += answer ? fmt::format("c {} {}", answer->branch, answer->map.size()) : "c no";
    if (answer) {
      for (const Polynomial& p : answer->map) write(text, p);
    }
    text += '\n';
    return answer;
  }
  std::string text;

 private:
  Oracle& oracle_;
};

class Reader final : public Oracle {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  std::optional<std::vector<FactUse>> refutation(const std::vector<Symbol>&, const std::vector<Fact>& facts) override {
    return combination(facts);
  }
  std::optional<std::vector<FactUse>> combination(const std::vector<Fact>&) override {
    begin("r");
    if (line_ == "no") {
      line_ = {};
      return std::nullopt;
    }
    std::vector<FactUse> uses(count());
    for (FactUse& use : uses) {
      const std::string_view source = word();
      if (source.size() != 1) fail_here("one letter");
      use.source = source[0];
      use.at = count();
      use.second = count();
      use.numerator = next();
      use.denominator = next();
      use.times = product_of();
    }
    end();
    return uses;
  }
  Groups groups(const std::vector<Symbol>&, const std::vector<Term>&, Trial&) override {
    begin("g");
    Groups groups(count());
    for (auto& group : groups) {
      group.resize(count());
      for (Member& member : group) {
        member.term = count();
        member.map.resize(count());
        member.inverse.resize(count());
        member.factors.resize(count());
        for (Polynomial& p : member.map) p = polynomial();
        for (Polynomial& p : member.inverse) p = polynomial();
        for (std::size_t& f : member.factors) f = count();
      }
    }
    end();
    return groups;
  }
  std::optional<Cover> cover(const std::vector<Symbol>&, const Branch&, const std::vector<Branch>&, Trial&) override {
    begin("c");
    if (line_ == "no") {
      line_ = {};
      return std::nullopt;
    }
    Cover cover;
    cover.branch = count();
    cover.map.resize(count());
    for (Polynomial& p : cover.map) p = polynomial();
    end();
    return cover;
  }
  void finish() const {
    if (!rest_.empty()) refuse(fmt::format("line {}: more than the proof asks for", number_ + 1));
  }
  [[nodiscard]] int line() const { return number_; }

 private:
  static constexpr std::int64_t kMostEntries = 100'000;

  [[noreturn]] void fail_here(std::string_view what) const {
    refuse(fmt::format("line {}: {} expected", number_, what));
  }
  void begin(std::string_view kind) {
    const std::size_t end = rest_.find('\n');
    if (rest_.empty() || end == std::string_view::npos) refuse("the certificate ends before the proof does");
    ++number_;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (word() != kind) fail_here(fmt::format("an answer of kind {}", kind));
  }
  void end() const {
    if (!line_.empty()) fail_here("the end of the line");
  }
  std::string_view word() {
    const std::size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view result = line_.substr(0, end);
    if (result.empty() || end + 1 == line_.size()) fail_here("a word");
    line_.remove_prefix(std::min(end + 1, line_.size()));
    return result;
  }
  std::int64_t next() {
    const std::string_view text = word();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    // One number has one text: neither 07 nor -0.
    if (text.starts_with("-0") || (text.size() > 1 && text[0] == '0')) fail_here("a number as it is written");
    if (code != std::errc() || end != text.data() + text.size() || value == INT64_MIN) fail_here("a number");
    return value;
  }
  std::size_t count() {
    const std::int64_t value = next();
    if (value < 0 || value > kMostEntries) fail_here("a count");
    return static_cast<std::size_t>(value);
  }
  Product product_of() {
    Product result(count());
    for (int& s : result) s = static_cast<int>(count());
    return result;
  }
  Polynomial polynomial() {
    Polynomial result;
    for (std::size_t terms = count(); terms > 0; --terms) {
      const std::int64_t coefficient = next();
      if (coefficient == 0 || !result.emplace(product_of(), coefficient).second)
        fail_here("a polynomial that names each product once, with a coefficient other than 0,");
    }
    return result;
  }

  std::string_view rest_, line_;
  int number_ = 0;
};

}  // namespace

Result<std::string> certify(const TypedAxiom& equation, Oracle& oracle) {
  Recorder recorder(oracle);
  try {
    Machine(equation, recorder, oracle).run();
  } catch (const Refused& refused) {
    return make_error(refused.code, "{}", refused.why);
  }
  return std::move(recorder.text);
}

Status check_theorem(const TypedAxiom& equation, std::string_view certificate) {
  Reader reader(certificate);
  try {
    Machine(equation, reader, reader).run();
    reader.finish();
  } catch (const Refused& refused) {
    return make_error(refused.code, "certificate of a theorem, line {}: {}", reader.line(), refused.why);
  }
  return {};
}

}  // namespace rewright::certified
