#include "theorem/finish.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "theorem/refutation.h"

namespace rewright::theorem {

namespace {

constexpr int kMostSigns = 7;
constexpr int kMostQuotients = 8;
constexpr std::int64_t kPivots = 4'000;

bool is_plain(const Branch& branch) { return branch.bound.empty() && branch.guards.empty(); }

}  // namespace

/// With sigmoid and tanh by exponentials, where no variable is bound around them.
Sum Finish::expanded(const Sum& sum) {
  Sum result;
  for (const Term& term : sum.terms) {
    Sum product{{Term{term.coefficient, {}, {}, {}}}};
    for (const auto& [factor, exponent] : term.factors) {
      const bool is_call = factor->kind == Factor::Kind::kCall && exponent > 0 && term.bound.empty();
      if (is_call && factor->function == Function::kSigmoid) {
        const Sum e = sums_.call(Function::kExp, sums_.renamed(factor->argument));
        product = sums_.multiply(
            product, sums_.power(sums_.multiply(e, sums_.inverse(sums_.add(e, Sums::number(1)))), exponent));
        sums_.uses_functions();
      } else if (is_call && factor->function == Function::kTanh) {
        const Sum e = sums_.call(Function::kExp, sums_.scale(sums_.renamed(factor->argument), 2));
        const Sum quotient =
            sums_.multiply(sums_.subtract(e, Sums::number(1)), sums_.inverse(sums_.add(e, Sums::number(1))));
        product = sums_.multiply(product, sums_.power(quotient, exponent));
        sums_.uses_functions();
      } else {
        product = sums_.multiply(product, Sums::single(factor, exponent));
      }
    }
    result = sums_.add(result, sums_.reduce(term.bound, term.guards, product));
  }
  return result;
}

/// n s for a quotient 1/s in n with s above 0.
std::optional<Sum> Finish::without_quotient(const Sum& sum) {
  FactorRef chosen;
  for (const Term& term : sum.terms) {
    for (const auto& [factor, exponent] : term.factors) {
      if (factor->kind == Factor::Kind::kInverse && exponent > 0 && sums_.is_positive(factor->argument) &&
          !sums_.mentions_any(*factor, term.bound))
        chosen = factor;
    }
  }
  if (!chosen) return std::nullopt;
  const Power less(chosen, -1);
  Sum result;
  for (const Term& term : sum.terms) {
    const auto found =
        std::ranges::find_if(term.factors, [&](const Power& p) { return p.first->key == chosen->key && p.second > 0; });
    if (found != term.factors.end()) {
      Term reduced = term;
      reduced.factors = Sums::merged(term.factors, std::span(&less, 1));
      result = sums_.add(result, Sum{{reduced}});
    } else {
      result = sums_.add(result, sums_.multiply(Sum{{term}}, sums_.renamed(chosen->argument)));
    }
  }
  return result;
}

Sum Finish::replaced(const Sum& sum, const std::string& key, const Sum& by) {
  Sum result;
  for (const Term& term : sum.terms) {
    const Context::Scope scope(sums_.context(), term.guards);
    Sum product{{Term{term.coefficient, {}, {}, {}}}};
    for (const auto& [factor, exponent] : term.factors) {
      Sum value = Sums::single(factor);
      bool changed = false;
      if (factor->kind == Factor::Kind::kMaximum) {
        changed = factor->key == key;
        if (changed) {
          value = by;
        } else if (std::ranges::all_of(factor->branches, is_plain)) {
          std::vector<Branch> branches;
          for (const Branch& branch : factor->branches)
            branches.push_back({{}, {}, replaced(sums_.renamed(branch.value), key, by)});
          value = sums_.maximum(std::move(branches));
          changed = true;
        }
      } else if (factor->kind == Factor::Kind::kCall) {
        value = sums_.call(factor->function, replaced(sums_.renamed(factor->argument), key, by));
        changed = true;
      } else if (factor->kind == Factor::Kind::kInverse) {
        value = sums_.inverse(replaced(sums_.renamed(factor->argument), key, by));
        changed = true;
      }
      if (!changed) {
        value = Sums::single(factor, exponent);
      } else {
        value = sums_.power(exponent > 0 ? value : sums_.inverse(value), std::abs(exponent));
      }
      product = sums_.multiply(product, value);
    }
    result = sums_.add(result, sums_.reduce(term.bound, term.guards, product));
  }
  return result;
}

/// Can no numbers have these signs? Products of values are unknowns of their own; products of two signs are signs.
bool Finish::excluded() const {
  std::vector<Sign> signs = signs_;
  for (std::size_t a = 0; a < signs_.size(); ++a) {
    for (std::size_t b = a; b < signs_.size(); ++b)
      signs.push_back({sums_.multiply(signs_[a].value, sums_.renamed(signs_[b].value)),
                       signs_[a].is_strict && signs_[b].is_strict});
  }
  // Each product of factors is an unknown; the constants are multiples of one that is above 0, so that "above 0" may be
  // said as "at least 1" (Motzkin, 1936).
  constexpr Symbol kOne = 0;
  std::map<std::string, Symbol> unknowns;
  std::vector<Fact> facts{at_least_zero(Polynomial::symbol(kOne) - 1)};
  for (const Sign& sign : signs) {
    std::int64_t denominator = 1;
    for (const Term& term : sign.value.terms)
      denominator = checked_multiply(denominator / std::gcd(denominator, term.coefficient.denominator()),
                                     term.coefficient.denominator());
    Polynomial value;
    for (const Term& term : sign.value.terms) {
      Symbol symbol = kOne;
      if (!term.factors.empty() || !term.bound.empty() || !term.guards.empty()) {
        Term one = term;
        one.coefficient = 1;
        const auto [found, is_new] = unknowns.emplace(sums_.text(Sum{{one}}), static_cast<Symbol>(unknowns.size() + 1));
        symbol = found->second;
        if (is_new && sums_.is_natural(Sum{{one}})) {
          const bool is_positive = term.bound.empty() && term.guards.empty() && sums_.is_positive(Sum{{one}});
          facts.push_back(at_least_zero(Polynomial::symbol(symbol) - (is_positive ? 1 : 0)));
        }
      }
      const Rational scaled = term.coefficient * Rational(denominator);
      value = value + Polynomial::term({symbol}, scaled.numerator());
    }
    facts.push_back(at_least_zero(sign.is_strict ? value - 1 : value));
  }
  std::int64_t pivots = kPivots;
  const auto combination = refute(facts, pivots);
  return combination && is_refutation(facts, *combination);
}

/// Do the signs leave nothing but 0?
bool Finish::follows(const Sum& rest) {
  for (const int sign : {1, -1}) {
    signs_.push_back({sums_.scale(rest, sign), true});
    const bool cannot_be = excluded();
    signs_.pop_back();
    if (!cannot_be) return false;
  }
  return true;
}

bool Finish::is_zero(const Sum& sum, int depth) {
  Sum rest = matching_.cancelled(expanded(sum));
  for (int i = 0; i < kMostQuotients && !rest.is_zero(); ++i) {
    const auto cleared = without_quotient(rest);
    if (!cleared) break;
    rest = matching_.cancelled(*cleared);
  }
  if (rest.is_zero()) return true;
  if (depth >= kMostSigns) return follows(rest);
  // A maximum that no variable is bound around; the innermost first.
  FactorRef chosen;
  const auto consider = [&](const Sum& in, auto&& self) -> void {
    for (const Term& term : in.terms) {
      for (const auto& [factor, exponent] : term.factors) {
        if (factor->kind == Factor::Kind::kMaximum && std::ranges::all_of(factor->branches, is_plain) &&
            factor->branches.size() > 1 && !sums_.mentions_any(*factor, term.bound)) {
          for (const Branch& branch : factor->branches) self(branch.value, self);
          if (!chosen) chosen = factor;
        }
        if (!chosen && (factor->kind == Factor::Kind::kCall || factor->kind == Factor::Kind::kInverse) &&
            term.bound.empty())
          self(factor->argument, self);
      }
    }
  };
  consider(rest, consider);
  if (!chosen) return follows(rest);
  sums_.uses_order();
  for (std::size_t greatest = 0; greatest < chosen->branches.size(); ++greatest) {
    const std::size_t before = signs_.size();
    for (std::size_t other = 0; other < chosen->branches.size(); ++other) {
      if (other == greatest) continue;
      signs_.push_back({sums_.subtract(sums_.renamed(chosen->branches[greatest].value),
                                       sums_.renamed(chosen->branches[other].value)),
                        other < greatest});
    }
    const auto holds_with = [&](std::size_t branch) {
      return is_zero(replaced(rest, chosen->key, sums_.renamed(chosen->branches[branch].value)), depth + 1);
    };
    bool holds = excluded() || holds_with(greatest);
    // Another branch is as great, if this one cannot be greater.
    for (std::size_t other = 0; other < chosen->branches.size() && !holds; ++other) {
      if (other == greatest) continue;
      signs_.push_back({sums_.subtract(sums_.renamed(chosen->branches[greatest].value),
                                       sums_.renamed(chosen->branches[other].value)),
                        true});
      const bool cannot_exceed = excluded();
      signs_.pop_back();
      holds = cannot_exceed && holds_with(other);
    }
    signs_.resize(before);
    if (!holds) return false;
  }
  return true;
}

}  // namespace rewright::theorem
