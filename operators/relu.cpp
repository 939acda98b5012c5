/// Rectified linear unit: y = max(x, 0).
///
/// Shapes  x S, of any rank -> S.
/// Source  Glorot, Bordes & Bengio, Deep Sparse Rectifier Neural Networks (AISTATS'11).
/// Laws    axioms/elementwise.smt2: idempotent; goes through concat, split, transpose and max pooling.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Relu final : UnaryOf<Relu> {
  static OperatorInfo describe() {
    return {.name = "relu", .summary = "Rectified linear unit", .uses_order = true, .onnx = {"Relu"}};
  }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    return relu(x);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.relu", "1.0.0", "Rectified linear unit") { registry.add(make_operator<Relu>()); }
