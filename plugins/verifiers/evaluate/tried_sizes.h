// Sizes at which a rule is tried.
//
// Size variables are numbered: the inputs' axes first ("x.0", "x.1", ...), then those that a match binds. Expressions
// and conditions over them are compiled once a rule, so that a try at given sizes looks nothing up by name.
#pragma once

#include <rewright/rule/rule.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evaluate_verifier {

/// The values of all size variables, by number.
using Sizes = std::vector<std::int64_t>;

class SizeNames {
 public:
  explicit SizeNames(const rewright::Rule& rule);
  [[nodiscard]] std::size_t count() const { return names_.size(); }
  [[nodiscard]] const std::vector<rewright::SizeVar>& names() const { return names_; }
  /// -1 if there is none of that name.
  [[nodiscard]] int number(rewright::SizeVar name) const;

 private:
  std::vector<rewright::SizeVar> names_;
};

/// An expression over numbered sizes.
class SizeForm {
 public:
  /// A variable without a number makes a form without a value.
  SizeForm(const rewright::SymbolicDim& dim, const SizeNames& names);
  /// Nothing where a value does not fit 63 bits.
  [[nodiscard]] std::optional<std::int64_t> value(std::span<const std::int64_t> sizes) const;

 private:
  struct Term {
    std::int64_t coefficient = 1;
    int variable = -1;            ///< -1: a quotient or a product of `parts`.
    std::int64_t divisor = 0;     ///< 0: no quotient.
    std::vector<SizeForm> parts;  ///< Dividend, or factors; none for a variable without a number.
  };
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
};

class SizeCondition {
 public:
  SizeCondition(const rewright::Constraint& constraint, const SizeNames& names)
      : kind_(constraint.kind), left_(constraint.left, names), right_(constraint.right, names) {}
  [[nodiscard]] bool holds(std::span<const std::int64_t> sizes) const;

 private:
  rewright::Constraint::Kind kind_;
  SizeForm left_, right_;
};

/// The example's sizes; nothing where the rule has none, or none for a variable of the match.
[[nodiscard]] std::optional<Sizes> example_sizes(const rewright::Rule& rule, const SizeNames& names);
/// Every size halved, rounded up.
[[nodiscard]] Sizes halved(const Sizes& example);
/// The example with its distinct sizes replaced by 1, 2, 3, ... in their order (2 and more, if it has no 1).
[[nodiscard]] Sizes compressed(const Sizes& example);

struct DrawOptions {
  std::int64_t count = 6;
  std::int64_t max_dim = 4;
  std::uint64_t seed = 1;
};
/// Sizes that meet the constraints, unequal where they may be, the fewest first. Free sizes are drawn; the others
/// follow from the equations. Where draws meet the constraints too seldom, a bounded search takes their place.
[[nodiscard]] std::vector<Sizes> draw_sizes(std::span<const rewright::Constraint> constraints, const SizeNames& names,
                                            const DrawOptions& options);

}  // namespace evaluate_verifier
