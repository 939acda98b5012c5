// What follows from constraints on sizes: equations solved for variables, bounds, divisibility.
#include <rewright/tensor/linear.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tensor/linear_forms.h"

namespace rewright {
namespace {

using Atom = SymbolicDim::Atom;

std::int64_t coefficient_of(const SymbolicDim& form, const Atom& atom) {
  const auto found = std::ranges::find_if(form.atoms(), [&](const Atom& other) { return other.is_like(atom); });
  return found == form.atoms().end() ? 0 : found->coefficient;
}

// Does the variable occur inside a quotient or product of the form?
bool occurs_inside(const SymbolicDim& form, SizeVar variable) {
  const auto occurs = [&](const std::shared_ptr<const SymbolicDim>& part) {
    if (!part) return false;
    const auto all = part->variables();
    return std::ranges::find(all, variable) != all.end();
  };
  return std::ranges::any_of(form.atoms(), [&](const Atom& atom) { return occurs(atom.left) || occurs(atom.right); });
}

bool is_constant(const SymbolicDim& dim, std::int64_t value) { return dim.constant() == std::optional(value); }

}  // namespace

SizeOrder::SizeOrder(std::span<const SizeVar> variables) : by_text_(false) {
  for (const SizeVar variable : variables) positions_.emplace(variable, std::ssize(positions_));
}

std::int64_t SizeOrder::position(SizeVar variable) const {
  const auto found = positions_.find(variable);
  return found == positions_.end() ? std::numeric_limits<std::int64_t>::max() - 1 : found->second;
}
bool SizeOrder::before(SizeVar a, SizeVar b) const { return by_text_ ? a < b : position(a) < position(b); }

SizeSystem::SizeSystem(std::span<const Constraint> known, SizeOrder order) : order_(std::move(order)) {
  // Equations first, so that all others are reduced by them.
  for (const bool equations : {true, false}) {
    for (const Constraint& constraint : known) {
      if ((constraint.kind == Constraint::Kind::kEqual) != equations) continue;
      const Constraint normal{constraint.kind, normalise(constraint.left), normalise(constraint.right)};
      if (normal.decided() == std::optional(false)) contradictory_ = true;
      add(constraint);
    }
  }
}

void SizeSystem::add(const Constraint& constraint) {
  if (constraint.kind == Constraint::Kind::kDivides) {
    if (const auto divisor = constraint.left.constant(); divisor && *divisor > 0)
      multiples_.emplace_back(*divisor, residue(normalise(constraint.right), *divisor));
    return;
  }
  SymbolicDim form = normalise(constraint.left - constraint.right);
  if (!is_small(form)) return;
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: add_zero(std::move(form)); break;
    case Constraint::Kind::kNotEqual: not_zero_.push_back(std::move(form)); break;
    case Constraint::Kind::kAtLeast: at_least_zero_.push_back(tightened(form)); break;
    case Constraint::Kind::kDivides: break;
  }
}

// Solves form = 0 for its last variable with coefficient 1 or -1, or keeps it as a row.
void SizeSystem::add_zero(SymbolicDim form) {
  auto divided = primitive(form);
  if (!divided) {
    contradictory_ = true;
    return;
  }
  form = *std::move(divided);
  if (is_constant(form, 0)) return;
  const Atom* best = nullptr;
  for (const SymbolicDim::Atom& atom : form.atoms()) {
    if (atom.kind != Atom::Kind::kVariable || std::abs(atom.coefficient) != 1) continue;
    if (occurs_inside(form, *atom.variable)) continue;
    if (!best || order_.before(*best->variable, *atom.variable)) best = &atom;
  }
  if (!best) {
    zeros_.push_back(std::move(form));
    return;
  }
  const SizeVar solved = *best->variable;
  const SymbolicDim variable = SymbolicDim::variable(solved);
  solve(solved, best->coefficient > 0 ? variable - form : variable + form);
}

void SizeSystem::solve(SizeVar variable, const SymbolicDim& value) {
  const auto put_in = [&](const SymbolicDim& dim) {
    return dim.substitute([&](SizeVar other) -> std::optional<SymbolicDim> {
      if (other != variable) return std::nullopt;
      return value;
    });
  };
  for (auto& [other, known] : solved_) known = put_in(known);
  solved_.insert_or_assign(variable, value);
  for (SymbolicDim& form : at_least_zero_) form = tightened(put_in(form));
  // What is put in for it is as large as the variable: y.0 = n - x.0 says that n > x.0.
  const SymbolicDim beyond = value - order_.least(variable);
  if (least(beyond).value_or(-1) < 0) at_least_zero_.push_back(tightened(beyond));
  for (SymbolicDim& form : not_zero_) form = put_in(form);
  for (auto& [divisor, form] : multiples_) form = residue(put_in(form), divisor);
  for (SymbolicDim& form : std::exchange(zeros_, {})) add_zero(normalise(form));
}

