// Greatest values as sets of branches:
//
//   max{a + c, b + c} = max{a, b} + c          c without the branches' variables
//   max{f a, f b} = f max{a, b}                f >= 0
//   max{max{a, b} f + c, d} = max{f a + c, f b + c, d}     f >= 0
//   max{v | lo <= k <= hi} = max{v | lo <= hi}             v without k
//   max{a, b} = b                              b - a >= 0, as a sum of products of what is never negative
//
// A greatest value over nothing does not occur: shape rules refuse it (operators/README.md: no window is empty).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "theorem/sums.h"

namespace rewright::theorem {

namespace {

constexpr std::size_t kMostBranches = 40;
constexpr int kMostCases = 6;

}  // namespace

/// False where the branch is never there.
bool Sums::simplify_branch(Branch& branch) {
  for (int steps = 0; steps < 40; ++steps) {
    if (!reduce_guards(branch.guards)) return false;
    if (const auto value = determined(branch.bound, branch.guards)) {
      std::erase(branch.bound, value->first);
      const SymbolMap map{{value->first, value->second}};
      branch.guards = substitute(branch.guards, map);
      const Context::Scope scope(context_, branch.guards);
      branch.value = substitute(branch.value, map);
      continue;
    }
    // Variables that the value does not have.
    bool changed = false;
    for (const Symbol symbol : branch.bound) {
      if (mentions(branch.value, symbol)) continue;
      std::vector<Polynomial> low, high;
      std::vector<Fact> others;
      bool is_simple = true;
      for (const Fact& guard : branch.guards) {
        if (!symbols().mentions(guard.value, symbol)) {
          others.push_back(guard);
          continue;
        }
        const auto part = linear_in(symbols(), guard.value, symbol);
        is_simple = is_simple && part && !guard.is_equality;
        if (is_simple) (part->sign == 1 ? low : high).push_back(part->sign == 1 ? -part->rest : part->rest);
      }
      if (!is_simple) continue;
      for (const Polynomial& a : low) {
        for (const Polynomial& b : high) others.push_back(at_least_zero(b - a));
      }
      branch.guards = std::move(others);
      std::erase(branch.bound, symbol);
      changed = true;
      break;
    }
    if (!changed) return true;
  }
  throw Unsupported{"a maximum that does not come to rest"};
}

/// Guards of values, and maxima in them, become branches.
void Sums::flatten(std::vector<Branch>& branches) {
  std::vector<Branch> open = std::move(branches);
  branches.clear();
  while (!open.empty()) {
    if (branches.size() + open.size() > kMostBranches) throw Unsupported{"a maximum of too many branches"};
    Branch branch = std::move(open.back());
    open.pop_back();
    if (!simplify_branch(branch)) continue;
    {
      const Context::Scope scope(context_, branch.guards);
      branch.value = simplified(branch.value);
    }
    // [g] a + b: a + b where g holds, b where not.
    const Fact* guard = nullptr;
    for (const Term& term : branch.value.terms) {
      for (const Fact& g : term.guards) {
        if (std::ranges::none_of(term.bound, [&](Symbol s) { return symbols().mentions(g.value, s); })) guard = &g;
      }
    }
    if (guard != nullptr) {
      const Fact fact = *guard;
      std::vector<Fact> cases{fact};
      if (fact.is_equality) {
        cases.push_back(at_least_zero(fact.value - 1));
        cases.push_back(at_least_zero(Polynomial(-1) - fact.value));
      } else {
        cases.push_back(negation(fact));
      }
      for (std::size_t c = 0; c < cases.size(); ++c) {
        Branch part = branch;
        std::erase_if(part.value.terms, [&](Term& term) { return std::erase(term.guards, fact) > 0 && c > 0; });
        part.guards.push_back(cases[c]);
        std::ranges::sort(part.guards);
        open.push_back(std::move(part));
      }
      continue;
    }
    const auto nested = std::ranges::find_if(branch.value.terms, [&](const Term& term) {
      return term.bound.empty() && term.guards.empty() && term.coefficient.sign() > 0 &&
             std::ranges::count_if(
                 term.factors,
                 [](const Power& p) { return p.first->kind == Factor::Kind::kMaximum && p.second == 1; }) == 1 &&
             std::ranges::all_of(term.factors, [this](const Power& p) {
               return p.first->kind == Factor::Kind::kMaximum || p.second % 2 == 0 || is_natural(*p.first);
             });
    });
    if (nested == branch.value.terms.end()) {
      branches.push_back(std::move(branch));
      continue;
    }
    uses_order();
    const Term outer = *nested;
    const auto maximum = std::ranges::find_if(
        outer.factors, [](const Power& p) { return p.first->kind == Factor::Kind::kMaximum && p.second == 1; });
    Sum others = branch.value;
    others.terms.erase(others.terms.begin() + (nested - branch.value.terms.begin()));
    Term scale_of = outer;
    scale_of.factors.erase(scale_of.factors.begin() + (maximum - outer.factors.begin()));
    for (const Branch& inner : maximum->first->branches) {
      const Branch fresh = renamed(inner);
      Branch part = branch;
      part.bound.insert(part.bound.end(), fresh.bound.begin(), fresh.bound.end());
      part.guards.insert(part.guards.end(), fresh.guards.begin(), fresh.guards.end());
      std::ranges::sort(part.guards);
      part.value = add(renamed(others), multiply({{scale_of}}, fresh.value));
      open.push_back(std::move(part));
    }
  }
}

Sum Sums::maximum(std::vector<Branch> branches) {
  flatten(branches);
  return maximum_by_cases(std::move(branches), 0);
}

/// A guard about variables outside alone makes cases: which branches there are depends on them.
Sum Sums::maximum_by_cases(std::vector<Branch> branches, int depth) {
  if (branches.empty()) throw Unsupported{"a greatest value over nothing"};
  std::optional<Fact> outer;
  for (const Branch& branch : branches) {
    for (const Fact& guard : branch.guards) {
      if (std::ranges::none_of(branch.bound, [&](Symbol s) { return symbols().mentions(guard.value, s); }))
        outer = guard;
    }
  }
  if (!outer) return plain_maximum(std::move(branches));
  if (depth >= kMostCases) throw Unsupported{"a maximum of too many cases"};
  std::vector<Fact> cases{*outer};
  if (outer->is_equality) {
    cases.push_back(at_least_zero(outer->value - 1));
    cases.push_back(at_least_zero(Polynomial(-1) - outer->value));
  } else {
    cases.push_back(negation(*outer));
  }
  Sum result;
  for (const Fact& fact : cases) {
    const Context::Scope scope(context_, std::span(&fact, 1));
    if (context_.is_contradictory()) continue;
    std::vector<Branch> there;
    for (const Branch& branch : branches) {
      Branch copy = renamed(branch);
      if (reduce_guards(copy.guards)) there.push_back(std::move(copy));
    }
    result = add(result, reduce({}, std::span(&fact, 1), maximum_by_cases(std::move(there), depth + 1)));
  }
  return result;
}

/// max{f(a), f(b)} = f(max{a, b}) for f that increases: exp, log, sqrt, sigmoid, tanh, erf, odd powers, and even ones
/// of what is never negative.
std::optional<Sum> Sums::increasing_head(const std::vector<Branch>& branches) {
  if (std::ranges::any_of(branches, [](const Branch& branch) {
        return branch.value.terms.size() != 1 || !branch.value.terms[0].bound.empty() ||
               !branch.value.terms[0].guards.empty() || branch.value.terms[0].factors.empty();
      }))
    return std::nullopt;
  const Term& first = branches[0].value.terms[0];
  const Factor& head = *first.factors[0].first;
  std::vector<Branch> inside;
  if (head.kind == Factor::Kind::kCall && head.function == Function::kExp) {
    for (const Branch& branch : branches) {
      const Term& term = branch.value.terms[0];
      if (!(term.coefficient == first.coefficient) || term.coefficient.sign() < 0) return std::nullopt;
      Sum argument;
      for (const auto& [factor, exponent] : term.factors) {
        if (factor->kind != Factor::Kind::kCall || factor->function != Function::kExp) return std::nullopt;
        argument = add(argument, scale(renamed(factor->argument), exponent));
      }
      inside.push_back({branch.bound, branch.guards, std::move(argument)});
    }
    uses_functions();
    return scale(call(Function::kExp, maximum(std::move(inside))), first.coefficient);
  }
  const auto is_sole = [](const Term& term) { return term.factors.size() == 1 && term.factors[0].second == 1; };
  if (head.kind == Factor::Kind::kCall && is_sole(first)) {
    const bool is_odd = head.function == Function::kTanh || head.function == Function::kErf;
    const Rational size = first.coefficient.sign() < 0 ? -first.coefficient : first.coefficient;
    for (const Branch& branch : branches) {
      const Term& term = branch.value.terms[0];
      const bool is_turned = term.coefficient.sign() < 0;
      if (!is_sole(term) || !((is_turned ? -term.coefficient : term.coefficient) == size) || (is_turned && !is_odd) ||
          term.factors[0].first->kind != Factor::Kind::kCall || term.factors[0].first->function != head.function)
        return std::nullopt;
      inside.push_back(
          {branch.bound, branch.guards, scale(renamed(term.factors[0].first->argument), is_turned ? -1 : 1)});
    }
    uses_functions();
    return scale(call(head.function, maximum(std::move(inside))), size);
  }
  int root = 0;
  for (const Branch& branch : branches) {
    const Term& term = branch.value.terms[0];
    if (!(term.coefficient == Rational(1))) return std::nullopt;
    for (const auto& [factor, exponent] : term.factors) root = std::gcd(root, exponent);
  }
  for (; root > 1; --root) {
    inside.clear();
    bool is_increasing = true;
    for (const Branch& branch : branches) {
      Term base = branch.value.terms[0];
      for (auto& [factor, exponent] : base.factors) {
        is_increasing = is_increasing && exponent % root == 0;
        exponent /= root;
      }
      is_increasing = is_increasing && (root % 2 == 1 || is_natural(Sum{{base}}));
      inside.push_back({branch.bound, branch.guards, Sum{{std::move(base)}}});
    }
    if (is_increasing) return power(maximum(std::move(inside)), root);
  }
  return std::nullopt;
}

Sum Sums::plain_maximum(std::vector<Branch> branches) {
  // One of each, and none that another is never below.
  std::vector<Branch> kept;
  std::set<std::string> seen;
  const auto is_always = [](const Branch& branch) { return branch.bound.empty() && branch.guards.empty(); };
  for (Branch& branch : branches) {
    std::map<Symbol, std::string> names;
    for (const Symbol symbol : branch.bound) names.emplace(symbol, fmt::format("b{}", names.size()));
    if (!seen.insert(key(branch.guards, names) + "|" + key(branch.value, names)).second) continue;
    kept.push_back(std::move(branch));
  }
  if (kept.size() < branches.size()) uses_order();
  for (std::size_t a = 0; a < kept.size();) {
    bool is_below = false;
    for (std::size_t b = 0; b < kept.size() && !is_below; ++b)
      is_below = a != b && is_always(kept[b]) && is_natural(subtract(kept[b].value, kept[a].value));
    if (is_below) {
      uses_order();
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(a));
    } else {
      ++a;
    }
  }
  if (kept.size() == 1 && is_always(kept[0])) return kept[0].value;
  if (auto head = increasing_head(kept)) {
    uses_order();
    return *std::move(head);
  }
  // Common terms.
  Sum common;
  for (const Term& term : std::vector(kept[0].value.terms)) {
    const std::string text = key(term, {});
    const bool is_free = std::ranges::all_of(kept, [&](const Branch& branch) {
      return std::ranges::any_of(
                 branch.value.terms,
                 [&](const Term& t) { return t.coefficient == term.coefficient && key(t, {}) == text; }) &&
             std::ranges::none_of(branch.bound, [&](Symbol s) { return mentions(Sum{{term}}, s); });
    });
    if (!is_free) continue;
    uses_order();
    common = add(common, Sum{{term}});
    for (Branch& branch : kept) std::erase_if(branch.value.terms, [&](const Term& t) { return key(t, {}) == text; });
  }
  // A common scale: the coefficients' greatest divisor, then factors that are never negative.
  std::int64_t numerator = 0, denominator = 1;
  for (const Branch& branch : kept) {
    for (const Term& term : branch.value.terms) {
      numerator = std::gcd(numerator, term.coefficient.numerator());
      denominator = checked_multiply(denominator / std::gcd(denominator, term.coefficient.denominator()),
                                     term.coefficient.denominator());
    }
  }
  Sum scale_of = number(1);
  if (numerator != 0) {
    scale_of = number(Rational(numerator, denominator));
    if (numerator != denominator) uses_order();
    for (Branch& branch : kept) branch.value = scale(branch.value, Rational(denominator, numerator));
    const auto first = std::ranges::find_if(kept, [](const Branch& branch) { return !branch.value.is_zero(); });
    for (const auto& [factor, exponent] : std::vector(first->value.terms[0].factors)) {
      // In every term, at least so often; an even power where the factor itself can be negative.
      int shared = exponent;
      for (const Branch& branch : kept) {
        for (const Term& term : branch.value.terms) {
          const auto found =
              std::ranges::find_if(term.factors, [&](const Power& p) { return p.first->key == factor->key; });
          const bool is_there = found != term.factors.end() && (found->second > 0) == (exponent > 0) &&
                                !mentions_any(*factor, term.bound) && !mentions_any(*factor, branch.bound);
          shared = !is_there ? 0 : std::abs(found->second) < std::abs(shared) ? found->second : shared;
        }
      }
      if (!is_natural(*factor)) shared -= shared % 2;
      if (shared == 0) continue;
      uses_order();
      const Power out(factor, -shared);
      for (Branch& branch : kept) {
        for (Term& term : branch.value.terms) term.factors = merged(term.factors, std::span(&out, 1));
      }
      scale_of = multiply(scale_of, single(factor, shared));
    }
  }
  for (Branch& branch : kept) branch = renamed(branch);
  return add(common, multiply(scale_of, single(make({.kind = Factor::Kind::kMaximum, .branches = std::move(kept)}))));
}

}  // namespace rewright::theorem
