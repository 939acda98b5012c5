#include "axiom/size_search.h"

#include <rewright/base/result.h>

#include <algorithm>
#include <numeric>

namespace rewright {

SizeCode size_code(const SymbolicDim& size, std::span<const SizeVar> names) {
  auto code = SizeCode::compile(size, names);
  if (!code) fail("a size speaks of an unknown variable: " + to_string(size));
  return *std::move(code);
}

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
    ConstraintCode check{normal.kind, size_code(normal.left, names_), size_code(normal.right, names_)};
    const std::size_t depth = check.reach();
    checks_[depth].push_back(std::move(check));
  }
  for (std::size_t i = free_.size(); i < names_.size(); ++i) {
    SizeCode value = size_code(system.solved().find(names_[i])->second, names_);
    const std::size_t depth = value.reach();
    solved_[depth].push_back({i, std::move(value), allowed(names_[i])});
  }
}

bool SizeSearch::solve(const Solved& solved) {
  const auto value = solved.value.value(values_);
  if (!value) return false;
  // 0 is a size where it is listed: a slice begins there.
  if (solved.allowed.empty() ? *value < 1 : !std::ranges::binary_search(solved.allowed, *value)) return false;
  values_[solved.position] = *value;
  return true;
}

bool SizeSearch::holds_at(std::size_t depth) {
  return std::ranges::all_of(checks_[depth], [&](const ConstraintCode& check) { return check.holds(values_); }) &&
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
