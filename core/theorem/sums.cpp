#include "theorem/sums.h"

#include <algorithm>
#include <functional>
#include <set>

namespace rewright::theorem {

namespace {

std::vector<Fact> joined(std::span<const Fact> a, std::span<const Fact> b) {
  std::vector<Fact> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  const auto rest = std::ranges::unique(all);
  all.erase(rest.begin(), rest.end());
  return all;
}

/// Every polynomial of a factor, those of what is inside too.
void for_each_polynomial(const Factor& factor, const std::function<void(const Polynomial&)>& visit);
void for_each_polynomial(const Sum& sum, const std::function<void(const Polynomial&)>& visit) {
  for (const Term& term : sum.terms) {
    for (const Fact& guard : term.guards) visit(guard.value);
    for (const Power& power : term.factors) for_each_polynomial(*power.first, visit);
  }
}
void for_each_polynomial(const Factor& factor, const std::function<void(const Polynomial&)>& visit) {
  for (const Polynomial& p : factor.at) visit(p);
  for_each_polynomial(factor.argument, visit);
  for (const Branch& branch : factor.branches) {
    for (const Fact& guard : branch.guards) visit(guard.value);
    for_each_polynomial(branch.value, visit);
  }
}

SymbolMap fresh_names(SymbolTable& symbols, std::vector<Symbol>& bound) {
  SymbolMap map;
  for (Symbol& symbol : bound) {
    const Symbol fresh = symbols.add_bound();
    map.emplace(symbol, Polynomial::symbol(fresh));
    symbol = fresh;
  }
  return map;
}

}  // namespace

std::optional<LinearPart> linear_in(const SymbolTable& symbols, const Polynomial& p, Symbol symbol) {
  const std::int64_t coefficient = p.coefficient({symbol});
  if (coefficient != 1 && coefficient != -1) return std::nullopt;
  LinearPart part{static_cast<int>(coefficient), p - Polynomial::term({symbol}, coefficient)};
  if (symbols.mentions(part.rest, symbol)) return std::nullopt;
  return part;
}

// --- names

std::vector<Fact> Sums::substitute(std::span<const Fact> guards, const SymbolMap& map) {
  std::vector<Fact> result;
  for (const Fact& guard : guards) result.push_back(context_.substitute(guard, map));
  return joined(result, {});
}

Power Sums::substitute(const Power& power, const SymbolMap& map) {
  const Factor& factor = *power.first;
  bool touched = false;
  for_each_polynomial(factor, [&](const Polynomial& p) { touched = touched || symbols().mentions_any(p, map); });
  if (!touched) return power;
  Factor result = factor;
  for (Polynomial& p : result.at) p = context_.substitute(p, map);
  if (factor.kind == Factor::Kind::kInteger && !result.at[0].sole_symbol())
    throw Unsupported{"a number that is an index is put together from others"};
  result.argument = substitute(factor.argument, map);
  for (Branch& branch : result.branches) {
    branch.guards = substitute(branch.guards, map);
    branch.value = substitute(branch.value, map);
  }
  return {make(std::move(result)), power.second};
}

Term Sums::substitute(const Term& term, const SymbolMap& map) {
  if (map.empty()) return term;
  Term result{term.coefficient, term.bound, substitute(term.guards, map), {}};
  const Context::Scope scope(context_, result.guards);
  for (const Power& power : term.factors) {
    const Power changed = substitute(power, map);
    result.factors = merged(result.factors, std::span(&changed, 1));
  }
  return result;
}

Sum Sums::substitute(const Sum& sum, const SymbolMap& map) {
  if (map.empty()) return sum;
  Sum result;
  for (const Term& term : sum.terms) result.terms.push_back(substitute(term, map));
  return result;
}

Term Sums::renamed(const Term& term) {
  if (term.bound.empty()) return term;
  Term copy = term;
  const SymbolMap map = fresh_names(symbols(), copy.bound);
  return substitute(copy, map);
}

Sum Sums::renamed(const Sum& sum) {
  Sum result;
  for (const Term& term : sum.terms) result.terms.push_back(renamed(term));
  return result;
}

Branch Sums::renamed(const Branch& branch) {
  Branch copy{branch.bound, branch.guards, renamed(branch.value)};
  if (copy.bound.empty()) return copy;
  const SymbolMap map = fresh_names(symbols(), copy.bound);
  copy.guards = substitute(copy.guards, map);
  const Context::Scope scope(context_, copy.guards);
  copy.value = substitute(copy.value, map);
  return copy;
}

bool Sums::mentions(const Factor& factor, Symbol symbol) const {
  bool found = false;
  for_each_polynomial(factor, [&](const Polynomial& p) { found = found || context_.symbols().mentions(p, symbol); });
  return found;
}
bool Sums::mentions(const Sum& sum, Symbol symbol) const {
  bool found = false;
  for_each_polynomial(sum, [&](const Polynomial& p) { found = found || context_.symbols().mentions(p, symbol); });
  return found;
}
bool Sums::mentions_any(const Factor& factor, std::span<const Symbol> symbols) const {
  return std::ranges::any_of(symbols, [&](Symbol symbol) { return mentions(factor, symbol); });
}

// --- making

FactorRef Sums::make(Factor factor) {
  factor.key = key(factor, {});
  return std::make_shared<const Factor>(std::move(factor));
}

Sum Sums::single(const FactorRef& factor, int exponent) { return {{Term{1, {}, {}, {{factor, exponent}}}}}; }

Sum Sums::number(const Rational& number) { return number.is_zero() ? Sum{} : Sum{{Term{number, {}, {}, {}}}}; }

Sum Sums::element(std::size_t tensor, std::vector<Polynomial> at) {
  return single(make({.kind = Factor::Kind::kElement, .tensor = tensor, .at = std::move(at)}));
}

Sum Sums::integer(const Polynomial& p) {
  Sum result;
  for (const auto& [monomial, coefficient] : p.terms()) {
    Sum product = number(coefficient);
    for (const Symbol symbol : monomial)
      product = multiply(product, single(make({.kind = Factor::Kind::kInteger, .at = {Polynomial::symbol(symbol)}})));
    result = add(result, product);
  }
  return result;
}

std::vector<Power> Sums::merged(std::span<const Power> a, std::span<const Power> b) {
  std::vector<Power> all(a.begin(), a.end());
  for (const Power& power : b) {
    const auto same = std::ranges::find_if(all, [&](const Power& p) { return p.first->key == power.first->key; });
    if (same == all.end()) {
      all.push_back(power);
    } else {
      same->second += power.second;
    }
  }
  std::erase_if(all, [](const Power& power) { return power.second == 0; });
  std::ranges::sort(all, {}, [](const Power& power) { return std::pair(power.first->key, power.second); });
  return all;
}

Sum Sums::collected(std::vector<Term> terms) const {
  std::map<std::string, Term> by_key;
  for (Term& term : terms) {
    const std::string text = key(term, {});
    const auto [found, is_new] = by_key.emplace(text, term);
    if (!is_new) found->second.coefficient = found->second.coefficient + term.coefficient;
  }
  Sum result;
  for (auto& [text, term] : by_key) {
    if (!term.coefficient.is_zero()) result.terms.push_back(std::move(term));
  }
  return result;
}

Sum Sums::add(const Sum& a, const Sum& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  std::vector<Term> terms = a.terms;
  terms.insert(terms.end(), b.terms.begin(), b.terms.end());
  return collected(std::move(terms));
}

Sum Sums::scale(const Sum& sum, const Rational& factor) {
  if (factor.is_zero()) return {};
  Sum result = sum;
  for (Term& term : result.terms) term.coefficient = term.coefficient * factor;
  return result;
}

Sum Sums::multiply(const Sum& a, const Sum& b) {
  std::vector<Term> terms;
  for (const Term& left : a.terms) {
    for (const Term& right : b.terms) {
      const Term other = left.bound.empty() ? right : renamed(right);
      Term product{left.coefficient * other.coefficient, left.bound, joined(left.guards, other.guards),
                   merged(left.factors, other.factors)};
      product.bound.insert(product.bound.end(), other.bound.begin(), other.bound.end());
      terms.push_back(std::move(product));
    }
  }
  return collected(std::move(terms));
}

Sum Sums::power(const Sum& base, int exponent) {
  Sum result = number(1);
  for (int i = 0; i < exponent; ++i) result = multiply(result, i == 0 ? base : renamed(base));
  return result;
}

Sum Sums::reduce(const std::vector<Symbol>& bound, std::span<const Fact> guards, const Sum& body) {
  std::vector<Term> terms;
  for (const Term& term : body.terms) {
    Term result{term.coefficient, bound, joined(guards, term.guards), term.factors};
    result.bound.insert(result.bound.end(), term.bound.begin(), term.bound.end());
    // Each term binds variables of its own.
    terms.push_back(body.terms.size() > 1 && !bound.empty() ? renamed(result) : std::move(result));
  }
  return collected(std::move(terms));
}

// --- simplifying

bool Sums::reduce_guards(std::vector<Fact>& guards) {
  std::vector<Fact> kept;
  for (const Fact& guard : guards) {
    if (context_.holds(guard)) continue;
    if (context_.fails(guard)) return false;
    if (!symbols().has_bound(guard.value)) throw Split{guard};
    kept.push_back(guard);
  }
  // p >= 0 and -p >= 0 are p = 0.
  for (std::size_t a = 0; a < kept.size(); ++a) {
    for (std::size_t b = a + 1; b < kept.size(); ++b) {
      if (kept[a].is_equality || kept[b].is_equality || !(kept[a].value + kept[b].value).is_zero()) continue;
      kept[a].is_equality = true;
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(b));
      break;
    }
  }
  {
    const Context::Scope scope(context_, kept);
    if (!kept.empty() && context_.is_contradictory()) return false;
  }
  for (std::size_t g = 0; g < kept.size();) {
    std::vector<Fact> others = kept;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(g));
    const Context::Scope scope(context_, others);
    if (context_.holds(kept[g])) {
      kept = std::move(others);
    } else {
      ++g;
    }
  }
  guards = joined(kept, {});
  return true;
}

