// Terms as straight-line programs: all that a scalar algebra of one's own needs in order to compute what a graph
// computes.
//
//   Graph -> evaluate<Term>(...) -> TermProgram -> run<Own>(variable)
//
// Own has what the algebras of <rewright/tensor/scalar.h> have: Own::from_integer(n), Own::from_double(x), + - * /,
// and, found by argument-dependent lookup, max(a, b) and apply(Function, a).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/scalar.h>

#include <cstdint>
#include <span>
#include <vector>

namespace rewright {

struct TermStep {
  Term::Kind kind = Term::Kind::kNumber;
  std::uint32_t left = 0;   ///< Of operations: the position of an earlier step.
  std::uint32_t right = 0;  ///< Of operations on two operands: the same.
  Exact number;             ///< Of numbers; undefined where only `real` says what it is.
  double real = 0;
  std::uint32_t variable = 0;
  Function function = Function::kExp;
};

class REWRIGHT_API TermProgram {
 public:
  /// What terms share in memory becomes one step. Linear in the number of steps; any depth.
  explicit TermProgram(std::span<const Term> terms);

  /// Operands stand before what uses them.
  [[nodiscard]] std::span<const TermStep> steps() const { return steps_; }
  /// By term: the position of its step.
  [[nodiscard]] std::span<const std::uint32_t> results() const { return results_; }

  /// The terms' values where variable i has the value variable(i).
  template <class Scalar, class Variable>
  [[nodiscard]] std::vector<Scalar> run(Variable&& variable) const {
    std::vector<Scalar> values;
    values.reserve(steps_.size());
    for (const TermStep& step : steps_) values.push_back(value_of<Scalar>(step, values, variable));
    std::vector<Scalar> results;
    for (const std::uint32_t position : results_) results.push_back(values[position]);
    return results;
  }

 private:
  template <class Scalar, class Variable>
  static Scalar value_of(const TermStep& step, const std::vector<Scalar>& values, Variable& variable) {
    const auto left = [&]() -> const Scalar& { return values[step.left]; };
    const auto right = [&]() -> const Scalar& { return values[step.right]; };
    switch (step.kind) {
      case Term::Kind::kVariable: return variable(step.variable);
      case Term::Kind::kAdd: return left() + right();
      case Term::Kind::kSubtract: return left() - right();
      case Term::Kind::kMultiply: return left() * right();
      case Term::Kind::kDivide: return left() / right();
      case Term::Kind::kMax: return max(left(), right());
      case Term::Kind::kFunction: return apply(step.function, left());
      case Term::Kind::kNumber: break;
    }
    if (!step.number.defined()) return Scalar::from_double(step.real);
    const Scalar numerator = Scalar::from_integer(step.number.numerator());
    return step.number.denominator() == 1 ? numerator : numerator / Scalar::from_integer(step.number.denominator());
  }

  std::vector<TermStep> steps_;
  std::vector<std::uint32_t> results_;
};

}  // namespace rewright
