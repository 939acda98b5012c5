// How the checker of theorems compares values: written alike, of variables, of signs.
#pragma once

#include "verify/theorem_definitions.h"

namespace rewright::certified {

class LikenessCheck : protected DefinitionCheck {
 protected:
  using DefinitionCheck::DefinitionCheck;
  using DefinitionCheck::mentions;  // Beside those of values.
  ~LikenessCheck() = default;

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
  /// The same, up to the names of bound variables: `map` gives those of b by those of a. False says nothing.
  bool is_alike(const Factor& a, const Factor& b, Map& map) {
    if (a.kind != b.kind || a.which != b.which || a.at.size() != b.at.size() || a.branches.size() != b.branches.size())
      return false;
    for (std::size_t d = 0; d < a.at.size(); ++d) {
      if (put(b.at[d], map) != a.at[d]) return false;
    }
    for (std::size_t k = 0; k < a.branches.size(); ++k) {
      const Branch &x = a.branches[k], &y = b.branches[k];
      if (!is_bound_alike(x.bound, y.bound, map) || !is_alike(x.guards, y.guards, map) ||
          !is_alike(x.value, y.value, map))
        return false;
    }
    return is_alike(a.argument, b.argument, map);
  }
  bool is_alike(const Sum& a, const Sum& b, Map& map) {
    return std::ranges::equal(a, b, [&](const Term& x, const Term& y) {
      return x.numerator == y.numerator && x.denominator == y.denominator && is_bound_alike(x.bound, y.bound, map) &&
             is_alike(x.guards, y.guards, map) &&
             std::ranges::equal(x.factors, y.factors,
                                [&](const Factor& f, const Factor& g) { return is_alike(f, g, map); });
    });
  }
  bool is_alike(const std::vector<Fact>& a, const std::vector<Fact>& b, const Map& map) {
    const std::vector<Fact> c = put(b, map);
    const auto are_in = [](const std::vector<Fact>& some, const std::vector<Fact>& all) {
      return std::ranges::all_of(some, [&](const Fact& fact) { return std::ranges::find(all, fact) != all.end(); });
    };
    return a.size() == c.size() && are_in(a, c) && are_in(c, a);
  }
  static bool is_bound_alike(const std::vector<int>& a, const std::vector<int>& b, Map& map) {
    if (a.size() != b.size()) return false;
    for (std::size_t v = 0; v < a.size(); ++v) map.insert_or_assign(b[v], symbol(a[v]));
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
};

}  // namespace rewright::certified
