/// Elementwise product: z = x * y.
///
/// Shapes  x S, y S -> S, of any rank; no broadcasting.
/// Errors  kShape unless the shapes are equal.
/// Source  Jia et al., TASO (SOSP'19), table 2.
/// Laws    axioms/elementwise.smt2: associative, commutative, distributes over ewadd.
#include <rewright/kit/families.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ElementwiseMul final : ElementwiseOf<ElementwiseMul>, HashReduction {
  static OperatorInfo describe() {
    return elementwise_info({.name = "ewmul",
                             .summary = "Elementwise product of two tensors of equal shape",
                             .commutative = true,
                             .multilinear = true,
                             .onnx = {"Mul"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& x, const Scalar& y) {
    return x * y;
  }

  /// h(x * y) = sum over i of (x[i] r^i) * y[i].
  std::size_t reduction_length(const Params&, std::span<const Shape> in) const override {
    return static_cast<std::size_t>(in[0].elements());
  }
  void reduce(const Params&, std::size_t operand, std::span<const Shape> in, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    const std::vector<Field> weights = operand == 0 ? point.weights(in[0]) : std::vector<Field>{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = operand == 0 ? value[i] * weights[i] : value[i];
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.ewmul", "1.0.0", "Elementwise product") { registry.add(make_operator<ElementwiseMul>()); }
