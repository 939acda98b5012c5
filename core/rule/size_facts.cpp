#include "rule/size_facts.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rewright {

namespace {

using Atom = SymbolicDim::Atom;

// Coefficients beyond this are left alone: sums and products of a few then stay far inside 64 bits.
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

SymbolicDim value_of(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kVariable: return SymbolicDim::variable(atom.name);
    case Atom::Kind::kQuotient: return floor_divide(*atom.left, atom.divisor);
    case Atom::Kind::kProduct: return *atom.left * *atom.right;
  }
  return {};
}

// The same linear form with other coefficients.
template <class Change>
SymbolicDim with_coefficients(const SymbolicDim& form, Change change) {
  SymbolicDim result = change(form.constant_term());
  for (const auto& [text, atom] : form.atoms()) {
    const std::int64_t coefficient = change(atom.coefficient);
    if (coefficient != 0) result = result + SymbolicDim(coefficient) * value_of(atom);
  }
  return result;
}

bool is_small(const SymbolicDim& form) {
  const auto small = [](std::int64_t n) { return n > -kLargest && n < kLargest; };
  return small(form.constant_term()) && std::all_of(form.atoms().begin(), form.atoms().end(),
                                                    [&](const auto& entry) { return small(entry.second.coefficient); });
}

std::int64_t content(const SymbolicDim& form) {
  std::int64_t divisor = 0;
  for (const auto& [text, atom] : form.atoms()) divisor = std::gcd(divisor, atom.coefficient);
  return divisor;
}

std::int64_t coefficient_of(const SymbolicDim& form, const std::string& atom) {
  const auto found = std::ranges::find(form.atoms(), atom, &std::pair<std::string, Atom>::first);
  return found == form.atoms().end() ? 0 : found->second.coefficient;
}

// Does the variable occur inside a quotient or product of the form?
bool occurs_inside(const SymbolicDim& form, const std::string& variable) {
  const auto occurs = [&](const std::shared_ptr<const SymbolicDim>& part) {
    if (!part) return false;
    const auto names = part->variables();
    return std::find(names.begin(), names.end(), variable) != names.end();
  };
  return std::any_of(form.atoms().begin(), form.atoms().end(), [&](const auto& entry) {
    return entry.second.kind != Atom::Kind::kVariable && (occurs(entry.second.left) || occurs(entry.second.right));
  });
}

// The equation form = 0 divided by its common factor; nothing if no integers can satisfy it.
std::optional<SymbolicDim> primitive(const SymbolicDim& form) {
  const std::int64_t divisor = content(form);
  if (divisor == 0) return form.constant_term() == 0 ? std::optional(form) : std::nullopt;
  if (form.constant_term() % divisor != 0) return std::nullopt;
  if (divisor == 1) return form;
  return with_coefficients(form, [&](std::int64_t n) { return n / divisor; });
}

// form >= 0 over the integers, divided by the common factor of its variables' coefficients.
SymbolicDim tightened(const SymbolicDim& form) {
  const std::int64_t divisor = content(form);
  if (divisor <= 1) return form;
  SymbolicDim result = with_coefficients(form - form.constant_term(), [&](std::int64_t n) { return n / divisor; });
  return result + floor_divide(form.constant_term(), divisor);
}

// Positive and negated negative part: form = first - second.
std::pair<SymbolicDim, SymbolicDim> sides(const SymbolicDim& form) {
  return {with_coefficients(form, [](std::int64_t n) { return std::max<std::int64_t>(n, 0); }),
          with_coefficients(form, [](std::int64_t n) { return std::max<std::int64_t>(-n, 0); })};
}

std::int64_t first_variable(const SymbolicDim& dim, const SizeOrder& order) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const std::string& name : dim.variables()) first = std::min(first, order.position(name));
  return first;
}

SymbolicDim residue(const SymbolicDim& form, std::int64_t divisor) {
  return with_coefficients(form, [&](std::int64_t n) { return n - floor_divide(n, divisor) * divisor; });
}

bool is_constant(const SymbolicDim& dim, std::int64_t value) { return dim.constant() == std::optional(value); }

}  // namespace

SizeOrder::SizeOrder(std::span<const PatternInput> inputs, std::span<const std::string> others) {
  std::int64_t next = 0;
  for (const PatternInput& input : inputs) {
    for (int axis = 0; axis < input.rank; ++axis) positions_.emplace(fmt::format("{}.{}", input.name, axis), next++);
  }
  for (const std::string& name : others) positions_.emplace(name, next++);
}