std::optional<std::pair<Symbol, Polynomial>> Sums::determined(std::span<const Symbol> bound,
                                                              std::span<const Fact> guards) const {
  for (const Fact& guard : guards) {
    if (!guard.is_equality) continue;
    for (const Symbol symbol : bound) {
      if (const auto part = linear_in(context_.symbols(), guard.value, symbol))
        return std::pair(symbol, part->sign == 1 ? -part->rest : part->rest);
    }
  }
  return std::nullopt;
}

namespace {

/// Of a variable among guards: it is at least each of `low`, at most each of `high`.
struct VariableBounds {
  std::vector<Polynomial> low, high;
  std::vector<Fact> others;  ///< That do not mention it.
};
std::optional<VariableBounds> bounds_of(const SymbolTable& symbols, std::span<const Fact> guards, Symbol symbol) {
  VariableBounds bounds;
  for (const Fact& guard : guards) {
    if (!symbols.mentions(guard.value, symbol)) {
      bounds.others.push_back(guard);
      continue;
    }
    const auto part = linear_in(symbols, guard.value, symbol);
    if (!part || guard.is_equality) return std::nullopt;
    (part->sign == 1 ? bounds.low : bounds.high).push_back(part->sign == 1 ? -part->rest : part->rest);
  }
  return bounds;
}

}  // namespace

