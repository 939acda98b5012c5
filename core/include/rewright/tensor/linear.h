// Linear reasoning about sizes: what follows from known constraints, and which sizes meet them.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// The order of size variables: equations are solved for their last variable. And how small each may be.
class REWRIGHT_API SizeOrder {
 public:
  enum class Least : std::uint8_t {
    kZero,         ///< Every variable is at least 0.
    kOneInTensors  ///< Sizes of tensors in a rule are at least 1; the others at least 0.
  };
  /// By text.
  explicit SizeOrder(Least least = Least::kZero) : least_(least) {}
  /// In this order; one that is not among them comes last. kOneInTensors.
  explicit SizeOrder(std::span<const SizeVar> variables);

  [[nodiscard]] std::int64_t position(SizeVar variable) const;
  [[nodiscard]] bool before(SizeVar a, SizeVar b) const;
  [[nodiscard]] std::int64_t least(SizeVar variable) const {
    return least_ == Least::kOneInTensors && variable.is_axis() ? 1 : 0;
  }

 private:
  Least least_ = Least::kOneInTensors;
  bool by_text_ = true;
  std::map<SizeVar, std::int64_t> positions_;
};

/// What is known of sizes, and what follows from it.
///
/// Equations are kept as a triangular system v = e, where v has coefficient 1 or -1 and is put in for everywhere; the
/// others (2*x.0 = 3*y.0) as rows of Gaussian elimination over their atoms. Bounds follow from each variable's least
/// value and from sums of up to two known bounds; divisibility from congruence of coefficients. Sound, not complete:
/// what implies() grants holds; what it does not grant may hold all the same.
class REWRIGHT_API SizeSystem {
 public:
  explicit SizeSystem(SizeOrder order) : order_(std::move(order)) {}
  /// With all these known.
  explicit SizeSystem(std::span<const Constraint> known, SizeOrder order = SizeOrder());

  void add(const Constraint& constraint);
  /// Two facts exclude each other for all sizes.
  [[nodiscard]] bool contradictory() const { return contradictory_; }

  /// With every solved variable put in for; equal sizes often become equal expressions, unequal ones never do.
  [[nodiscard]] SymbolicDim normalise(const SymbolicDim& dim) const;
  /// Solved variables, each as an expression over the others.
  [[nodiscard]] const std::map<SizeVar, SymbolicDim>& solved() const { return solved_; }
  [[nodiscard]] bool implies(const Constraint& constraint) const;
  /// The equations known, one per solved variable in their order, then the rows that none could be solved for.
  [[nodiscard]] std::vector<Constraint> equations() const;
  [[nodiscard]] const SizeOrder& order() const { return order_; }

 private:
  void add_zero(SymbolicDim form);
  void solve(SizeVar variable, const SymbolicDim& value);
  [[nodiscard]] bool is_zero(const SymbolicDim& form) const;
  [[nodiscard]] bool is_at_least_zero(const SymbolicDim& form) const;
  [[nodiscard]] bool is_multiple(std::int64_t divisor, const SymbolicDim& form) const;
  [[nodiscard]] std::optional<std::int64_t> least(const SymbolicDim& form) const;
  [[nodiscard]] std::int64_t least(const SymbolicDim::Atom& atom) const;

  SizeOrder order_;
  std::map<SizeVar, SymbolicDim> solved_;
  std::vector<SymbolicDim> zeros_;  ///< Equations without a variable to solve for.
  std::vector<SymbolicDim> at_least_zero_;
  std::vector<SymbolicDim> not_zero_;
  std::vector<std::pair<std::int64_t, SymbolicDim>> multiples_;
  bool contradictory_ = false;
};

using SizeAssignment = std::map<SizeVar, std::int64_t>;

/// Calls `visit` with every assignment of `variables` (low..high each) that meets all constraints, in lexicographic
/// order of the variables that are free; stops when it gives false, or after `limit` tried assignments. Gives the
/// number of visits.
REWRIGHT_API std::size_t for_each_solution(std::span<const SizeVar> variables, std::span<const Constraint> constraints,
                                           std::int64_t low, std::int64_t high,
                                           const std::function<bool(const SizeAssignment&)>& visit,
                                           std::size_t limit = 10'000'000);

}  // namespace rewright