std::int64_t SizeOrder::position(std::string_view variable) const {
  const auto found = positions_.find(variable);
  return found == positions_.end() ? std::numeric_limits<std::int64_t>::max() - 1 : found->second;
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

void SizeFacts::add(const Constraint& constraint) {
  if (constraint.kind == Constraint::Kind::kDivides) {
    if (const auto divisor = constraint.left.constant(); divisor && *divisor > 0)
      multiples_.emplace_back(*divisor, residue(reduce(constraint.right), *divisor));
    return;
  }
  SymbolicDim form = reduce(constraint.left - constraint.right);
  if (!is_small(form)) return;
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: add_zero(std::move(form)); break;
    case Constraint::Kind::kNotEqual: not_zero_.push_back(std::move(form)); break;
    case Constraint::Kind::kAtLeast: at_least_zero_.push_back(tightened(form)); break;
    case Constraint::Kind::kDivides: break;
  }
}

// Solves form = 0 for its last variable with coefficient 1 or -1, or keeps it as a row.
void SizeFacts::add_zero(SymbolicDim form) {
  auto divided = primitive(form);
  if (!divided) {
    contradictory_ = true;
    return;
  }
  form = *std::move(divided);
  if (is_constant(form, 0)) return;
  const Atom* best = nullptr;
  for (const auto& [text, atom] : form.atoms()) {
    if (atom.kind != Atom::Kind::kVariable || std::abs(atom.coefficient) != 1) continue;
    if (occurs_inside(form, atom.name)) continue;
    if (!best || order_.before(best->name, atom.name)) best = &atom;
  }
  if (!best) {
    zeros_.push_back(std::move(form));
    return;
  }
  const std::string name = best->name;
  const SymbolicDim variable = SymbolicDim::variable(name);
  solve(name, best->coefficient > 0 ? variable - form : variable + form);
}

void SizeFacts::solve(const std::string& variable, const SymbolicDim& value) {
  const auto put_in = [&](const SymbolicDim& dim) {
    return dim.substitute([&](std::string_view name) -> std::optional<SymbolicDim> {
      if (name != variable) return std::nullopt;
      return value;
    });
  };
  for (auto& [name, known] : solved_) known = put_in(known);
  solved_.insert_or_assign(variable, value);
  for (SymbolicDim& form : at_least_zero_) form = tightened(put_in(form));
  for (SymbolicDim& form : not_zero_) form = put_in(form);
  for (auto& [divisor, form] : multiples_) form = residue(put_in(form), divisor);
  for (SymbolicDim& form : std::exchange(zeros_, {})) add_zero(reduce(form));
}

SymbolicDim SizeFacts::reduce(const SymbolicDim& dim) const {
  return dim.substitute([&](std::string_view name) -> std::optional<SymbolicDim> {
    const auto found = solved_.find(name);
    if (found == solved_.end()) return std::nullopt;
    return found->second;
  });
}

std::optional<SymbolicDim> SizeFacts::solution(std::string_view variable) const {
  const auto found = solved_.find(variable);
  if (found == solved_.end()) return std::nullopt;
  return found->second;
}

bool SizeFacts::implies(const Constraint& constraint) const {
  if (constraint.kind == Constraint::Kind::kDivides) {
    const auto divisor = constraint.left.constant();
    return divisor && *divisor > 0 && is_multiple(*divisor, reduce(constraint.right));
  }
  const SymbolicDim form = reduce(constraint.left - constraint.right);
  if (!is_small(form)) return false;
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: return is_zero(form);
    case Constraint::Kind::kAtLeast: return is_at_least_zero(form);
    case Constraint::Kind::kNotEqual:
      return is_at_least_zero(form - 1) || is_at_least_zero(SymbolicDim(-1) - form) ||
             std::any_of(not_zero_.begin(), not_zero_.end(),
                         [&](const SymbolicDim& known) { return form == known || form + known == SymbolicDim(0); });
    case Constraint::Kind::kDivides: break;
  }
  return false;
}

// Is the form a rational combination of the rows? Eliminates by rows in turn, each by its first atom.
bool SizeFacts::is_zero(const SymbolicDim& form) const {
  std::vector<SymbolicDim> rows;
  const auto eliminate = [](SymbolicDim from, const SymbolicDim& row) {
    const auto& [text, pivot] = *row.atoms().begin();
    const std::int64_t coefficient = coefficient_of(from, text);
    if (coefficient == 0 || !is_small(from) || !is_small(row)) return from;
    const std::int64_t divisor = std::gcd(coefficient, pivot.coefficient);
    const std::int64_t times_from = pivot.coefficient / divisor, times_row = coefficient / divisor;
    // Fraction-free; a product beyond 63 bits would wrap, so large factors end the elimination.
    if (std::abs(times_from) >= (1 << 20) || std::abs(times_row) >= (1 << 20)) return from;
    const auto times = [](const SymbolicDim& dim, std::int64_t factor) {
      return with_coefficients(dim, [&](std::int64_t n) { return n * factor; });
    };
    return times(from, times_from) - times(row, times_row);
  };
  for (SymbolicDim row : zeros_) {
    for (const SymbolicDim& earlier : rows) row = eliminate(std::move(row), earlier);
    if (!row.constant()) rows.push_back(std::move(row));
  }
  SymbolicDim rest = form;
  for (const SymbolicDim& row : rows) rest = eliminate(std::move(rest), row);
  return is_constant(rest, 0);
}