/// sum over k of [low <= k <= high] = high - low + 1, where the range is known not to be inside out.
std::optional<Sum> Sums::counted(const Term& term) {
  for (const Symbol symbol : term.bound) {
    if (std::ranges::any_of(term.factors, [&](const Power& power) { return mentions(*power.first, symbol); })) continue;
    const auto bounds = bounds_of(symbols(), term.guards, symbol);
    if (!bounds || bounds->low.empty() || bounds->high.empty()) continue;
    const Context::Scope scope(context_, bounds->others);
    const auto best = [&](const std::vector<Polynomial>& all, int sign) -> std::optional<Polynomial> {
      for (const Polynomial& one : all) {
        if (std::ranges::all_of(all, [&](const Polynomial& other) {
              return context_.holds(at_least_zero((one - other) * Polynomial(sign)));
            }))
          return one;
      }
      return std::nullopt;
    };
    const auto low = best(bounds->low, 1), high = best(bounds->high, -1);
    if (!low || !high) continue;
    const Polynomial count = *high - *low + 1;
    if (symbols().has_bound(count)) continue;
    if (!context_.holds(at_least_zero(count))) throw Split{at_least_zero(count)};
    Term rest{term.coefficient, {}, bounds->others, term.factors};
    for (const Symbol other : term.bound) {
      if (other != symbol) rest.bound.push_back(other);
    }
    return multiply({{rest}}, integer(count));
  }
  return std::nullopt;
}

/// k = q a + b with 0 <= b < q, one to one, where floor((k + r) / q) occurs.
std::optional<Term> Sums::taken_apart(const Term& term) {
  std::set<Symbol> quotients;
  const auto note = [&](const Polynomial& p) {
    for (const Symbol symbol : p.symbols()) {
      if (symbols().kind(symbol) == SymbolKind::kQuotient) quotients.insert(symbol);
    }
  };
  for (const Fact& guard : term.guards) note(guard.value);
  for (const Power& power : term.factors) for_each_polynomial(*power.first, note);
  for (const Symbol quotient : quotients) {
    const Polynomial dividend = symbols().dividend(quotient), divisor = symbols().divisor(quotient);
    if (symbols().has_bound(divisor)) continue;
    for (const Symbol symbol : term.bound) {
      const auto part = linear_in(symbols(), dividend, symbol);
      if (!part || part->sign != 1) continue;
      Term split{term.coefficient, {}, term.guards, term.factors};
      for (const Symbol other : term.bound) {
        if (other != symbol) split.bound.push_back(other);
      }
      const Symbol a = symbols().add_bound(), b = symbols().add_bound();
      split.bound.insert(split.bound.end(), {a, b});
      const Polynomial rest = Polynomial::symbol(b);
      const std::vector<Fact> range{at_least_zero(rest), at_least_zero(divisor - 1 - rest)};
      const Context::Scope scope(context_, range);
      split = substitute(split, {{symbol, divisor * Polynomial::symbol(a) + rest - part->rest}});
      split.guards = joined(split.guards, range);
      return split;
    }
  }
  return std::nullopt;
}

