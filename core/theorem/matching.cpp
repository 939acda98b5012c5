#include "theorem/matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace rewright::theorem {

namespace {

constexpr int kMostUnifications = 20'000;
constexpr int kMostGuards = 24;

/// What two products must agree in to be made equal.
std::string signature(const Factor& factor, int exponent) {
  switch (factor.kind) {
    case Factor::Kind::kElement: return fmt::format("x{}^{}", factor.tensor, exponent);
    case Factor::Kind::kInteger: return fmt::format("{}^{}", factor.key, exponent);
    case Factor::Kind::kCall: return fmt::format("f{}^{}", static_cast<int>(factor.function), exponent);
    case Factor::Kind::kInverse: return fmt::format("inv^{}", exponent);
    case Factor::Kind::kMaximum: return fmt::format("max^{}", exponent);
  }
  return {};
}
std::string signature(std::span<const Power> factors) {
  std::vector<std::string> parts;
  for (const auto& [factor, exponent] : factors) parts.push_back(signature(*factor, exponent));
  std::ranges::sort(parts);
  std::string text;
  for (const std::string& part : parts) text += part + ";";
  return text;
}

template <class T>
std::vector<T> without(std::span<const T> list, std::size_t place) {
  std::vector<T> rest(list.begin(), list.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(place));
  return rest;
}

void append(std::vector<Symbol>& to, const std::vector<Symbol>& symbols) {
  to.insert(to.end(), symbols.begin(), symbols.end());
}

}  // namespace

// --- finding: nothing here is relied on

bool Matching::unify(std::span<const Power> a, std::span<const Power> b, const Unifier& so_far, const Visit& visit) {
  if (a.size() != b.size() || ++unifications_ > kMostUnifications) return false;
  if (a.empty()) return visit(so_far);
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (a[0].second != b[j].second) continue;
    if (unify(*a[0].first, *b[j].first, so_far,
              [&](const Unifier& next) { return unify(a.subspan(1), without(b, j), next, visit); }))
      return true;
  }
  return false;
}

bool Matching::unify(const Factor& a, const Factor& b, const Unifier& so_far, const Visit& visit) {
  if (a.kind != b.kind || ++unifications_ > kMostUnifications) return false;
  switch (a.kind) {
    case Factor::Kind::kElement: {
      if (a.tensor != b.tensor) return false;
      Unifier next = so_far;
      for (std::size_t d = 0; d < a.at.size(); ++d) next.equations.emplace_back(a.at[d], b.at[d]);
      if (visit(next)) return true;
      next = so_far;
      next.equations.emplace_back(linear_index(a), linear_index(b));
      return visit(next);
    }
    case Factor::Kind::kInteger: {
      Unifier next = so_far;
      next.equations.emplace_back(a.at[0], b.at[0]);
      return visit(next);
    }
    case Factor::Kind::kCall:
      if (a.function != b.function) return false;
      [[fallthrough]];
    case Factor::Kind::kInverse: return unify(a.argument.terms, b.argument.terms, so_far, visit);
    case Factor::Kind::kMaximum: return unify(a.branches, b.branches, so_far, visit);
  }
  return false;
}

bool Matching::unify(std::span<const Term> a, std::span<const Term> b, const Unifier& so_far, const Visit& visit) {
  if (a.size() != b.size() || ++unifications_ > kMostUnifications) return false;
  if (a.empty()) return visit(so_far);
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (!(a[0].coefficient == b[j].coefficient) || signature(a[0].factors) != signature(b[j].factors)) continue;
    Unifier inside = so_far;
    append(inside.given, a[0].bound);
    append(inside.unknown, b[j].bound);
    if (unify(a[0].factors, b[j].factors, inside,
              [&](const Unifier& next) { return unify(a.subspan(1), without(b, j), next, visit); }))
      return true;
  }
  return false;
}