bool SizeFacts::is_at_least_zero(const SymbolicDim& form) const {
  const auto holds = [&](const SymbolicDim& rest) {
    const auto bound = least(rest);
    return bound && *bound >= 0;
  };
  if (is_zero(form) || holds(form)) return true;
  for (std::size_t i = 0; i < at_least_zero_.size(); ++i) {
    const SymbolicDim rest = form - at_least_zero_[i];
    if (holds(rest)) return true;
    for (std::size_t j = i; j < at_least_zero_.size(); ++j) {
      if (holds(rest - at_least_zero_[j])) return true;
    }
  }
  return false;
}

bool SizeFacts::is_multiple(std::int64_t divisor, const SymbolicDim& form) const {
  const SymbolicDim rest = residue(form, divisor);
  if (is_constant(rest, 0)) return true;
  for (const auto& [known, multiple] : multiples_) {
    // m * multiple is divisible by m * known.
    for (std::int64_t m = 1; m < std::min<std::int64_t>(divisor, 64); ++m) {
      if (m * known % divisor != 0) continue;
      const SymbolicDim times = with_coefficients(multiple, [&](std::int64_t n) { return n * m; });
      if (is_constant(residue(form - times, divisor), 0)) return true;
    }
  }
  // form = rest - row for an equation row = 0.
  return std::any_of(zeros_.begin(), zeros_.end(), [&](const SymbolicDim& row) {
    return is_constant(residue(form - row, divisor), 0) || is_constant(residue(form + row, divisor), 0);
  });
}

// The least value that the form can be shown to have; nothing if it may be arbitrarily small.
std::optional<std::int64_t> SizeFacts::least(const SymbolicDim& form) const {
  if (!is_small(form)) return std::nullopt;
  std::int64_t sum = form.constant_term();
  for (const auto& [text, atom] : form.atoms()) {
    if (atom.coefficient < 0) return std::nullopt;
    const auto bound = least(atom);
    if (!bound || std::abs(*bound) >= kLargest) return std::nullopt;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(atom.coefficient, *bound, &product) || __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<std::int64_t> SizeFacts::least(const Atom& atom) const {
  switch (atom.kind) {
    case Atom::Kind::kVariable: return 1;
    case Atom::Kind::kQuotient: {
      const auto dividend = least(*atom.left);
      if (!dividend) return std::nullopt;
      return floor_divide(*dividend, atom.divisor);
    }
    case Atom::Kind::kProduct: {
      const auto left = least(*atom.left), right = least(*atom.right);
      if (!left || !right || *left < 0 || *right < 0) return std::nullopt;
      std::int64_t product = 0;
      if (__builtin_mul_overflow(*left, *right, &product)) return std::nullopt;
      return product;
    }
  }
  return std::nullopt;
}

std::vector<Constraint> SizeFacts::equations() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : solved_) names.push_back(name);
  std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return order_.position(a) != order_.position(b) ? order_.before(a, b) : a < b;
  });
  std::vector<Constraint> equations;
  for (const std::string& name : names)
    equations.push_back({Constraint::Kind::kEqual, SymbolicDim::variable(name), solved_.at(name)});
  for (const SymbolicDim& row : zeros_) equations.push_back({Constraint::Kind::kEqual, row, SymbolicDim(0)});
  return equations;
}

namespace {

bool is_equation(const Constraint& constraint) { return constraint.kind == Constraint::Kind::kEqual; }

// Equations first, so that all others are reduced by them.
void add_all(SizeFacts& facts, std::span<const Constraint> constraints) {
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
    SizeFacts facts(order);
    add_all(facts, others);
    if (facts.implies(open[i])) open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

Result<std::vector<Constraint>> missing_conditions(std::span<const Constraint> known,
                                                   std::span<const Constraint> wanted, const SizeOrder& order) {
  SizeFacts facts(order);
  add_all(facts, known);
  SizeFacts all = facts;
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
        normal_form({constraint.kind, all.reduce(constraint.left), all.reduce(constraint.right)}, order);
    if (reduced.decided() == std::optional(false))
      return make_error(ErrorCode::kMismatch, "the condition {} can never hold beside the others",
                        to_string(constraint));
    facts.add(reduced);
    open.push_back(std::move(reduced));
  }
  drop_implied(known, open, order);
  return open;
}

}  // namespace rewright
