#include "theorem/expansion.h"

#include <algorithm>
#include <cmath>

#include "tensor/real.h"

namespace rewright::theorem {

Polynomial value_of(const SymbolicDim& dim, const SizeValues& sizes, Context& context) {
  Polynomial result = dim.constant_term();
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    Polynomial factor;
    switch (atom.kind) {
      case SymbolicDim::Atom::Kind::kVariable: {
        const auto found = sizes.find(*atom.variable);
        if (found == sizes.end()) throw Unsupported{"a size that has no value: " + atom.variable->text()};
        factor = found->second;
        break;
      }
      case SymbolicDim::Atom::Kind::kQuotient:
        factor = context.floor_divide(value_of(*atom.left, sizes, context), atom.divisor);
        break;
      case SymbolicDim::Atom::Kind::kProduct:
        factor = value_of(*atom.left, sizes, context) * value_of(*atom.right, sizes, context);
        break;
    }
    result = result + factor * Polynomial(atom.coefficient);
  }
  return result;
}

namespace {

/// The fraction that a parameter means. Errors: Unsupported where it has none that fits.
Rational meaning(double number) {
  if (!std::isfinite(number)) throw Unsupported{"a parameter that is no number"};
  const RealMeaning meant = meaning_of(number);
  Rational result(meant.numerator, meant.denominator);
  for (int i = 0; i < std::abs(meant.ten); ++i) result = meant.ten > 0 ? result * Rational(10) : result / Rational(10);
  for (int i = 0; i < meant.two; ++i) result = result * Rational(2);
  return result;
}

}  // namespace

Expansion::Expansion(std::span<const TypedTerm> terms, const SizeValues& sizes, Sums& sums)
    : terms_(terms), sizes_(sizes), sums_(sums), context_(sums.context()) {}

const Definition& Expansion::definition_of(std::uint32_t term) {
  const auto found = definitions_.find(term);
  if (found != definitions_.end()) return found->second;
  std::vector<SymbolicShape> in;
  for (const std::uint32_t operand : terms_[term].operands) in.push_back(terms_[operand].shape);
  auto definition = terms_[term].op->definition(terms_[term].params, in);
  if (!definition) throw Unsupported{definition.error().message};
  return definitions_.emplace(term, *std::move(definition)).first->second;
}

Sum Expansion::element(std::uint32_t term, const std::vector<Polynomial>& at) {
  const TypedTerm& typed = terms_[term];
  if (typed.variable) return sums_.element(*typed.variable, at);
  const Application of{term, &definition_of(term)};
  const BufferId output{static_cast<std::uint32_t>(typed.operands.size()) + typed.output};
  return read(of, output, at);
}

Sum Expansion::read(const Application& of, BufferId buffer, const std::vector<Polynomial>& at) {
  if ((*of.definition)[buffer].role == BufferRole::kInput) return element(terms_[of.term].operands[buffer.value], at);
  std::vector<const Stage*> stages;
  for (const Stage& stage : of.definition->stages) {
    if (stage.target == buffer) stages.push_back(&stage);
  }
  Sum result;
  for (const Stage* stage : stages) result = sums_.add(result, stage_value(of, *stage, at, stages.size() == 1));
  return result;
}

Sum Expansion::stage_value(const Application& of, const Stage& stage, const std::vector<Polynomial>& at, bool is_sole) {
  if (serial_axis(stage) != nullptr) throw Unsupported{terms_[of.term].op->name() + " is defined by a recurrence"};
  Places places;
  Guards guards;
  bool is_whole = is_sole && stage.where.empty();
  for (std::size_t d = 0; d < stage.at.size(); ++d) {
    const auto form = affine(stage.at[d]);
    if (!form || form->terms.size() > 1 || (form->terms.size() == 1 && !(form->terms[0].second == SymbolicDim(1))))
      throw Unsupported{"a stage of " + terms_[of.term].op->name() + " writes at an index that is not an axis"};
    const Polynomial offset = value_of(form->constant, sizes_, context_);
    if (form->terms.empty()) {
      guards.push_back(is_zero(at[d] - offset));
      is_whole = false;
      continue;
    }
    if (!offset.is_zero()) is_whole = false;
    if (!places.emplace(form->terms[0].first.id, at[d] - offset).second)
      throw Unsupported{"a stage of " + terms_[of.term].op->name() + " writes on a diagonal"};
  }
  if (is_whole) return value(of, stage.value, places);
  const auto is_end_to_end = [&](const AxisRange& range) {
    for (std::size_t d = 0; d < stage.at.size(); ++d) {
      if (stage.at[d] == IndexExpr(range.axis))
        return index(of, range.extent, places) == index(of, (*of.definition)[stage.target].sizes[d], places);
    }
    return false;
  };
  for (const AxisRange& range : stage.axes) {
    const auto place = places.find(range.axis.id);
    if (place == places.end()) throw Unsupported{"a stage of " + terms_[of.term].op->name() + " writes twice"};
    // An axis that the stage writes from end to end: what is read lies inside.
    if (is_end_to_end(range)) continue;
    guards.push_back(at_least_zero(place->second));
    guards.push_back(at_least_zero(index(of, range.extent, places) - place->second - 1));
  }
  for (const IndexCondition& one : stage.where) guards.push_back(condition(of, one, places));
  return where(guards, [&] { return value(of, stage.value, places); });
}