bool Matching::unify(std::span<const Branch> a, std::span<const Branch> b, const Unifier& so_far, const Visit& visit) {
  if (a.empty()) return visit(so_far);
  if (++unifications_ > kMostUnifications) return false;
  for (std::size_t j = 0; j < b.size(); ++j) {
    Unifier inside = so_far;
    append(inside.given, a[0].bound);
    append(inside.unknown, b[j].bound);
    if (unify(a[0].value.terms, b[j].value.terms, inside,
              [&](const Unifier& next) { return unify(a.subspan(1), b, next, visit); }))
      return true;
  }
  return false;
}

std::optional<SymbolMap> Matching::solved(const Unifier& unifier) {
  context_.spend(unifier.equations.size());
  SymbolMap map;
  std::vector<Polynomial> open;
  for (const auto& [a, b] : unifier.equations) open.push_back(a - b);
  bool progress = true;
  while (progress) {
    progress = false;
    for (std::size_t e = 0; e < open.size() && !progress; ++e) {
      const Polynomial equation = context_.substitute(open[e], map);
      for (const Symbol symbol : unifier.unknown) {
        if (map.contains(symbol)) continue;
        const auto part = linear_in(context_.symbols(), equation, symbol);
        if (!part) continue;
        const SymbolMap one{{symbol, part->sign == 1 ? -part->rest : part->rest}};
        for (auto& [other, value] : map) value = context_.substitute(value, one);
        map.insert(*one.begin());
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(e));
        progress = true;
        break;
      }
    }
  }
  return map;
}

bool Matching::complete(SymbolMap& map, const std::vector<Symbol>& from, const std::vector<Symbol>& to) {
  std::vector<Symbol> missing, unused;
  for (const Symbol symbol : to) {
    if (!map.contains(symbol)) missing.push_back(symbol);
  }
  for (const Symbol symbol : from) {
    const bool is_used = std::ranges::any_of(to, [&](Symbol t) {
      const auto found = map.find(t);
      return found != map.end() && context_.symbols().mentions(found->second, symbol);
    });
    if (!is_used) unused.push_back(symbol);
  }
  if (missing.size() > unused.size()) return false;
  SymbolMap more;
  for (std::size_t i = 0; i < missing.size(); ++i) more.emplace(missing[i], Polynomial::symbol(unused[i]));
  for (auto& [symbol, value] : map) value = context_.substitute(value, more);
  map.insert(more.begin(), more.end());
  std::erase_if(map, [&](const auto& entry) { return std::ranges::find(to, entry.first) == to.end(); });
  return true;
}

// --- checking

/// to = map(from) is one to one of Z^n if another map undoes it, before and after.
bool Matching::is_bijection(const SymbolMap& map, const std::vector<Symbol>& from, const std::vector<Symbol>& to) {
  if (from.size() != to.size() || map.size() != to.size()) return false;
  // Solve to = map(from) for `from`.
  Unifier unifier;
  unifier.unknown = from;
  for (const auto& [symbol, value] : map) {
    for (const Symbol other : to) {
      if (context_.symbols().mentions(value, other)) return false;
    }
    unifier.equations.emplace_back(Polynomial::symbol(symbol), value);
  }
  const auto inverse = solved(unifier);
  if (!inverse || inverse->size() != from.size()) return false;
  for (const auto& [symbol, value] : *inverse) {
    for (const Symbol other : from) {
      if (context_.symbols().mentions(value, other)) return false;
    }
    if (!(context_.substitute(value, map) == Polynomial::symbol(symbol))) return false;
  }
  return std::ranges::all_of(map, [&](const auto& entry) {
    return context_.substitute(entry.second, *inverse) == Polynomial::symbol(entry.first);
  });
}

