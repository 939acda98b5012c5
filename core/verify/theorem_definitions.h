// Sums of products of values, and what an operator's definition says of an element, for the checker of theorems.
#pragma once

#include <map>

#include "tensor/real.h"
#include "verify/theorem_facts.h"

namespace rewright::certified {

class DefinitionCheck : protected FactCheck {
 protected:
  using FactCheck::FactCheck;
  using FactCheck::put;  // Beside those of values.
  ~DefinitionCheck() = default;

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

  /// A function or an inverse of a sum, by its laws; the greatest of branches.
  virtual Sum applied(Factor shape, const Sum& argument, int depth) = 0;
  virtual Sum greatest(const std::vector<Branch>& branches, int depth) = 0;

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

  std::map<std::uint32_t, Definition> definitions_;
};

}  // namespace rewright::certified
