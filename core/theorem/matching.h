// Is a sum 0? Terms are put in terms of each other's variables and cancelled.
//
//   align    a one-to-one map of Z^n that makes the factors of one term those of another; found by unifying indices and
//            solving linear equations, then checked: its inverse undoes it, and the factors are equal where the guards
//            hold
//   cancel   sum of c * [guards] over terms of one product of factors, is 0 at every point: case by case over the
//   guards maxima   each branch of either has one in the other that is as great
//
// Guards alone keep variables in their ranges, and are compared; nothing else is assumed of a bound variable.
// What is found is checked; what is not found is left.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "theorem/sums.h"

namespace rewright::theorem {

class Matching {
 public:
  /// `shapes`: sizes of the tensors that elements are of.
  Matching(Sums& sums, const std::vector<std::vector<Polynomial>>& shapes)
      : sums_(sums), context_(sums.context()), shapes_(shapes) {}

  /// What is left of a sum once everything that cancels is gone. Errors: Split, Unsupported.
  [[nodiscard]] Sum cancelled(const Sum& sum);
  [[nodiscard]] bool equal(const Sum& a, const Sum& b);

 private:
  using Equation = std::pair<Polynomial, Polynomial>;  ///< Over the first term's variables, and over the second's.
  struct Unifier {
    std::vector<Equation> equations;
    std::vector<Symbol> unknown;  ///< To be solved for: of the second term, and of what is inside of it.
    std::vector<Symbol> given;    ///< Of the first term, and of what is inside of it.
  };
  /// Called with each way found until it answers true; true then.
  using Visit = std::function<bool(const Unifier&)>;

  [[nodiscard]] bool unify(std::span<const Power> a, std::span<const Power> b, const Unifier& so_far,
                           const Visit& visit);
  [[nodiscard]] bool unify(const Factor& a, const Factor& b, const Unifier& so_far, const Visit& visit);
  [[nodiscard]] bool unify(std::span<const Term> a, std::span<const Term> b, const Unifier& so_far, const Visit& visit);
  [[nodiscard]] bool unify(std::span<const Branch> a, std::span<const Branch> b, const Unifier& so_far,
                           const Visit& visit);
  /// The unknown by the given, where the equations say so; those that they do not determine are left out.
  [[nodiscard]] std::optional<SymbolMap> solved(const Unifier& unifier);
  /// Maps the bound variables of `to` to those of `from`, one to one. `map` lacks what equations did not determine.
  [[nodiscard]] bool complete(SymbolMap& map, const std::vector<Symbol>& from, const std::vector<Symbol>& to);
  [[nodiscard]] bool is_bijection(const SymbolMap& map, const std::vector<Symbol>& from, const std::vector<Symbol>& to);

  /// `term` in the variables of `model`, with its factors; nothing where it is no product of the same factors.
  [[nodiscard]] std::optional<Term> aligned(const Term& model, const Term& term);
  [[nodiscard]] bool equal_factors(std::span<const Power> a, std::span<const Power> b);
  [[nodiscard]] bool equal_factor(const Factor& a, const Factor& b);
  [[nodiscard]] bool equal_maxima(const Factor& a, const Factor& b);
  [[nodiscard]] bool covers(std::span<const Branch> a, std::span<const Branch> b);
  [[nodiscard]] bool is_covered(const Branch& branch, const Branch& by);
  /// sum of c * [guards] = 0 wherever the context's facts hold.
  [[nodiscard]] bool indicators_cancel(std::span<const Term> terms, int depth = 0);
  [[nodiscard]] Polynomial linear_index(const Factor& element);

  Sums& sums_;
  Context& context_;
  const std::vector<std::vector<Polynomial>>& shapes_;
  int unifications_ = 0;
};

}  // namespace rewright::theorem
