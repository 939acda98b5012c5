// Both sides of a typed axiom as tensors, at many sizes in a row.
//
// A AxiomProgram is made once for one typing: equal applications are made one step, shapes and size parameters are
// compiled to formulas over the sizes. TermValues<Scalar> runs it: buffers are kept from one run to the next, so that a
// run allocates only where an operator itself does.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/mixing.h>
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "axiom/size_search.h"

namespace rewright {

/// How inputs are drawn. Integers from -9 to 9; quarters of them; negative quarters; the whole field (over Field alone,
/// elsewhere as kSmall); -1, 0 and 1; -1 three times in four, else 0 to 4, so that the greatest of many is often -1;
/// the same, every row like the first, so that products of matrices are too; quarters times a power of two, to 576;
/// both signs and magnitudes from 1e-30 to 1e30 (exact numbers: 1e-6 to 1e10), one in 16 is 0; the same, all positive.
enum class Draw : std::uint8_t {
  kSmall,
  kQuarters,
  kNegative,
  kWhole,
  kSigns,
  kMostlyNegative,
  kEqualRows,
  kScaled,
  kWide,
  kWidePositive
};

class AxiomProgram {
 public:
  /// `names`: the size variables, in the order in which a run gets their values.
  AxiomProgram(const TypedAxiom& axiom, std::span<const SizeVar> names);

  /// Does any application, at its parameters, use order (functions)?
  [[nodiscard]] bool uses_order() const { return uses_order_; }
  [[nodiscard]] bool uses_functions() const { return uses_functions_; }
  /// At most this degree has the difference of both sides, as a quotient of polynomials in the inputs' elements, where
  /// neither order nor functions are used and no tensor has more than `elements` elements.
  [[nodiscard]] double degree(double elements) const;

  struct Output {
    std::vector<SizeCode> shape;
  };
  struct Step {
    std::optional<std::size_t> variable;  ///< An input: position in Axiom::variables.
    const Operator* op = nullptr;
    SymbolicParams params;
    std::optional<Params> fixed_params;                         ///< Where no parameter is a size.
    std::vector<std::vector<SizeCode>> size_lists;              ///< By parameter; empty for those that are no sizes.
    std::vector<std::pair<std::size_t, std::size_t>> operands;  ///< Step and output.
    std::vector<Output> outputs;
    bool multilinear = false;
  };
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  [[nodiscard]] std::pair<std::size_t, std::size_t> left() const { return left_; }
  [[nodiscard]] std::pair<std::size_t, std::size_t> right() const { return right_; }

 private:
  std::vector<Step> steps_;
  std::pair<std::size_t, std::size_t> left_, right_;
  bool uses_order_ = false;
  bool uses_functions_ = false;
};

/// A tensor that changes its shape from run to run.
template <class Scalar>
struct TermBuffer {
  Shape shape;
  std::vector<Scalar> values;
};

template <class Scalar>
class TermValues {
 public:
  explicit TermValues(const AxiomProgram& program);

  /// Evaluates every step at these sizes. False where a size has no value or a tensor would pass a million elements.
  bool run(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed);
  /// The same with each step rounded up, down, towards zero or to nearest, and each element of a result moved to one of
  /// its neighbours or left, as `modes` says: what rounding alone changes.
  bool run_rounded(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, Random& modes);
  /// Have both sides one shape and equal elements? Over Real: equal up to rounding, NaN equal to NaN.
  [[nodiscard]] bool equal() const;
  /// Has the left side an element that is a number (neither undefined nor NaN), or no element at all?
  [[nodiscard]] bool defined() const;
  /// Elements of the inputs together, and of the greatest tensor.
  [[nodiscard]] std::int64_t input_elements() const;
  [[nodiscard]] std::int64_t greatest_tensor() const;
  [[nodiscard]] const std::vector<std::vector<TermBuffer<Scalar>>>& values() const { return values_; }
  [[nodiscard]] const TermBuffer<Scalar>& value(std::pair<std::size_t, std::size_t> at) const;

 private:
  bool run_steps(std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed, Random* modes);
  bool size_outputs(std::size_t step, std::span<const std::int64_t> sizes);
  bool apply(std::size_t step, std::span<const std::int64_t> sizes);

  const AxiomProgram& program_;
  std::vector<std::vector<TermBuffer<Scalar>>> values_;  ///< By step and output.
  std::vector<TensorView<const Scalar>> in_;
  std::vector<TensorView<Scalar>> out_;
};

extern template class TermValues<Field>;
extern template class TermValues<Exact>;
extern template class TermValues<Real>;

}  // namespace rewright
