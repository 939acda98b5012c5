// Sizes that meet constraints, millions a second: linear.h's for_each_solution for inner loops.
//
// Variables are positions in one array of numbers; expressions are compiled to sums over it once. Equations are solved
// for variables first (SizeSystem), the others are counted through, and each constraint is checked as soon as its
// variables have values.
#pragma once

#include <rewright/base/mixing.h>
#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>
#include <rewright/tensor/linear.h>
#include <rewright/tensor/size_code.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// `size` over the positions of `names`, which are all that it speaks of.
[[nodiscard]] SizeCode size_code(const SymbolicDim& size, std::span<const SizeVar> names);

/// Which values a size variable may take; those not listed take 1 .. max_dim. An empty list: whatever equations give
/// it, 1 .. max_dim where none does.
using SizeDomain = std::map<SizeVar, std::vector<std::int64_t>>;

class REWRIGHT_API SizeSearch {
 public:
  SizeSearch(std::span<const SizeVar> variables, std::span<const Constraint> constraints, std::int64_t max_dim,
             const SizeDomain& domain = {});

  /// The variables, in the order in which visit() gets their values: free ones first.
  [[nodiscard]] const std::vector<SizeVar>& names() const { return names_; }

  /// Calls visit(std::span<const std::int64_t>) with every solution, the first free variable changing slowest; stops
  /// when it gives false.
  template <class Visit>
  void for_each(Visit visit) {
    if (!contradictory_) descend(0, visit);
  }

  /// One solution by chance: one to three of the free variables may have any of their values, the others are small
  /// where that is possible. Empty where none is found within `steps` values. Until the next call.
  [[nodiscard]] std::span<const std::int64_t> draw(Random& random, std::size_t steps);
  /// The solution with these values of the free variables, in the order of names(); empty where it is none.
  [[nodiscard]] std::span<const std::int64_t> at(std::span<const std::int64_t> free);
  [[nodiscard]] std::size_t free_count() const { return free_.size(); }

 private:
  using Orders = std::vector<std::vector<std::int64_t>>;  ///< By free variable: the values in the order of trial.
  [[nodiscard]] Orders random_orders(Random& random) const;
  bool descend_in(const Orders& orders, std::size_t depth, std::size_t& steps);
  /// What is to be checked and solved once `depth` free variables have values.
  bool holds_at(std::size_t depth);
  struct Solved {
    std::size_t position;
    SizeCode value;
    std::vector<std::int64_t> allowed;
  };

  [[nodiscard]] bool solve(const Solved& solved);

  template <class Visit>
  bool descend(std::size_t depth, Visit& visit) {
    if (!holds_at(depth)) return true;
    if (depth == free_.size()) return visit(std::span<const std::int64_t>(values_));
    for (const std::int64_t value : free_[depth]) {
      values_[depth] = value;
      if (!descend(depth + 1, visit)) return false;
    }
    return true;
  }

  std::vector<SizeVar> names_;
  std::vector<std::vector<std::int64_t>> free_;      ///< What each free variable may be.
  std::vector<std::vector<ConstraintCode>> checks_;  ///< By the number of free variables that have values.
  std::vector<std::vector<Solved>> solved_;          ///< As above.
  std::vector<std::int64_t> values_;
  bool contradictory_ = false;
};

}  // namespace rewright
