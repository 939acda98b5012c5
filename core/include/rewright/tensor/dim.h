// The sizes that shape rules compute with, and the constraints under which a shape rule is defined.
//
// An operator's shape rule is a template over Dim, instantiated for
//   std::int64_t  a number: shapes of real graphs;
//   CutDim        a number that remembers where a concatenation joined it: enumeration, so that split knows its point;
//   SymbolicDim   a linear expression over the sizes of a pattern's inputs: preconditions of rules, axioms.
//
// Constraints<Dim> takes what the rule requires. For numbers it keeps the first violation as an Error; for symbolic
// sizes it keeps the conditions, minus those that hold for all sizes.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/tensor/shape.h>
#include <rewright/tensor/size_var.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

// --- numbers -------------------------------------------------------------------------------------------------

/// floor(value / divisor), divisor > 0.
[[nodiscard]] constexpr std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}
/// The size of a concatenation of `left` and `right`.
[[nodiscard]] constexpr std::int64_t join(std::int64_t left, std::int64_t right) { return left + right; }
/// The size of an axis on which `left` and `right` were required to agree.
[[nodiscard]] constexpr std::int64_t same(std::int64_t left, std::int64_t) { return left; }
/// The number behind a size, if it is known.
[[nodiscard]] constexpr std::optional<std::int64_t> known(std::int64_t dim) { return dim; }

// --- numbers with cuts ---------------------------------------------------------------------------------------

/// A size that remembers the last concatenation along it: the binary tree of what was joined (TASO, SOSP'19,
/// section 5, "split tree"). Arithmetic forgets the cut; copying, `join` and agreeing `same` keep it.
class CutDim {
 public:
  CutDim(std::int64_t extent = 0) : extent_(extent) {}

  [[nodiscard]] std::int64_t extent() const { return extent_; }
  /// The two parts of the last concatenation, or null.
  [[nodiscard]] const std::pair<CutDim, CutDim>* cut() const { return cut_.get(); }

  friend CutDim operator+(const CutDim& a, const CutDim& b) { return a.extent_ + b.extent_; }
  friend CutDim operator-(const CutDim& a, const CutDim& b) { return a.extent_ - b.extent_; }
  friend CutDim operator*(const CutDim& a, const CutDim& b) { return a.extent_ * b.extent_; }
  /// Equal extent and equal trees.
  friend REWRIGHT_API bool operator==(const CutDim& a, const CutDim& b);
  friend REWRIGHT_API CutDim join(const CutDim& left, const CutDim& right);
  friend CutDim same(const CutDim& left, const CutDim& right) { return left == right ? left : CutDim(left.extent_); }
  friend CutDim floor_divide(const CutDim& value, std::int64_t divisor) { return floor_divide(value.extent_, divisor); }
  friend std::optional<std::int64_t> known(const CutDim& dim) { return dim.extent_; }

 private:
  std::int64_t extent_ = 0;
  std::shared_ptr<const std::pair<CutDim, CutDim>> cut_;
};

// --- expressions ---------------------------------------------------------------------------------------------

/// Looks up the value of a size variable; nothing if it is not bound.
using DimBinding = std::function<std::optional<std::int64_t>(SizeVar)>;

/// c0 + c1*atom1 + c2*atom2 + ..., where an atom is a variable, a quotient
/// floor(e / k) or a product of two expressions. Equal linear forms compare equal. Like CutDim it remembers the
/// last concatenation, which equality ignores. Copies share what they are made of.
class REWRIGHT_API SymbolicDim {
 public:
  SymbolicDim(std::int64_t constant = 0) : constant_(constant) {}
  [[nodiscard]] static SymbolicDim variable(SizeVar variable);
  /// Reads what to_string wrote: sums, differences, products, floor(e / k), parentheses, names, numbers.
  [[nodiscard]] static Result<SymbolicDim> parse(std::string_view text);

  [[nodiscard]] std::optional<std::int64_t> constant() const {
    return atoms_ ? std::nullopt : std::optional(constant_);
  }
  /// The variable if the expression is just one.
  [[nodiscard]] std::optional<SizeVar> variable() const;
  /// Nothing if a variable is not bound or the value does not fit 63 bits.
  [[nodiscard]] std::optional<std::int64_t> evaluate(const DimBinding& binding) const;
  /// Replaces variables by expressions; those for which `replace` gives nothing stay.
  [[nodiscard]] SymbolicDim substitute(const std::function<std::optional<SymbolicDim>(SizeVar)>& replace) const;
  /// Each once, in their order.
  [[nodiscard]] std::vector<SizeVar> variables() const;
  [[nodiscard]] const std::pair<SymbolicDim, SymbolicDim>* cut() const { return cut_.get(); }

  /// A factor of the linear form, for readers that translate it (to a solver, say).
  struct Atom {
    enum class Kind { kVariable, kQuotient, kProduct } kind = Kind::kVariable;
    std::optional<SizeVar> variable;           ///< kVariable.
    std::shared_ptr<const SymbolicDim> left;   ///< kQuotient: dividend. kProduct: a factor.
    std::shared_ptr<const SymbolicDim> right;  ///< kProduct: the other factor.
    std::int64_t divisor = 1;                  ///< kQuotient.
    std::int64_t coefficient = 1;              ///< In the linear form.
    std::string text = {};                     ///< Of what is no variable, the coefficient aside.

