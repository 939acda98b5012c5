/// Soft rectifier: y = ln(1 + e^x), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Softplus; Mish is read as a formula of it (<rewright/kit/onnx_activations.h>).
///         Computed as max(x, 0) + ln(1 + e^-|x|), which never overflows.
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Softplus final : UnaryOf<Softplus> {
  static OperatorInfo describe() {
    return {.name = "softplus",
            .summary = "Soft rectifier",
            .uses_order = true,
            .uses_functions = true,
            .onnx = {"Softplus", "Mish"}};
  }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    const Scalar small = call(Function::kExp, Scalar{} - magnitude(x));
    return relu(x) + call(Function::kLog, Scalar::from_integer(1) + small);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.softplus", "1.0.0", "Soft rectifier") { registry.add(make_operator<Softplus>()); }
