/// Leaky rectifier: y = max(x, 0) - alpha * max(-x, 0), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator LeakyRelu. Written with alpha outside of max, so that only x itself is compared: over the
///         prime field a fraction such as 0.01 has no place in the order.
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct LeakyRelu final : UnaryOf<LeakyRelu> {
  static OperatorInfo describe() {
    return {.name = "leaky_relu",
            .summary = "Leaky rectifier",
            .params = {real_param("alpha", 0.01)},
            .uses_order = true,
            .onnx = {"LeakyRelu"}};
  }
  template <class Scalar>
  static Scalar value(const Params& params, const Scalar& x) {
    return relu(x) - Scalar::from_double(params.real(0)) * relu(Scalar{} - x);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.leaky_relu", "1.0.0", "Leaky rectifier") { registry.add(make_operator<LeakyRelu>()); }