std::optional<Term> Matching::aligned(const Term& model, const Term& term) {
  if (model.bound.size() != term.bound.size() || signature(model.factors) != signature(term.factors))
    return std::nullopt;
  const Term other = sums_.renamed(term);
  std::optional<Term> result;
  const auto attempt = [&](const Unifier& unifier) {
    auto map = solved(unifier);
    if (!map) return false;
    std::vector<Symbol> missing;
    if (!complete(*map, model.bound, other.bound)) return false;
    // Variables of the first term alone may stand in it.
    for (const auto& [symbol, value] : *map) {
      for (const Symbol inner : value.symbols()) {
        for (const Symbol part : context_.symbols().inside(inner)) {
          const bool is_foreign = context_.symbols().kind(part) == SymbolKind::kBound &&
                                  (std::ranges::find(unifier.given, part) != unifier.given.end() ||
                                   std::ranges::find(unifier.unknown, part) != unifier.unknown.end()) &&
                                  std::ranges::find(model.bound, part) == model.bound.end();
          if (is_foreign) return false;
        }
      }
    }
    if (!is_bijection(*map, model.bound, other.bound)) return false;
    Term changed = sums_.substitute(other, *map);
    changed.bound = model.bound;
    const Context::Scope scope(context_, changed.guards);
    if (!equal_factors(model.factors, changed.factors)) return false;
    changed.factors = model.factors;
    result = std::move(changed);
    return true;
  };
  Unifier start;
  start.unknown = other.bound;
  start.given = model.bound;
  unifications_ = 0;
  if (!unify(model.factors, other.factors, start, attempt)) return std::nullopt;
  return result;
}

bool Matching::equal_factors(std::span<const Power> a, std::span<const Power> b) {
  if (a.size() != b.size()) return false;
  if (a.empty()) return true;
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (a[0].second == b[j].second && equal_factor(*a[0].first, *b[j].first) &&
        equal_factors(a.subspan(1), without(b, j)))
      return true;
  }
  return false;
}

Polynomial Matching::linear_index(const Factor& element) {
  Polynomial index;
  for (std::size_t d = 0; d < element.at.size(); ++d) index = index * shapes_[element.tensor][d] + element.at[d];
  return index;
}

bool Matching::equal_factor(const Factor& a, const Factor& b) {
  if (a.key == b.key) return true;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Factor::Kind::kElement: {
      if (a.tensor != b.tensor) return false;
      bool is_same = true;
      for (std::size_t d = 0; d < a.at.size() && is_same; ++d) is_same = context_.equal(a.at[d], b.at[d]);
      // Both lie inside of the tensor, so that one place among its elements is one index.
      return is_same || (a.at.size() > 1 && context_.equal(linear_index(a), linear_index(b)));
    }
    case Factor::Kind::kInteger: return context_.equal(a.at[0], b.at[0]);
    case Factor::Kind::kCall: return a.function == b.function && equal(a.argument, b.argument);
    case Factor::Kind::kInverse: return equal(a.argument, b.argument);
    case Factor::Kind::kMaximum: return equal_maxima(a, b);
  }
  return false;
}

bool Matching::equal(const Sum& a, const Sum& b) {
  return cancelled(sums_.subtract(sums_.renamed(a), sums_.renamed(b))).is_zero();
}

bool Matching::equal_maxima(const Factor& a, const Factor& b) {
  return covers(a.branches, b.branches) && covers(b.branches, a.branches);
}

bool Matching::covers(std::span<const Branch> a, std::span<const Branch> b) {
  return std::ranges::all_of(a, [&](const Branch& branch) {
    return std::ranges::any_of(b, [&](const Branch& by) { return is_covered(branch, by); });
  });
}