template <class Make>
Sum Expansion::where(const Guards& guards, const Make& make) {
  Guards kept;
  for (const Fact& guard : guards) {
    if (context_.holds(guard)) continue;
    if (context_.fails(guard)) return {};
    if (!context_.symbols().has_bound(guard.value)) throw Split{guard};
    kept.push_back(guard);
  }
  if (kept.empty()) return make();
  const Context::Scope scope(context_, kept);
  if (context_.is_contradictory()) return {};
  return sums_.guarded(kept, make());
}

// --- indices

Polynomial Expansion::index(const Application& of, const IndexExpr& expression, const Places& places) {
  if (const auto size = expression.size()) return value_of(*size, sizes_, context_);
  const auto operand = [&](std::size_t k) { return index(of, expression.operands()[k], places); };
  switch (expression.kind()) {
    case IndexExpr::Kind::kAxis: {
      const auto found = places.find(expression.axis().id);
      if (found == places.end()) throw Unsupported{"an axis outside of its loop"};
      return found->second;
    }
    case IndexExpr::Kind::kAdd: return operand(0) + operand(1);
    case IndexExpr::Kind::kSubtract: return operand(0) - operand(1);
    case IndexExpr::Kind::kMultiply: return operand(0) * operand(1);
    case IndexExpr::Kind::kFloor: return context_.floor_divide(operand(0), operand(1));
    case IndexExpr::Kind::kModulo: {
      const Polynomial dividend = operand(0), divisor = operand(1);
      return dividend - divisor * context_.floor_divide(dividend, divisor);
    }
    case IndexExpr::Kind::kData: break;
    default: throw Unsupported{"an index of another kind"};
  }
  // A table of numbers.
  const BufferId buffer = expression.buffer();
  if ((*of.definition)[buffer].role == BufferRole::kInput) throw Unsupported{"an index that is read from a tensor"};
  const Stage* table = nullptr;
  for (const Stage& stage : of.definition->stages) {
    if (stage.target != buffer) continue;
    if (table != nullptr || stage.axes.size() != 1 || !stage.where.empty()) throw Unsupported{"a table of parts"};
    table = &stage;
  }
  if (table == nullptr || expression.operands().size() != 3) throw Unsupported{"a table that nothing writes"};
  return whole_number(of, table->value, {{table->axes[0].axis.id, operand(2)}});
}

Polynomial Expansion::whole_number(const Application& of, const ValueExpr& expression, const Places& places) {
  if (expression.kind() == ValueExpr::Kind::kIndex) return index(of, expression.indices()[0], places);
  if (expression.kind() != ValueExpr::Kind::kSelect) throw Unsupported{"a table of what is no number"};
  const Cases all = cases(of, expression.operands()[0], places);
  if (all.yes.size() != 1 || all.yes[0].size() != 1) throw Unsupported{"a table of involved cases"};
  const Fact guard = all.yes[0][0];
  if (context_.holds(guard)) return whole_number(of, expression.operands()[1], places);
  if (context_.fails(guard)) return whole_number(of, expression.operands()[2], places);
  if (context_.symbols().has_bound(guard.value)) throw Unsupported{"a table that is read inside of a sum"};
  throw Split{guard};
}

Fact Expansion::condition(const Application& of, const IndexCondition& condition, const Places& places) {
  const Polynomial left = index(of, condition.left, places), right = index(of, condition.right, places);
  switch (condition.relation) {
    case IndexCondition::Relation::kEqual: return is_zero(left - right);
    case IndexCondition::Relation::kLess: return at_least_zero(right - left - 1);
    case IndexCondition::Relation::kLessEqual: return at_least_zero(right - left);
  }
  throw Unsupported{"a relation of another kind"};
}

