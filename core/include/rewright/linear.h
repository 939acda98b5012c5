// Linear reasoning about sizes: what follows from known constraints, and which sizes meet them.
#pragma once

#include <rewright/dim.h>
#include <rewright/export.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// Constraints with their equalities solved. Sizes are integers >= 0.
class REWRIGHT_API SizeSystem {
 public:
  explicit SizeSystem(std::span<const Constraint> known);

  /// The expression with solved variables replaced: two that are equal under the equalities, by linear arithmetic
  /// alone, get one form.
  [[nodiscard]] SymbolicDim normalise(const SymbolicDim& dim) const;
  /// True only if the constraint holds wherever the known ones do. Sound, not complete.
  [[nodiscard]] bool implies(const Constraint& constraint) const;
  /// True only if nothing meets the known constraints.
  [[nodiscard]] bool contradictory() const { return contradictory_; }
  /// Solved variables, each as an expression over the others.
  [[nodiscard]] const std::map<std::string, SymbolicDim, std::less<>>& solved() const { return solved_; }

 private:
  void solve(const Constraint& equality);
  std::map<std::string, SymbolicDim, std::less<>> solved_;
  std::vector<Constraint> rest_;  ///< Normalised; equalities that could not be solved among them.
  bool contradictory_ = false;
};

using SizeAssignment = std::map<std::string, std::int64_t, std::less<>>;

/// Calls `visit` with every assignment of `variables` (low..high each) that meets all constraints, in lexicographic
/// order of the variables that are free; stops when it gives false, or after `limit` tried assignments. Gives the
/// number of visits.
REWRIGHT_API std::size_t for_each_solution(std::span<const std::string> variables,
                                           std::span<const Constraint> constraints, std::int64_t low, std::int64_t high,
                                           const std::function<bool(const SizeAssignment&)>& visit,
                                           std::size_t limit = 10'000'000);

}  // namespace rewright
