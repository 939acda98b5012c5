#include <rewright/verify/theorem_certificate.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "verify/theorem_rules.h"
#include "verify/theorem_text.h"

namespace rewright::certified {

Trial::~Trial() = default;
Oracle::~Oracle() = default;

namespace {

class Machine final : public Trial, private RuleCheck {
 public:
  Machine(const TypedAxiom& equation, Oracle& recorded, Oracle& tried) : RuleCheck(equation, recorded, tried) {}

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
  static constexpr int kMostCases = 14;

  // --- cancelling

  bool vanishes(const Sum& all) { return left_of(all).empty(); }
  /// What the groups do not cancel.
  Sum left_of(const Sum& all) {
    const Sum terms = simplified(all);
    if (terms.empty()) return {};
    const Groups groups = oracle_->groups(symbols_, facts_, terms, *this);
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
  bool equal(const Factor& a, const Factor& b) override {
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
    Map names;
    if (is_alike(a, b, names)) return true;
    std::set<std::size_t> met;  // Branches of b that are values of a's, always there, so that they are covered too.
    return all_covered(a, b, {}, &met) && all_covered(b, a, met, nullptr);
  }
  /// Each branch but these has one in the other that is as great, for all of its variables.
  bool all_covered(const Factor& a, const Factor& b, const std::set<std::size_t>& but, std::set<std::size_t>* met) {
    const auto is_value = [](const Branch& branch) { return branch.bound.empty() && branch.guards.empty(); };
    for (std::size_t place = 0; place < a.branches.size(); ++place) {
      if (but.contains(place)) continue;
      const Branch branch = renamed(a.branches[place]);
      const auto cover = oracle_->cover(symbols_, facts_, branch, b.branches, *this);
      if (!cover) return false;
      if (cover->branch >= b.branches.size()) refuse("a branch that there is not");
      if (!is_covered(branch, b.branches[cover->branch], cover->map)) return false;
      if (met != nullptr && is_value(branch) && is_value(b.branches[cover->branch])) met->insert(cover->branch);
    }
    return true;
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
  bool equal(const Sum& a, const Sum& b) override {
    Map names;
    return is_alike(a, b, names) || vanishes(joined(renamed(a), scaled(renamed(b), {-1, 1})));
  }
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

  /// Sums over 0 to c as c + 1 terms, for a number c below kFew; nothing where there is none.
  std::optional<Sum> written_out(const Sum& all) {
    Sum open = all, result;
    bool is_changed = false;
    for (int step = 0; !open.empty(); ++step) {
      if (step > kMostTerms) outside("a sum of too many terms");
      Term term = std::move(open.back());
      open.pop_back();
      std::optional<std::pair<int, std::int64_t>> few;
      for (const int s : term.bound) {
        if (std::ranges::find(term.guards, at_least_zero(symbol(s))) == term.guards.end()) continue;
        for (const Fact& guard : term.guards) {
          if (guard.is_equality || few) continue;
          const Polynomial last = guard.value + symbol(s);
          const bool is_number = last.empty() || (last.size() == 1 && last.begin()->first.empty());
          const std::int64_t value = last.empty() ? 0 : last.begin()->second;
          if (is_number && value >= 0 && value < kFew) few = std::pair(s, value);
        }
      }
      if (!few) {
        result.push_back(std::move(term));
        continue;
      }
      is_changed = true;
      std::erase(term.bound, few->first);
      for (std::int64_t value = 0; value <= few->second; ++value) {
        for (const Term& copy : renamed(Sum{term})) open.push_back(put(copy, {{few->first, number(value)}}));
      }
    }
    return is_changed ? std::optional(std::move(result)) : std::nullopt;
  }
  static constexpr std::int64_t kFew = 8;

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
      if (rest.empty()) return;
      if (const auto terms = written_out(rest); terms && left_of(*terms).empty()) return;
      signs_.clear();
      if (!vanishes_by_signs(rest, 0)) throw Refused{ErrorCode::kNotFound, "terms are left"};
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

  std::vector<Polynomial> index_;
  std::vector<std::vector<Polynomial>> shapes_;
  std::vector<Sign> signs_;
};

}  // namespace

Result<std::string> certify(const TypedAxiom& equation, Oracle& oracle) {
  Recorder recorder(oracle);
  try {
    Machine(equation, recorder, oracle).run();
  } catch (const Refused& refused) {
    return make_error(refused.code, "{}", refused.why);
  } catch (const std::length_error&) {
    return make_error(ErrorCode::kUnsupported, "a product of more than 15 sizes and indices");
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
  } catch (const std::length_error&) {
    return make_error(ErrorCode::kMismatch,
                      "certificate of a theorem, line {}: a product of more than 15 sizes and indices", reader.line());
  }
  return {};
}

}  // namespace rewright::certified