SymbolicDim SizeSystem::normalise(const SymbolicDim& dim) const {
  if (solved_.empty() || dim.constant()) return dim;
  return dim.substitute([&](SizeVar variable) -> std::optional<SymbolicDim> {
    const auto found = solved_.find(variable);
    if (found == solved_.end()) return std::nullopt;
    return found->second;
  });
}

bool SizeSystem::implies(const Constraint& constraint) const {
  if (contradictory_) return true;
  if (constraint.kind == Constraint::Kind::kDivides) {
    const auto divisor = constraint.left.constant();
    return divisor && *divisor > 0 && is_multiple(*divisor, normalise(constraint.right));
  }
  const SymbolicDim form = normalise(constraint.left - constraint.right);
  if (const auto decided = Constraint{constraint.kind, form, 0}.decided()) return *decided;
  if (!is_small(form)) return false;
  switch (constraint.kind) {
    case Constraint::Kind::kEqual: return is_zero(form);
    case Constraint::Kind::kAtLeast:
      // A solved variable is a size all the same: what it equals (2*x.0 - y.0, say) does not show that it is not
      // negative.
      return is_at_least_zero(form) || least(constraint.left - constraint.right).value_or(-1) >= 0;
    case Constraint::Kind::kNotEqual:
      return is_at_least_zero(form - 1) || is_at_least_zero(SymbolicDim(-1) - form) ||
             std::any_of(not_zero_.begin(), not_zero_.end(),
                         [&](const SymbolicDim& known) { return form == known || form + known == SymbolicDim(0); });
    case Constraint::Kind::kDivides: break;
  }
  return false;
}

// Is the form a rational combination of the rows? Eliminates by rows in turn, each by its first atom.
bool SizeSystem::is_zero(const SymbolicDim& form) const {
  std::vector<SymbolicDim> rows;
  const auto eliminate = [](SymbolicDim from, const SymbolicDim& row) {
    const Atom& pivot = row.atoms().front();
    const std::int64_t coefficient = coefficient_of(from, pivot);
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

bool SizeSystem::is_at_least_zero(const SymbolicDim& form) const {
  const auto holds = [&](const SymbolicDim& rest) {
    const auto bound = least(rest);
    return bound && *bound >= 0;
  };
  if (is_zero(form) || holds(form)) return true;
  for (const SymbolicDim& row : zeros_) {
    if (holds(form - row) || holds(form + row)) return true;
  }
  for (std::size_t i = 0; i < at_least_zero_.size(); ++i) {
    const SymbolicDim rest = form - at_least_zero_[i];
    if (holds(rest)) return true;
    for (std::size_t j = i; j < at_least_zero_.size(); ++j) {
      if (holds(rest - at_least_zero_[j])) return true;
    }
  }
  return false;
}

bool SizeSystem::is_multiple(std::int64_t divisor, const SymbolicDim& form) const {
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
std::optional<std::int64_t> SizeSystem::least(const SymbolicDim& form) const {
  if (!is_small(form)) return std::nullopt;
  std::int64_t sum = form.constant_term();
  for (const SymbolicDim::Atom& atom : form.atoms()) {
    std::int64_t product = 0;
    if (atom.coefficient < 0 || __builtin_mul_overflow(atom.coefficient, least(atom), &product) ||
        __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

// The same of an atom, never below 0: floor_divide() leaves nothing negative in a dividend.
std::int64_t SizeSystem::least(const Atom& atom) const {
  switch (atom.kind) {
    case Atom::Kind::kVariable: return order_.least(*atom.variable);
    case Atom::Kind::kQuotient: return floor_divide(least(*atom.left).value_or(0), atom.divisor);
    case Atom::Kind::kProduct: break;
  }
  std::int64_t product = 0;
  const bool overflow = __builtin_mul_overflow(least(*atom.left).value_or(0), least(*atom.right).value_or(0), &product);
  return overflow ? 0 : product;
}

std::vector<Constraint> SizeSystem::equations() const {
  std::vector<SizeVar> variables;
  for (const auto& [variable, value] : solved_) variables.push_back(variable);
  std::ranges::sort(variables, [&](SizeVar a, SizeVar b) {
    return order_.position(a) != order_.position(b) ? order_.before(a, b) : a < b;
  });
  std::vector<Constraint> equations;
  for (const SizeVar variable : variables)
    equations.push_back({Constraint::Kind::kEqual, SymbolicDim::variable(variable), solved_.at(variable)});
  for (const SymbolicDim& row : zeros_) equations.push_back({Constraint::Kind::kEqual, row, SymbolicDim(0)});
  return equations;
}

}  // namespace rewright