/// k = k' + e, one to one, where the guards say k >= e and not k >= 0: shifted ranges become one.
std::optional<Term> Sums::moved_to_zero(const Term& term) {
  for (const Symbol symbol : term.bound) {
    if (std::ranges::find(term.guards, at_least_zero(Polynomial::symbol(symbol))) != term.guards.end()) continue;
    for (const Fact& guard : term.guards) {
      const auto part = linear_in(symbols(), guard.value, symbol);
      if (guard.is_equality || !part || part->sign != 1 || symbols().has_bound(part->rest)) continue;
      return substitute(term, {{symbol, Polynomial::symbol(symbol) - part->rest}});
    }
  }
  return std::nullopt;
}

Sum Sums::simplified(const Sum& sum) {
  std::vector<Term> open = sum.terms, done;
  int steps = 0;
  while (!open.empty()) {
    if (++steps > 400) throw Unsupported{"a sum that does not come to rest"};
    Term term = std::move(open.back());
    open.pop_back();
    if (!reduce_guards(term.guards)) continue;
    if (const auto value = determined(term.bound, term.guards)) {
      std::erase(term.bound, value->first);
      open.push_back(substitute(term, {{value->first, value->second}}));
      continue;
    }
    if (const auto count = counted(term)) {
      open.insert(open.end(), count->terms.begin(), count->terms.end());
      continue;
    }
    if (auto parts = taken_apart(term)) {
      open.push_back(*std::move(parts));
      continue;
    }
    if (auto moved = moved_to_zero(term)) {
      open.push_back(*std::move(moved));
      continue;
    }
    done.push_back(std::move(term));
  }
  return collected(std::move(done));
}

// --- signs

bool Sums::is_positive(const Factor& factor) const {
  switch (factor.kind) {
    case Factor::Kind::kInteger: return context_.symbols().at_least(factor.at[0].terms()[0].first, 1);
    case Factor::Kind::kCall:
      if (factor.function != Function::kExp && factor.function != Function::kSigmoid) return false;
      uses_functions();
      return true;
    case Factor::Kind::kInverse: return is_positive(factor.argument);
    default: return false;
  }
}
bool Sums::is_positive(const Sum& sum) const {
  return !sum.is_zero() && std::ranges::all_of(sum.terms, [this](const Term& term) {
    return term.coefficient.sign() > 0 &&
           std::ranges::all_of(term.factors, [this](const Power& power) { return is_positive(*power.first); });
  });
}
/// 1 + what is never negative.
bool Sums::is_at_least_one(const Sum& sum) const {
  return is_natural(sum) && std::ranges::any_of(sum.terms, [](const Term& term) {
           return term.factors.empty() && term.bound.empty() && term.guards.empty() && term.coefficient >= Rational(1);
         });
}
bool Sums::is_natural(const Factor& factor) const {
  switch (factor.kind) {
    case Factor::Kind::kInteger: return context_.symbols().at_least(factor.at[0].terms()[0].first, 0);
    case Factor::Kind::kCall:
      if (factor.function != Function::kSqrt &&
          !(factor.function == Function::kLog && is_at_least_one(factor.argument)))
        return is_positive(factor);
      uses_functions();
      return true;
    case Factor::Kind::kInverse: return is_natural(factor.argument);
    case Factor::Kind::kMaximum: break;
    default: return false;
  }
  // A branch that is always there, and never negative; or v and -v; or all are natural.
  const auto is_always = [](const Branch& branch) { return branch.bound.empty() && branch.guards.empty(); };
  for (const Branch& a : factor.branches) {
    if (!is_always(a)) continue;
    if (is_natural(a.value)) return true;
    for (const Branch& b : factor.branches) {
      if (!is_always(b)) continue;
      Sum opposite = b.value;
      for (Term& term : opposite.terms) term.coefficient = -term.coefficient;
      if (key(a.value, {}) == key(opposite, {})) return true;
    }
  }
  return std::ranges::all_of(factor.branches, [this](const Branch& branch) { return is_natural(branch.value); });
}
bool Sums::is_natural(const Sum& sum) const {
  return std::ranges::all_of(sum.terms, [this](const Term& term) {
    return term.coefficient.sign() > 0 && std::ranges::all_of(term.factors, [this](const Power& power) {
             return power.second % 2 == 0 || is_natural(*power.first);
           });
  });
}

}  // namespace rewright::theorem
