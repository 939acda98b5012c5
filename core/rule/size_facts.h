// What is known of the sizes in a rule, and what follows from it: equations solved for variables, bounds, divisibility.
//
// Every size is an integer of at least 1. Equations are kept as a triangular system v = e, where v has coefficient 1 or
// -1 and is put in for everywhere; the others (2*x.0 = 3*y.0) as rows of Gaussian elimination over their atoms. Bounds
// follow from each variable's least value and from sums of up to two known bounds; divisibility from congruence of
// coefficients. Sound, not complete: what implies() grants holds; what it does not grant may hold all the same.
#pragma once

#include <rewright/dim.h>
#include <rewright/export.h>
#include <rewright/rule.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// The order of size variables: those of inputs by position and axis, then all others in the order of `others`.
/// A variable of neither comes last.
class REWRIGHT_API SizeOrder {
 public:
  explicit SizeOrder(std::span<const PatternInput> inputs, std::span<const std::string> others = {});
  [[nodiscard]] std::int64_t position(std::string_view variable) const;
  [[nodiscard]] bool before(std::string_view a, std::string_view b) const { return position(a) < position(b); }

 private:
  std::map<std::string, std::int64_t, std::less<>> positions_;
};

/// The constraint in one fixed form: common factors removed, no negative coefficient, the side with the first variable
/// on the left, "a <= b" as "b >= a". Constraints that say the same term by term become equal.
[[nodiscard]] REWRIGHT_API Constraint normal_form(const Constraint& constraint, const SizeOrder& order);

class REWRIGHT_API SizeFacts {
 public:
  explicit SizeFacts(SizeOrder order) : order_(std::move(order)) {}

  void add(const Constraint& constraint);
  /// Two facts exclude each other for all sizes.
  [[nodiscard]] bool contradictory() const { return contradictory_; }

  /// With every solved variable put in for; equal sizes often become equal expressions, unequal ones never do.
  [[nodiscard]] SymbolicDim reduce(const SymbolicDim& dim) const;
  /// What the variable equals, in variables that are before it; nothing if it is free.
  [[nodiscard]] std::optional<SymbolicDim> solution(std::string_view variable) const;
  [[nodiscard]] bool implies(const Constraint& constraint) const;
  /// The equations known, one per solved variable in their order, then the rows that none could be solved for.
  [[nodiscard]] std::vector<Constraint> equations() const;
  [[nodiscard]] const SizeOrder& order() const { return order_; }

 private:
  void add_zero(SymbolicDim form);
  void solve(const std::string& variable, const SymbolicDim& value);
  [[nodiscard]] bool is_zero(const SymbolicDim& form) const;
  [[nodiscard]] bool is_at_least_zero(const SymbolicDim& form) const;
  [[nodiscard]] bool is_multiple(std::int64_t divisor, const SymbolicDim& form) const;
  [[nodiscard]] std::optional<std::int64_t> least(const SymbolicDim& form) const;
  [[nodiscard]] std::optional<std::int64_t> least(const SymbolicDim::Atom& atom) const;

  SizeOrder order_;
  std::map<std::string, SymbolicDim, std::less<>> solved_;
  std::vector<SymbolicDim> zeros_;  ///< Equations without a variable to solve for.
  std::vector<SymbolicDim> at_least_zero_;
  std::vector<SymbolicDim> not_zero_;
  std::vector<std::pair<std::int64_t, SymbolicDim>> multiples_;
  bool contradictory_ = false;
};

/// Those of `wanted` that `known` does not imply, each in normal form with solved variables put in for, without those
/// that the others imply. Equations come first. Errors: kMismatch where they contradict what is known.
[[nodiscard]] REWRIGHT_API Result<std::vector<Constraint>> missing_conditions(std::span<const Constraint> known,
                                                                              std::span<const Constraint> wanted,
                                                                              const SizeOrder& order);

}  // namespace rewright