/// For all variables of the branch that meet its guards: some of the other's meet its guards, and give that value.
bool Matching::is_covered(const Branch& given, const Branch& other) {
  const Branch branch = sums_.renamed(given), by = sums_.renamed(other);
  const Context::Scope scope(context_, branch.guards);
  if (!branch.guards.empty() && context_.is_contradictory()) return true;
  Unifier start;
  start.unknown = by.bound;
  start.given = branch.bound;
  const auto attempt = [&](const Unifier& unifier) {
    auto map = solved(unifier);
    if (!map) return false;
    std::erase_if(*map, [&](const auto& entry) { return std::ranges::find(by.bound, entry.first) == by.bound.end(); });
    // What the value does not determine: one of the guards' lower bounds.
    for (const Symbol symbol : by.bound) {
      if (map->contains(symbol)) continue;
      bool found = false;
      for (const Fact& guard : by.guards) {
        const auto part = linear_in(context_.symbols(), context_.substitute(guard.value, *map), symbol);
        if (!part) continue;
        const Polynomial candidate = part->sign == 1 ? -part->rest : part->rest;
        SymbolMap tried = *map;
        for (auto& [s, value] : tried) value = context_.substitute(value, {{symbol, candidate}});
        tried.emplace(symbol, candidate);
        found = std::ranges::all_of(by.guards, [&](const Fact& g) {
          const Fact changed = context_.substitute(g, tried);
          const bool is_later = std::ranges::any_of(
              by.bound, [&](Symbol s) { return !tried.contains(s) && context_.symbols().mentions(changed.value, s); });
          return is_later || context_.holds(changed);
        });
        if (found) {
          *map = std::move(tried);
          break;
        }
      }
      if (!found) return false;
    }
    const auto leaks = [&](const auto& entry) {
      return std::ranges::any_of(entry.second.symbols(), [&](Symbol s) {
        return std::ranges::any_of(context_.symbols().inside(s), [&](Symbol part) {
          const bool is_inner = std::ranges::find(unifier.given, part) != unifier.given.end() ||
                                std::ranges::find(unifier.unknown, part) != unifier.unknown.end();
          return is_inner && std::ranges::find(branch.bound, part) == branch.bound.end();
        });
      });
    };
    if (std::ranges::any_of(*map, leaks)) return false;
    for (const Fact& guard : by.guards) {
      if (!context_.holds(context_.substitute(guard, *map))) return false;
    }
    const Sum difference = sums_.subtract(sums_.renamed(sums_.substitute(by.value, *map)), sums_.renamed(branch.value));
    return sums_.is_natural(difference) || cancelled(difference).is_zero();
  };
  unifications_ = 0;
  if (unify(branch.value.terms, by.value.terms, start, attempt)) return true;
  return by.bound.empty() && attempt(start);
}

bool Matching::indicators_cancel(std::span<const Term> terms, int depth) {
  if (terms.empty()) return true;
  if (depth > kMostGuards) return false;
  // Terms whose guards all hold count; one whose guards cannot hold does not.
  std::vector<Term> open;
  for (const Term& term : terms) {
    Term next{term.coefficient, {}, {}, {}};
    bool is_there = true;
    for (const Fact& guard : term.guards) {
      if (context_.holds(guard)) continue;
      if (context_.fails(guard)) {
        is_there = false;
        break;
      }
      next.guards.push_back(guard);
    }
    if (is_there) open.push_back(std::move(next));
  }
  const auto undecided = std::ranges::find_if(open, [](const Term& term) { return !term.guards.empty(); });
  if (undecided == open.end()) {
    Rational sum = 0;
    for (const Term& term : open) sum = sum + term.coefficient;
    return sum.is_zero() || context_.is_contradictory();
  }
  const std::vector<Fact> cases = cases_of(undecided->guards[0]);
  return std::ranges::all_of(cases, [&](const Fact& fact) {
    const Context::Scope scope(context_, std::span(&fact, 1));
    return context_.is_contradictory() || indicators_cancel(open, depth + 1);
  });
}

Sum Matching::cancelled(const Sum& sum) {
  const Sum simple = sums_.simplified(sum);
  std::vector<Term> open = simple.terms;
  Sum left;
  while (!open.empty()) {
    const Term model = open.front();
    std::vector<std::size_t> places{0};
    std::vector<Term> group{model};
    bool is_gone = false;
    for (std::size_t t = 1; t < open.size() && !is_gone; ++t) {
      auto other = aligned(model, open[t]);
      if (!other) continue;
      if ((other->coefficient + model.coefficient).is_zero() && indicators_cancel(std::vector<Term>{model, *other})) {
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(t));
        open.erase(open.begin());
        is_gone = true;
        break;
      }
      places.push_back(t);
      group.push_back(*std::move(other));
    }
    if (is_gone) continue;
    if (indicators_cancel(group)) {
      for (std::size_t p = places.size(); p-- > 0;) open.erase(open.begin() + static_cast<std::ptrdiff_t>(places[p]));
      continue;
    }
    left.terms.push_back(model);
    open.erase(open.begin());
    if (places.size() == 1) continue;
  }
  return left;
}

}  // namespace rewright::theorem
