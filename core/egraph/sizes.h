// Sizes of tensors while a goal is being proved: linear forms over size variables, each made once, so that equal sizes
// are equal numbers.
//
//   form     constant + sum of coefficient * atom
//   atom     a variable, floor(form / k), or a product of two atoms
//
// assume() solves the equations between sizes; normalise() then gives two forms that are equal by linear arithmetic one
// number. Sizes of tensors are integers >= 1, other variables integers >= 0. What implies() says is sound and not
// complete.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/dim.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "egraph/hash_index.h"

namespace rewright::egraph {

using DimId = std::uint32_t;

struct Condition {
  Constraint::Kind kind = Constraint::Kind::kEqual;
  DimId left = 0;
  DimId right = 0;
  friend bool operator==(const Condition&, const Condition&) = default;
};

class REWRIGHT_API Sizes {
 public:
  Sizes() { clear(); }
  /// Forgets everything.
  void clear();

  [[nodiscard]] DimId constant(std::int64_t value);
  [[nodiscard]] DimId variable(std::uint32_t index);
  /// Variables below `count` are sizes of tensors; none is at first.
  void set_tensor_sizes(std::uint32_t count) { tensor_sizes_ = count; }
  [[nodiscard]] DimId combine(std::int64_t factor_a, DimId a, std::int64_t factor_b, DimId b);
  [[nodiscard]] DimId multiply(DimId a, DimId b);
  [[nodiscard]] DimId floor_divide(DimId value, std::int64_t divisor);
  [[nodiscard]] std::optional<std::int64_t> number(DimId dim) const;

  /// To be called once, before normalise() and implies().
  void assume(std::span<const Condition> known);
  [[nodiscard]] DimId normalise(DimId dim);
  /// True only if the condition holds wherever the assumptions do.
  [[nodiscard]] bool implies(const Condition& wanted);
  /// True only if nothing meets the assumptions.
  [[nodiscard]] bool contradictory() const { return contradictory_; }

  /// The form over the variables' names.
  [[nodiscard]] SymbolicDim symbolic(DimId dim, std::span<const SizeVar> names) const;

 private:
  using AtomId = std::uint32_t;
  enum class AtomKind : std::uint8_t { kVariable, kQuotient, kProduct };
  struct Atom {
    AtomKind kind = AtomKind::kVariable;
    std::uint32_t left = 0;  ///< The variable; the dividend (a DimId); a factor (an AtomId).
    std::int64_t right = 0;  ///< The divisor; the other factor.
    friend bool operator==(const Atom&, const Atom&) = default;
  };
  struct Term {
    AtomId atom = 0;
    std::int64_t coefficient = 0;
    friend bool operator==(const Term&, const Term&) = default;
  };
  struct Form {
    std::int64_t constant = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  [[nodiscard]] std::span<const Term> terms(DimId dim) const {
    return std::span(terms_).subspan(forms_[dim].first, forms_[dim].count);
  }
  [[nodiscard]] DimId intern(std::int64_t constant, std::span<const Term> terms);
  [[nodiscard]] DimId of_atom(AtomId atom, std::int64_t coefficient);
  [[nodiscard]] AtomId atom(const Atom& atom);
  [[nodiscard]] DimId multiply_atoms(AtomId a, AtomId b);
  void factors_of(AtomId atom, std::vector<AtomId>& factors) const;
  [[nodiscard]] bool occurs_inside(std::uint32_t variable, const Atom& atom) const;
  [[nodiscard]] DimId without_common_factor(DimId difference);
  void solve(DimId difference);
  [[nodiscard]] std::optional<bool> decided(const Condition& condition);
  [[nodiscard]] bool never_negative(DimId dim) const { return least(dim).value_or(-1) >= 0; }
  [[nodiscard]] std::optional<std::int64_t> least(DimId dim) const;
  [[nodiscard]] std::int64_t least(const Atom& atom) const;
  [[nodiscard]] bool one_implies(const Condition& known, const Condition& wanted);

  std::vector<Form> forms_;
  std::vector<Term> terms_;
  std::vector<Atom> atoms_;
  HashIndex form_index_, atom_index_;
  std::vector<std::optional<DimId>> solved_;  ///< By variable.
  std::vector<DimId> normal_;                 ///< By form; kNone where it is not known yet.
  std::vector<Condition> rest_;
  std::uint32_t tensor_sizes_ = 0;
  bool any_solved_ = false;
  bool contradictory_ = false;
};

}  // namespace rewright::egraph
