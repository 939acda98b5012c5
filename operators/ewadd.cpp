/// Elementwise sum: z = x + y.
///
/// Shapes  x S, y S -> S, of any rank; no broadcasting.
/// Errors  kShape unless the shapes are equal.
/// Source  Jia et al., TASO (SOSP'19), table 2.
/// Laws    axioms/elementwise.smt2: associative, commutative; linear operators distribute over it.
#include <rewright/kit/families.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ElementwiseAdd final : ElementwiseOf<ElementwiseAdd>, HashReduction {
  static OperatorInfo describe() {
    return elementwise_info({.name = "ewadd",
                             .summary = "Elementwise sum of two tensors of equal shape",
                             .commutative = true,
                             .onnx = {"Add"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& x, const Scalar& y) {
    return x + y;
  }

  /// h(x + y) = h(x) * 1 + 1 * h(y).
  std::size_t reduction_length(const Params&, std::span<const Shape>) const override { return 2; }
  void reduce(const Params&, std::size_t operand, std::span<const Shape>, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    out[operand] = point.hash(value);
    out[1 - operand] = Field::from_integer(1);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.ewadd", "1.0.0", "Elementwise sum") { registry.add(make_operator<ElementwiseAdd>()); }
