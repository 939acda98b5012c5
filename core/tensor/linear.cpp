// Linear reasoning about sizes: equalities are solved for a variable with coefficient 1 or -1 each and replaced
// everywhere; what is left is compared as linear forms.
#include <rewright/linear.h>

#include <algorithm>
#include <numeric>

namespace rewright {
namespace {

using Kind = Constraint::Kind;
using Atom = SymbolicDim::Atom;
using Solved = std::map<std::string, SymbolicDim, std::less<>>;

SymbolicDim replace_solved(const SymbolicDim& dim, const Solved& solved) {
  if (solved.empty() || dim.constant()) return dim;
  return dim.substitute([&](std::string_view name) -> std::optional<SymbolicDim> {
    const auto found = solved.find(name);
    if (found == solved.end()) return std::nullopt;
    return found->second;
  });
}

/// A variable that occurs in `difference` = 0 once, with coefficient 1 or -1; the last by name, so that "y.1" is
/// replaced by "x.1". Null if there is none.
const Atom* solvable_atom(const SymbolicDim& difference) {
  const Atom* chosen = nullptr;
  for (const auto& [key, atom] : difference.atoms()) {
    if (atom.kind != Atom::Kind::kVariable || (atom.coefficient != 1 && atom.coefficient != -1)) continue;
    const auto inside = [&, &name = atom.name](const auto& other) {
      if (other.second.kind == Atom::Kind::kVariable) return false;
      SymbolicDim part = *other.second.left;
      if (other.second.right) part = part + *other.second.right;
      const auto names = part.variables();
      return std::ranges::find(names, name) != names.end();
    };
    if (std::ranges::none_of(difference.atoms(), inside)) chosen = &atom;
  }
  return chosen;
}

/// 2*x - 2*y = 0 says x - y = 0.
SymbolicDim without_common_factor(const SymbolicDim& difference) {
  std::int64_t divisor = difference.constant_term();
  for (const auto& [key, atom] : difference.atoms()) divisor = std::gcd(divisor, atom.coefficient);
  return divisor > 1 ? floor_divide(difference, divisor) : difference;
}

/// Every atom has a coefficient >= 0 and the constant is >= 0. Products and quotients of sizes are >= 0 only where
/// their parts are; variables always.
bool never_negative(const SymbolicDim& dim) {
  if (dim.constant_term() < 0) return false;
  return std::ranges::all_of(dim.atoms(), [](const auto& entry) {
    const Atom& atom = entry.second;
    if (atom.coefficient < 0) return false;
    switch (atom.kind) {
      case Atom::Kind::kVariable: return true;
      case Atom::Kind::kQuotient: return never_negative(*atom.left);
      case Atom::Kind::kProduct: return never_negative(*atom.left) && never_negative(*atom.right);
    }
    return false;
  });
}

bool is_multiple(const SymbolicDim& dim, std::int64_t divisor) {
  return dim.constant_term() % divisor == 0 && std::ranges::all_of(dim.atoms(), [divisor](const auto& entry) {
           return entry.second.coefficient % divisor == 0;
         });
}

/// Does `known`, both normalised, imply `wanted` by itself?
bool one_implies(const Constraint& known, const Constraint& wanted) {
  const SymbolicDim have = known.left - known.right, want = wanted.left - wanted.right;
  switch (wanted.kind) {
    case Kind::kEqual: return known.kind == Kind::kEqual && (want == have || want == SymbolicDim(0) - have);
    case Kind::kNotEqual:
      if (known.kind == Kind::kAtLeast &&
          (never_negative(want - have - 1) || never_negative(SymbolicDim(-1) - want - have)))
        return true;
      return known.kind == Kind::kNotEqual && (want == have || want == SymbolicDim(0) - have);
    case Kind::kAtLeast:
      if (known.kind == Kind::kEqual) return never_negative(want - have) || never_negative(want + have);
      return known.kind == Kind::kAtLeast && never_negative(want - have);
    case Kind::kDivides:
      return known.kind == Kind::kDivides && known.left.constant() && wanted.left.constant() &&
             *wanted.left.constant() > 0 && *known.left.constant() % *wanted.left.constant() == 0 &&
             is_multiple(wanted.right - known.right, *wanted.left.constant());
  }
  return false;
}

}  // namespace

SizeSystem::SizeSystem(std::span<const Constraint> known) {
  for (const Constraint& constraint : known) {
    if (constraint.kind == Kind::kEqual) solve(constraint);
  }
  for (const Constraint& constraint : known) {
    Constraint normal{constraint.kind, normalise(constraint.left), normalise(constraint.right)};
    const auto decided = normal.decided();
    if (decided && !*decided) contradictory_ = true;
    if (!decided) rest_.push_back(std::move(normal));
  }
}

void SizeSystem::solve(const Constraint& equality) {
  const SymbolicDim difference = without_common_factor(normalise(equality.left) - normalise(equality.right));
  const Atom* atom = solvable_atom(difference);
  if (!atom) return;
  const std::string name = atom->name;
  const SymbolicDim term = SymbolicDim(atom->coefficient) * SymbolicDim::variable(name);
  const SymbolicDim value = SymbolicDim(-atom->coefficient) * (difference - term);
  const Solved one{{name, value}};
  for (auto& [other, expression] : solved_) expression = replace_solved(expression, one);
  solved_.emplace(name, value);
}

SymbolicDim SizeSystem::normalise(const SymbolicDim& dim) const { return replace_solved(dim, solved_); }

bool SizeSystem::implies(const Constraint& constraint) const {
  if (contradictory_) return true;
  // A solved variable is a size all the same: what it equals (2*x.0 - y.0, say) does not show that it is not negative.
  if (constraint.kind == Kind::kAtLeast && never_negative(constraint.left - constraint.right)) return true;
  const Constraint wanted{constraint.kind, normalise(constraint.left), normalise(constraint.right)};
  if (const auto decided = wanted.decided()) return *decided;
  if (wanted.kind == Kind::kAtLeast && never_negative(wanted.left - wanted.right)) return true;
  return std::ranges::any_of(rest_, [&](const Constraint& known) { return one_implies(known, wanted); });
}

// --- enumeration
// -------------------------------------------------------------------------------------------------------

namespace {

/// Counts through the free variables, fills in the solved ones and checks each constraint as soon as its variables have
/// values.
class SolutionSearch {
 public:
  SolutionSearch(std::span<const std::string> variables, std::span<const Constraint> constraints, std::int64_t low,
                 std::int64_t high, const std::function<bool(const SizeAssignment&)>& visit, std::size_t limit)
      : system_(constraints), low_(low), high_(high), visit_(visit), limit_(limit) {
    for (const std::string& name : variables) {
      (system_.solved().contains(name) ? solved_ : free_).push_back(name);
    }
    checks_.resize(free_.size() + 1);
    for (const Constraint& constraint : constraints) {
      Constraint normal{constraint.kind, system_.normalise(constraint.left), system_.normalise(constraint.right)};
      checks_[depth_of(normal)].push_back(std::move(normal));
    }
    for (const std::string& name : solved_) {
      const SymbolicDim value = system_.normalise(SymbolicDim::variable(name));
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
    for (const auto& name : (constraint.left + constraint.right).variables()) place(name, depth);
    for (const auto& name : (constraint.left - constraint.right).variables()) place(name, depth);
    return depth;
  }
  void place(const std::string& name, std::size_t& depth) const {
    const auto found = std::ranges::find(free_, name);
    if (found != free_.end()) depth = std::max(depth, static_cast<std::size_t>(found - free_.begin()) + 1);
  }
  std::optional<std::int64_t> value_of(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  bool descend(std::size_t depth) {
    const DimBinding binding = [this](std::string_view name) { return value_of(name); };
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
    for (const std::string& name : solved_) {
      const auto value = system_.solved().find(name)->second.evaluate(binding);
      if (!value) return true;
      all[name] = *value;
    }
    ++visits_;
    return visit_(all);
  }

  SizeSystem system_;
  std::int64_t low_, high_;
  const std::function<bool(const SizeAssignment&)>& visit_;
  std::size_t limit_;
  std::vector<std::string> free_, solved_;
  std::vector<std::vector<Constraint>> checks_;  ///< By the number of free variables bound.
  SizeAssignment values_;
  std::size_t tried_ = 0, visits_ = 0;
};

}  // namespace

std::size_t for_each_solution(std::span<const std::string> variables, std::span<const Constraint> constraints,
                              std::int64_t low, std::int64_t high,
                              const std::function<bool(const SizeAssignment&)>& visit, std::size_t limit) {
  return SolutionSearch(variables, constraints, low, high, visit, limit).run();
}

}  // namespace rewright