    /// Tells atoms apart.
    [[nodiscard]] const std::string& key() const { return variable ? variable->text() : text; }
    /// The same but for the coefficient?
    [[nodiscard]] bool is_like(const Atom& other) const {
      return variable || other.variable ? variable == other.variable : text == other.text;
    }
  };
  using Atoms = std::vector<Atom>;  ///< In the order of their keys.
  [[nodiscard]] const Atoms& atoms() const { return atoms_ ? *atoms_ : no_atoms(); }
  [[nodiscard]] std::int64_t constant_term() const { return constant_; }

  friend REWRIGHT_API SymbolicDim operator+(const SymbolicDim& a, const SymbolicDim& b);
  friend REWRIGHT_API SymbolicDim operator-(const SymbolicDim& a, const SymbolicDim& b);
  friend REWRIGHT_API SymbolicDim operator*(const SymbolicDim& a, const SymbolicDim& b);
  friend REWRIGHT_API bool operator==(const SymbolicDim& a, const SymbolicDim& b);
  friend REWRIGHT_API SymbolicDim join(const SymbolicDim& left, const SymbolicDim& right);
  friend REWRIGHT_API SymbolicDim floor_divide(const SymbolicDim& value, std::int64_t divisor);

 private:
  [[nodiscard]] static const Atoms& no_atoms();
  [[nodiscard]] static SymbolicDim of(std::int64_t constant, Atoms atoms);

  std::int64_t constant_ = 0;
  std::shared_ptr<const Atoms> atoms_;  ///< Null where there are none.
  std::shared_ptr<const std::pair<SymbolicDim, SymbolicDim>> cut_;
};

[[nodiscard]] inline SymbolicDim same(const SymbolicDim& left, const SymbolicDim& right) {
  return left.cut() || !right.cut() ? left : right;
}
[[nodiscard]] inline std::optional<std::int64_t> known(const SymbolicDim& dim) { return dim.constant(); }

/// "x.0 + 2*y.1 - 3"; terms in the order of their text, the constant last.
[[nodiscard]] REWRIGHT_API std::string to_string(const SymbolicDim& dim);

using SymbolicShape = BasicShape<SymbolicDim>;
using CutShape = BasicShape<CutDim>;

/// A condition on sizes.
struct Constraint {
  enum class Kind {
    kEqual,     ///< left = right
    kNotEqual,  ///< left != right
    kAtLeast,   ///< left >= right
    kDivides,   ///< left divides right; left is a positive number
  };
  Kind kind = Kind::kEqual;
  SymbolicDim left;
  SymbolicDim right;

  /// Nothing if a variable is not bound.
  [[nodiscard]] REWRIGHT_API std::optional<bool> holds(const DimBinding& binding) const;
  /// True or false if that is so for all sizes, by linear arithmetic alone; nothing if it depends.
  [[nodiscard]] REWRIGHT_API std::optional<bool> decided() const;
  /// Reads "x.1 = y.0", "x.1 != 2", "x.1 >= 3", "x.1 <= 3" (turned round), "2 | x.1".
  [[nodiscard]] REWRIGHT_API static Result<Constraint> parse(std::string_view text);
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

[[nodiscard]] REWRIGHT_API std::string to_string(const Constraint& constraint);

// --- what a shape rule requires ------------------------------------------------------------------------------

/// Collects what a shape rule requires of its operands' sizes.
template <class Dim>
class Constraints {
 public:
  /// `what` completes the sentence "OPERATOR: what", e.g. "inner sizes".
  void equal(const Dim& a, const Dim& b, std::string_view what) { require(Constraint::Kind::kEqual, a, b, what); }
  void at_least(const Dim& a, const Dim& b, std::string_view what) { require(Constraint::Kind::kAtLeast, a, b, what); }
  void divides(std::int64_t divisor, const Dim& value, std::string_view what) {
    require(Constraint::Kind::kDivides, Dim(divisor), value, what);
  }

  /// Numbers: the first requirement that does not hold.
  [[nodiscard]] const std::optional<Error>& violation() const { return violation_; }
  /// Symbolic sizes: the requirements, in the order in which they were made.
  [[nodiscard]] const std::vector<Constraint>& conditions() const { return conditions_; }

 private:
  void require(Constraint::Kind kind, const Dim& a, const Dim& b, std::string_view what);

  std::optional<Error> violation_;
  std::vector<Constraint> conditions_;
};

namespace detail {
/// The sentence for a requirement on numbers that does not hold, or nothing.
[[nodiscard]] REWRIGHT_API std::optional<Error> check_constraint(Constraint::Kind kind, std::int64_t a, std::int64_t b,
                                                                 std::string_view what);
}  // namespace detail

template <class Dim>
void Constraints<Dim>::require(Constraint::Kind kind, const Dim& a, const Dim& b, std::string_view what) {
  if (violation_) return;
  if constexpr (std::is_same_v<Dim, SymbolicDim>) {
    Constraint constraint{kind, a, b};
    const auto decided = constraint.decided();
    if (!decided) {
      for (const Constraint& known : conditions_) {
        if (known == constraint) return;
      }
      conditions_.push_back(std::move(constraint));
    } else if (!*decided) {
      violation_ = shape_error("{}: {} can never hold", what, to_string(constraint));
    }
  } else {
    violation_ = detail::check_constraint(kind, *known(a), *known(b), what);
  }
}

}  // namespace rewright