Expansion::Cases Expansion::cases(const Application& of, const ValueExpr& expression, const Places& places) {
  const auto product = [](const std::vector<Guards>& a, const std::vector<Guards>& b) {
    std::vector<Guards> all;
    for (const Guards& left : a) {
      for (const Guards& right : b) {
        all.push_back(left);
        all.back().insert(all.back().end(), right.begin(), right.end());
      }
    }
    return all;
  };
  const auto sum = [](std::vector<Guards> a, const std::vector<Guards>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const auto operand = [&](std::size_t k) -> const ValueExpr& { return expression.operands()[k]; };
  const auto number = [&](std::size_t k) { return whole_number(of, operand(k), places); };
  switch (expression.kind()) {
    case ValueExpr::Kind::kNot: {
      Cases inner = cases(of, operand(0), places);
      return {std::move(inner.no), std::move(inner.yes)};
    }
    case ValueExpr::Kind::kAnd: {
      const Cases a = cases(of, operand(0), places), b = cases(of, operand(1), places);
      return {product(a.yes, b.yes), sum(a.no, product(a.yes, b.no))};
    }
    case ValueExpr::Kind::kOr: {
      const Cases a = cases(of, operand(0), places), b = cases(of, operand(1), places);
      return {sum(a.yes, product(a.no, b.yes)), product(a.no, b.no)};
    }
    case ValueExpr::Kind::kEqual: {
      const Polynomial difference = number(0) - number(1);
      return {{{is_zero(difference)}}, {{at_least_zero(difference - 1)}, {at_least_zero(Polynomial(-1) - difference)}}};
    }
    case ValueExpr::Kind::kLess: {
      const Fact fact = at_least_zero(number(1) - number(0) - 1);
      return {{{fact}}, {{negation(fact)}}};
    }
    case ValueExpr::Kind::kLessEqual: {
      const Fact fact = at_least_zero(number(1) - number(0));
      return {{{fact}}, {{negation(fact)}}};
    }
    default: throw Unsupported{"a condition on values"};
  }
}

// --- values

Sum Expansion::value(const Application& of, const ValueExpr& expression, const Places& places) {
  const auto operand = [&](std::size_t k) { return value(of, expression.operands()[k], places); };
  switch (expression.kind()) {
    case ValueExpr::Kind::kLoad: {
      std::vector<Polynomial> at;
      for (const IndexExpr& one : expression.indices()) at.push_back(index(of, one, places));
      return read(of, expression.buffer(), at);
    }
    case ValueExpr::Kind::kNumber: return Sums::number(meaning(expression.number()));
    case ValueExpr::Kind::kIndex: return sums_.integer(index(of, expression.indices()[0], places));
    case ValueExpr::Kind::kAdd: return sums_.add(operand(0), operand(1));
    case ValueExpr::Kind::kSubtract: return sums_.subtract(operand(0), operand(1));
    case ValueExpr::Kind::kMultiply: return sums_.multiply(operand(0), operand(1));
    case ValueExpr::Kind::kDivide: return sums_.multiply(operand(0), sums_.inverse(operand(1)));
    case ValueExpr::Kind::kMaximum: return greatest(of, expression, places, false);
    case ValueExpr::Kind::kMinimum: return greatest(of, expression, places, true);
    case ValueExpr::Kind::kCall: return sums_.call(expression.function(), operand(0));
    case ValueExpr::Kind::kReduce: return reduction(of, expression, places);
    case ValueExpr::Kind::kSelect: {
      const Cases all = cases(of, expression.operands()[0], places);
      Sum result;
      for (const Guards& guards : all.yes) result = sums_.add(result, where(guards, [&] { return operand(1); }));
      for (const Guards& guards : all.no) result = sums_.add(result, where(guards, [&] { return operand(2); }));
      return result;
    }
    default: throw Unsupported{"a value that is no real number"};
  }
}

Sum Expansion::greatest(const Application& of, const ValueExpr& expression, const Places& places, bool least) {
  std::vector<Branch> branches;
  for (const ValueExpr& operand : expression.operands()) {
    if (operand.kind() == ValueExpr::Kind::kNumber && std::isinf(operand.number())) {
      if ((operand.number() > 0) == least) continue;
      throw Unsupported{"a bound that is infinite on the wrong side"};
    }
    const Sum one = value(of, operand, places);
    branches.push_back({{}, {}, least ? sums_.scale(one, -1) : one});
  }
  const Sum result = sums_.maximum(std::move(branches));
  return least ? sums_.scale(result, -1) : result;
}

Sum Expansion::reduction(const Application& of, const ValueExpr& expression, const Places& places) {
  Places inside = places;
  std::vector<Symbol> bound;
  Guards guards;
  for (const AxisRange& range : expression.axes()) {
    const Symbol symbol = context_.symbols().add_bound();
    bound.push_back(symbol);
    inside[range.axis.id] = Polynomial::symbol(symbol);
    guards.push_back(at_least_zero(Polynomial::symbol(symbol)));
    guards.push_back(at_least_zero(index(of, range.extent, places) - Polynomial::symbol(symbol) - 1));
  }
  {
    const Context::Scope scope(context_, guards);
    Guards more;
    for (const IndexCondition& one : expression.guard()) more.push_back(condition(of, one, inside));
    guards.insert(guards.end(), more.begin(), more.end());
  }
  Sum body;
  {
    const Context::Scope scope(context_, guards);
    body = value(of, expression.operands()[0], inside);
  }
  // Outside of that scope: inside of it the guards follow from themselves.
  switch (expression.reduction()) {
    case ValueExpr::Reduction::kSum: return sums_.reduce(bound, guards, body);
    case ValueExpr::Reduction::kMaximum: return sums_.maximum({{bound, guards, body}});
    case ValueExpr::Reduction::kMinimum:
      return sums_.scale(sums_.maximum({{bound, guards, sums_.scale(body, -1)}}), -1);
    case ValueExpr::Reduction::kProduct: break;
  }
  throw Unsupported{"a product over a range"};
}

}  // namespace rewright::theorem
