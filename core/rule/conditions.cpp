#include "rule/conditions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/linear_forms.h"

namespace rewright {
namespace {

// Positive and negated negative part: form = first - second.
std::pair<SymbolicDim, SymbolicDim> sides(const SymbolicDim& form) {
  return {with_coefficients(form, [](std::int64_t n) { return std::max<std::int64_t>(n, 0); }),
          with_coefficients(form, [](std::int64_t n) { return std::max<std::int64_t>(-n, 0); })};
}

std::int64_t first_variable(const SymbolicDim& dim, const SizeOrder& order) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const SizeVar name : dim.variables()) first = std::min(first, order.position(name));
  return first;
}

/// Of an expression over all sizes.
struct Interval {
  double low = 0, high = 0;
};
Interval operator+(Interval a, Interval b) { return {a.low + b.low, a.high + b.high}; }
Interval operator*(std::int64_t factor, Interval a) {
  const auto times = static_cast<double>(factor);
  return factor >= 0 ? Interval{times * a.low, times * a.high} : Interval{times * a.high, times * a.low};
}

Interval interval_of(const SymbolicDim& dim);

Interval interval_of(const SymbolicDim::Atom& atom) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (atom.kind == SymbolicDim::Atom::Kind::kVariable) return {atom.variable->is_axis() ? 1.0 : 0.0, kInfinite};
  const Interval left = interval_of(*atom.left);
  if (atom.kind == SymbolicDim::Atom::Kind::kQuotient) {
    const auto divisor = static_cast<double>(atom.divisor);
    return {std::floor(left.low / divisor), std::floor(left.high / divisor)};
  }
  const Interval right = interval_of(*atom.right);
  if (left.low < 0 || right.low < 0) return {-kInfinite, kInfinite};
  return {left.low * right.low, kInfinite};
}

Interval interval_of(const SymbolicDim& dim) {
  const auto constant = static_cast<double>(dim.constant_term());
  Interval sum{constant, constant};
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    if (atom.coefficient != 0) sum = sum + atom.coefficient * interval_of(atom);
  }
  return sum;
}

/// Is it false whatever the sizes? Numbers of 2^53 and more are rounded, by less than the margin.
bool is_unmet(const Constraint& constraint) {
  const Interval difference = interval_of(constraint.left - constraint.right);
  constexpr double kMargin = 0.5;
  if (constraint.kind == Constraint::Kind::kEqual) return difference.low > kMargin || difference.high < -kMargin;
  return constraint.kind == Constraint::Kind::kAtLeast && difference.high < -kMargin;
}

}  // namespace

SizeOrder size_order(std::span<const PatternInput> inputs, std::span<const SizeVar> others) {
  std::vector<SizeVar> names;
  for (const PatternInput& input : inputs) {
    for (int axis = 0; axis < input.rank; ++axis) names.push_back(SizeVar::axis(input.name, axis));
  }
  names.insert(names.end(), others.begin(), others.end());
  return SizeOrder(names);
}

Constraint normal_form(const Constraint& constraint, const SizeOrder& order) {
  using Kind = Constraint::Kind;
  if (constraint.kind == Kind::kDivides) {
    const auto divisor = constraint.left.constant();
    if (!divisor || *divisor <= 0) return constraint;
    return {Kind::kDivides, *divisor, residue(constraint.right, *divisor)};
  }
  SymbolicDim form = constraint.left - constraint.right;
  if (constraint.kind == Kind::kAtLeast) {
    auto [left, right] = sides(tightened(form));
    return {Kind::kAtLeast, std::move(left), std::move(right)};
  }
  if (auto divided = primitive(form)) form = *std::move(divided);
  auto [left, right] = sides(form);
  const bool turn = first_variable(right, order) < first_variable(left, order) || left.constant().has_value();
  if (turn) std::swap(left, right);
  return {constraint.kind, std::move(left), std::move(right)};
}

namespace {

bool is_equation(const Constraint& constraint) { return constraint.kind == Constraint::Kind::kEqual; }

// Equations first, so that all others are reduced by them.
void add_all(SizeSystem& facts, std::span<const Constraint> constraints) {
  for (const bool equations : {true, false}) {
    for (const Constraint& constraint : constraints) {
      if (is_equation(constraint) == equations) facts.add(constraint);
    }
  }
}

// Drops each condition that the ones known and the other open ones imply, the last first.
void drop_implied(std::span<const Constraint> known, std::vector<Constraint>& open, const SizeOrder& order) {
  for (std::size_t i = open.size(); i-- > 0;) {
    std::vector<Constraint> others(known.begin(), known.end());
    for (std::size_t j = 0; j < open.size(); ++j) {
      if (j != i) others.push_back(open[j]);
    }
    SizeSystem facts(order);
    add_all(facts, others);
    if (facts.implies(open[i])) open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

Result<std::vector<Constraint>> missing_conditions(std::span<const Constraint> known,
                                                   std::span<const Constraint> wanted, const SizeOrder& order) {
  SizeSystem facts(order);
  add_all(facts, known);
  SizeSystem all = facts;
  add_all(all, wanted);
  if (all.contradictory()) return make_error(ErrorCode::kMismatch, "the conditions on sizes contradict each other");

  std::vector<Constraint> open;
  for (const Constraint& equation : all.equations()) {
    if (facts.implies(equation)) continue;
    open.push_back(normal_form(equation, order));
    facts.add(equation);
  }
  for (const Constraint& constraint : wanted) {
    if (is_equation(constraint) || facts.implies(constraint)) continue;
    Constraint reduced =
        normal_form({constraint.kind, all.normalise(constraint.left), all.normalise(constraint.right)}, order);
    if (reduced.decided() == std::optional(false))
      return make_error(ErrorCode::kMismatch, "the condition {} can never hold beside the others",
                        to_string(constraint));
    facts.add(reduced);
    open.push_back(std::move(reduced));
  }
  drop_implied(known, open, order);
  return open;
}

std::optional<Constraint> unmet_condition(const Rule& rule) {
  std::vector<Constraint> known;
  if (const auto source = infer_shapes(rule.inputs, rule.source)) known = source->defined;
  for (const Constraint& condition : rule.precondition) {
    known.push_back(condition);
    if (is_unmet(condition) || SizeSystem(known).contradictory()) return condition;
  }
  return std::nullopt;
}

}  // namespace rewright
