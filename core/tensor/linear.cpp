// Sizes that meet constraints, counted through.
#include <rewright/tensor/linear.h>

#include <algorithm>

namespace rewright {
namespace {

using Kind = Constraint::Kind;

/// Counts through the free variables, fills in the solved ones and checks each constraint as soon as its variables have
/// values.
class SolutionSearch {
 public:
  SolutionSearch(std::span<const SizeVar> variables, std::span<const Constraint> constraints, std::int64_t low,
                 std::int64_t high, const std::function<bool(const SizeAssignment&)>& visit, std::size_t limit)
      : system_(constraints), low_(low), high_(high), visit_(visit), limit_(limit) {
    for (const SizeVar variable : variables) {
      (system_.solved().contains(variable) ? solved_ : free_).push_back(variable);
    }
    checks_.resize(free_.size() + 1);
    for (const Constraint& constraint : constraints) {
      Constraint normal{constraint.kind, system_.normalise(constraint.left), system_.normalise(constraint.right)};
      checks_[depth_of(normal)].push_back(std::move(normal));
    }
    for (const SizeVar variable : solved_) {
      const SymbolicDim value = system_.normalise(SymbolicDim::variable(variable));
      for (Constraint bound : {Constraint{Kind::kAtLeast, value, low}, Constraint{Kind::kAtLeast, high, value}})
        checks_[depth_of(bound)].push_back(std::move(bound));
    }
  }

  std::size_t run() {
    if (!system_.contradictory()) descend(0);
    return visits_;
  }

 private:
  /// The number of free variables that must have values before the constraint can be checked.
  std::size_t depth_of(const Constraint& constraint) const {
    std::size_t depth = 0;
    for (const SizeVar variable : (constraint.left + constraint.right).variables()) place(variable, depth);
    for (const SizeVar variable : (constraint.left - constraint.right).variables()) place(variable, depth);
    return depth;
  }
  void place(SizeVar variable, std::size_t& depth) const {
    const auto found = std::ranges::find(free_, variable);
    if (found != free_.end()) depth = std::max(depth, static_cast<std::size_t>(found - free_.begin()) + 1);
  }
  std::optional<std::int64_t> value_of(SizeVar variable) const {
    const auto found = values_.find(variable);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  bool descend(std::size_t depth) {
    const DimBinding binding = [this](SizeVar variable) { return value_of(variable); };
    if (++tried_ > limit_) return false;
    for (const Constraint& check : checks_[depth]) {
      if (!check.holds(binding).value_or(false)) return true;
    }
    if (depth == free_.size()) return visit_solution(binding);
    for (std::int64_t value = low_; value <= high_; ++value) {
      values_[free_[depth]] = value;
      if (!descend(depth + 1)) return false;
    }
    values_.erase(free_[depth]);
    return true;
  }
  bool visit_solution(const DimBinding& binding) {
    SizeAssignment all = values_;
    for (const SizeVar variable : solved_) {
      const auto value = system_.solved().find(variable)->second.evaluate(binding);
      if (!value) return true;
      all[variable] = *value;
    }
    ++visits_;
    return visit_(all);
  }

  SizeSystem system_;
  std::int64_t low_, high_;
  const std::function<bool(const SizeAssignment&)>& visit_;
  std::size_t limit_;
  std::vector<SizeVar> free_, solved_;
  std::vector<std::vector<Constraint>> checks_;  ///< By the number of free variables bound.
  SizeAssignment values_;
  std::size_t tried_ = 0, visits_ = 0;
};

}  // namespace

std::size_t for_each_solution(std::span<const SizeVar> variables, std::span<const Constraint> constraints,
                              std::int64_t low, std::int64_t high,
                              const std::function<bool(const SizeAssignment&)>& visit, std::size_t limit) {
  return SolutionSearch(variables, constraints, low, high, visit, limit).run();
}

}  // namespace rewright
