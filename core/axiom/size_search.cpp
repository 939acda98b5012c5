#include "axiom/size_search.h"

#include <rewright/base/result.h>

#include <algorithm>
#include <numeric>

namespace rewright {

// --- formulas ----------------------------------------------------------------------------------------------------

SizeFormula::SizeFormula(const SymbolicDim& dim, std::span<const SizeVar> names) : constant_(dim.constant_term()) {
  for (const SymbolicDim::Atom& atom : dim.atoms()) {
    Part part{atom.kind, atom.coefficient, atom.divisor, inner_.size()};
    if (atom.kind == SymbolicDim::Atom::Kind::kVariable) {
      const auto found = std::ranges::find(names, *atom.variable);
      if (found == names.end()) fail("a size formula speaks of the unknown variable " + atom.variable->text());
      part.variable = static_cast<std::size_t>(found - names.begin());
      reach_ = std::max(reach_, part.variable + 1);
    } else {
      for (const auto& inside : {atom.left, atom.right}) {
        if (!inside) continue;
        inner_.emplace_back(*inside, names);
        reach_ = std::max(reach_, inner_.back().reach_);
      }
    }
    parts_.push_back(part);
  }
  if (parts_.size() == 1 && constant_ == 0 && parts_[0].coefficient == 1 &&
      parts_[0].kind == SymbolicDim::Atom::Kind::kVariable)
    alone_ = parts_[0].variable;
}

std::optional<std::int64_t> SizeFormula::operator()(std::span<const std::int64_t> values) const {
  if (alone_) return values[*alone_];
  std::int64_t total = constant_;
  for (const Part& part : parts_) {
    std::int64_t value = 0;
    if (part.kind == SymbolicDim::Atom::Kind::kVariable) {
      value = values[part.variable];
    } else {
      const auto left = inner_[part.variable](values);
      if (!left) return std::nullopt;
      value = *left;
      if (part.kind == SymbolicDim::Atom::Kind::kQuotient) {
        value = floor_divide(value, part.divisor);
      } else {
        const auto right = inner_[part.variable + 1](values);
        if (!right || __builtin_mul_overflow(value, *right, &value)) return std::nullopt;
      }
    }
    if (__builtin_mul_overflow(value, part.coefficient, &value) || __builtin_add_overflow(total, value, &total))
      return std::nullopt;
  }
  return total;
}

// --- the search --------------------------------------------------------------------------------------------------

SizeSearch::SizeSearch(std::span<const SizeVar> variables, std::span<const Constraint> constraints,
                       std::int64_t max_dim, const SizeDomain& domain) {
  const SizeSystem system(constraints);
  contradictory_ = system.contradictory();
  std::vector<std::int64_t> every(static_cast<std::size_t>(std::max<std::int64_t>(max_dim, 0)));
  std::iota(every.begin(), every.end(), 1);
  const auto allowed = [&](SizeVar name) {
    const auto found = domain.find(name);
    return found == domain.end() ? every : found->second;
  };
  std::vector<SizeVar> bound;
  for (const SizeVar name : variables) {
    if (system.solved().contains(name)) {
      bound.push_back(name);
    } else {
      names_.push_back(name);
      free_.push_back(allowed(name).empty() ? every : allowed(name));
    }
  }
  names_.insert(names_.end(), bound.begin(), bound.end());
  values_.resize(names_.size());
  checks_.resize(free_.size() + 1);
  solved_.resize(free_.size() + 1);
  for (const Constraint& constraint : constraints) {
    const Constraint normal{constraint.kind, system.normalise(constraint.left), system.normalise(constraint.right)};
    if (normal.decided().value_or(false)) continue;
    Check check{normal.kind, SizeFormula(normal.left, names_), SizeFormula(normal.right, names_)};
    const std::size_t depth = std::max(check.left.reach(), check.right.reach());
    checks_[depth].push_back(std::move(check));
  }
  for (std::size_t i = free_.size(); i < names_.size(); ++i) {
    SizeFormula value(system.solved().find(names_[i])->second, names_);
    const std::size_t depth = value.reach();
    solved_[depth].push_back({i, std::move(value), allowed(names_[i])});
  }
}

bool SizeSearch::meets(const Check& check) const {
  const auto left = check.left(values_), right = check.right(values_);
  if (!left || !right) return false;
  switch (check.kind) {
    case Constraint::Kind::kEqual: return *left == *right;
    case Constraint::Kind::kNotEqual: return *left != *right;
    case Constraint::Kind::kAtLeast: return *left >= *right;
    case Constraint::Kind::kDivides: break;
  }
  return *left > 0 && *right % *left == 0;
}

bool SizeSearch::solve(const Solved& solved) {
  const auto value = solved.value(values_);
  if (!value) return false;
  // 0 is a size where it is listed: a slice begins there.
  if (solved.allowed.empty() ? *value < 1 : !std::ranges::binary_search(solved.allowed, *value)) return false;
  values_[solved.position] = *value;
  return true;
}

bool SizeSearch::holds_at(std::size_t depth) {
  return std::ranges::all_of(checks_[depth], [&](const Check& check) { return meets(check); }) &&
         std::ranges::all_of(solved_[depth], [&](const Solved& solved) { return solve(solved); });
}

SizeSearch::Orders SizeSearch::random_orders(Random& random) const {
  constexpr std::int64_t kSmall = 3;
  Orders orders = free_;
  std::vector<bool> any(free_.size(), false);
  for (std::size_t i = random.below(3) + 1; i > 0 && !any.empty(); --i) any[random.below(any.size())] = true;
  for (std::size_t v = 0; v < orders.size(); ++v) {
    std::vector<std::int64_t>& order = orders[v];
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    if (!any[v]) std::ranges::stable_partition(order, [](std::int64_t value) { return value <= kSmall; });
  }
  return orders;
}

std::span<const std::int64_t> SizeSearch::draw(Random& random, std::size_t steps) {
  if (contradictory_ || !descend_in(random_orders(random), 0, steps)) return {};
  return values_;
}

bool SizeSearch::descend_in(const Orders& orders, std::size_t depth, std::size_t& steps) {
  if (!holds_at(depth)) return false;
  if (depth == free_.size()) return true;
  for (const std::int64_t value : orders[depth]) {
    if (steps == 0) return false;
    --steps;
    values_[depth] = value;
    if (descend_in(orders, depth + 1, steps)) return true;
  }
  return false;
}

std::span<const std::int64_t> SizeSearch::at(std::span<const std::int64_t> free) {
  if (contradictory_) return {};
  for (std::size_t v = 0; v < free_.size(); ++v) {
    if (std::ranges::find(free_[v], free[v]) == free_[v].end()) return {};
  }
  std::ranges::copy(free.first(free_.size()), values_.begin());
  for (std::size_t depth = 0; depth <= free_.size(); ++depth) {
    if (!holds_at(depth)) return {};
  }
  return values_;
}

}  // namespace rewright
