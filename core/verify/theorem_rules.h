// The rules by which the checker of theorems simplifies sums; theorem_certificate.h has them as a list.
#pragma once

#include <cmath>
#include <cstdlib>

#include "verify/theorem_likeness.h"

namespace rewright::certified {

class RuleCheck : protected LikenessCheck {
 protected:
  using DefinitionCheck::put;
  using DefinitionCheck::renamed;
  using LikenessCheck::LikenessCheck;
  ~RuleCheck() = default;

  virtual bool equal(const Factor& a, const Factor& b) = 0;
  virtual bool equal(const Sum& a, const Sum& b) = 0;

  // --- rules

  [[nodiscard]] bool is_about(const Fact& fact, const std::vector<int>& bound) const {
    return std::ranges::any_of(bound, [&](int s) { return mentions(fact.value, s); });
  }
  /// f(sum): a guard that is not about the terms' own variables makes cases.
  Sum applied(Factor shape, const Sum& argument, int depth) override {
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
    if (shape.kind == Factor::Kind::kInverse && simple.size() == 1 && simple[0].bound.empty() &&
        simple[0].guards.empty() && simple[0].factors.empty()) {
      const std::int64_t sign = simple[0].numerator < 0 ? -1 : 1;  // A number, not 0.
      return constant({sign * simple[0].denominator, sign * simple[0].numerator});
    }
    if (shape.kind == Factor::Kind::kInverse) {
      Sum rest = simple;
      if (const auto power = common_exponential(rest)) {
        const Factor exponential{.kind = Factor::Kind::kCall, .which = static_cast<std::size_t>(Function::kExp)};
        return times(applied(exponential, scaled(power->argument, {-1, 1}), depth + 1),
                     applied(shape, rest, depth + 1));
      }
    }
    shape.argument = renamed(simple);
    return one(std::move(shape));
  }
  /// exp(a + b) = exp(a) exp(b), log(exp(a)) = a, sqrt(a a) = max{a, -a}, tanh(-a) = -tanh(a), erf(-a) = -erf(a),
  /// sigmoid(-a) = 1 - sigmoid(a)
  std::optional<Sum> by_law(Function function, const Sum& argument) {
    const Factor shape{.kind = Factor::Kind::kCall, .which = static_cast<std::size_t>(function)};
    if (function == Function::kExp && argument.size() > 1) {
      Sum result = constant({1, 1});
      for (const Term& term : argument) result = times(result, applied(shape, {term}, 0));
      return result;
    }
    if (function == Function::kSigmoid && !argument.empty() && argument[0].numerator < 0)
      return joined(constant({1, 1}), scaled(applied(shape, scaled(argument, {-1, 1}), 0), {-1, 1}));
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
  [[nodiscard]] static bool is_exponential(const Factor& factor) {
    return factor.kind == Factor::Kind::kCall && static_cast<Function>(factor.which) == Function::kExp;
  }
  /// Takes out of each term an exponential that all have and that does not change with their variables.
  std::optional<Factor> common_exponential(Sum& all) {
    if (all.empty()) return std::nullopt;
    const auto place_in = [&](const Term& term, const Factor& wanted) {
      return std::ranges::find_if(term.factors, [&](const Factor& factor) {
        Map names;
        return is_exponential(factor) && is_alike(wanted, factor, names) &&
               std::ranges::none_of(term.bound, [&](int s) { return mentions(factor, s); });
      });
    };
    for (const Factor& factor : std::vector<Factor>(all[0].factors)) {
      if (!is_exponential(factor)) continue;
      const auto has_it = [&](const Term& term) { return place_in(term, factor) != term.factors.end(); };
      if (!std::ranges::all_of(all, has_it)) continue;
      for (Term& term : all) term.factors.erase(place_in(term, factor));
      return factor;
    }
    return std::nullopt;
  }
  /// Takes exp(a) and exp(-a) out of a product.
  bool cancels_exponentials(Term& term) {
    for (std::size_t a = 0; a < term.factors.size(); ++a) {
      for (std::size_t b = a + 1; b < term.factors.size(); ++b) {
        if (!is_exponential(term.factors[a]) || !is_exponential(term.factors[b])) continue;
        Map names;
        if (!is_alike(term.factors[a].argument, scaled(term.factors[b].argument, {-1, 1}), names)) continue;
        term.factors.erase(term.factors.begin() + static_cast<std::ptrdiff_t>(b));
        term.factors.erase(term.factors.begin() + static_cast<std::ptrdiff_t>(a));
        return true;
      }
    }
    return false;
  }
  /// A branch by the cases of a guard of its value that is about its own variables.
  static std::vector<Branch> in_cases(const std::vector<Branch>& branches, std::size_t which, const Fact& guard) {
    std::vector<Branch> all(branches.begin(), branches.begin() + static_cast<std::ptrdiff_t>(which));
    for (const Fact& fact : cases_of(guard)) all.push_back(branches[which]), all.back().guards.push_back(fact);
    all.insert(all.end(), branches.begin() + static_cast<std::ptrdiff_t>(which) + 1, branches.end());
    return all;
  }
  Sum greatest(const std::vector<Branch>& branches, int depth) override {
    std::vector<Branch> kept;
    for (std::size_t which = 0; which < branches.size(); ++which) {
      Branch branch = branches[which];
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
          if (is_about(guard, branch.bound)) {
            if (depth > 6) outside("a maximum of a value in cases");
            return greatest(in_cases(branches, which, guard), depth + 1);
          }
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
  /// Takes out of all branches what is in every term and never negative, or there twice, and does not change with their
  /// variables.
  std::vector<Factor> common_naturals(std::vector<Branch>& branches) const {
    std::vector<Factor> common;
    const auto first = std::ranges::find_if(branches, [](const Branch& branch) { return !branch.value.empty(); });
    if (first == branches.end()) return common;
    for (const Factor& factor : std::vector<Factor>(first->value[0].factors)) {
      const std::ptrdiff_t times = is_natural(factor) ? 1 : 2;
      const auto is_it = [&](const Factor& f) { return is_same(f, factor); };
      const bool is_common = std::ranges::all_of(branches, [&](const Branch& branch) {
        return std::ranges::none_of(branch.bound, [&](int s) { return mentions(factor, s); }) &&
               std::ranges::all_of(branch.value, [&](const Term& term) {
                 return std::ranges::count_if(term.factors, is_it) >= times &&
                        std::ranges::none_of(term.bound, [&](int s) { return mentions(factor, s); });
               });
      });
      if (!is_common) continue;
      for (std::ptrdiff_t time = 0; time < times; ++time) {
        for (Branch& branch : branches) {
          for (Term& term : branch.value) term.factors.erase(std::ranges::find_if(term.factors, is_it));
        }
        common.push_back(factor);
      }
    }
    return common;
  }
  /// The function, defined and increasing on all numbers, that each branch is a value of.
  static std::optional<std::size_t> increasing_head(const std::vector<Branch>& branches) {
    std::optional<std::size_t> head;
    for (const Branch& branch : branches) {
      if (branch.value.size() != 1) return std::nullopt;
      const Term& term = branch.value[0];
      if (term.numerator != 1 || term.denominator != 1 || !term.bound.empty() || !term.guards.empty() ||
          term.factors.size() != 1 || term.factors[0].kind != Factor::Kind::kCall)
        return std::nullopt;
      const std::size_t which = term.factors[0].which;
      const auto function = static_cast<Function>(which);
      if (function != Function::kExp && function != Function::kTanh && function != Function::kErf &&
          function != Function::kSigmoid)
        return std::nullopt;
      if (head.value_or(which) != which) return std::nullopt;
      head = which;
    }
    return head;
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
    // max{f(a), f(b)} = f(max{a, b}) for an increasing f
    if (const auto function = increasing_head(kept)) {
      for (Branch& branch : kept) branch.value = renamed(Sum(branch.value[0].factors[0].argument));
      return applied({.kind = Factor::Kind::kCall, .which = *function}, greatest(kept, depth), 0);
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
  Sum simplified(const Sum& all) {
    Sum open = all, done;
    for (int step = 0; !open.empty(); ++step) {
      if (step > kMostTerms) outside("a sum that does not come to rest");
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
        Map names;
        return is_alike(Sum{scaled}, Sum{term}, names);
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
    if (Term rest = term; cancels_exponentials(rest)) {
      open.push_back(std::move(rest));
      return true;
    }
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
    for (const int s : term.bound) {  // A range from e on is one from 0 on.
      const auto is_from_zero = [&](const Fact& guard) { return !guard.is_equality && guard.value == symbol(s); };
      if (std::ranges::any_of(term.guards, is_from_zero)) continue;
      for (const Fact& guard : term.guards) {
        const auto part = guard.is_equality ? std::nullopt : linear(guard.value, s);
        if (!part || part->sign != 1 || has_bound(part->rest)) continue;
        const int fresh = new_bound();
        Term moved = put(without(s), {{s, symbol(fresh) - part->rest}});
        moved.bound = term.bound;
        std::ranges::replace(moved.bound, s, fresh);
        open.push_back(std::move(moved));
        return true;
      }
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
  static constexpr int kMostTerms = 20'000;

  [[nodiscard]] bool uses(const Term& term, int q) const {
    const auto in = [&](const Polynomial& p) {
      return std::ranges::any_of(p, [q](const auto& t) { return std::ranges::find(t.first, q) != t.first.end(); });
    };
    return std::ranges::any_of(term.guards, [&](const Fact& guard) { return in(guard.value); }) ||
           std::ranges::any_of(term.factors, [&](const Factor& f) { return std::ranges::any_of(f.at, in); });
  }
};

}  // namespace rewright::certified
