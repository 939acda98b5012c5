/// Quotient with broadcasting: c = a / b, element by element.
///
/// Shapes  a, b -> c, as rewright::BroadcastOf has them: stretch_left and stretch_right name the axes along which an
///         operand of size 1 is repeated.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Div, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastDiv final : BroadcastOf<BroadcastDiv> {
  static OperatorInfo describe() {
    return {.name = "broadcast_div",
            .summary = "Quotient with broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .onnx = {"Div"}};
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return a / b;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_div", "1.0.0", "Quotient with broadcasting") {
  registry.add(make_operator<BroadcastDiv>());
}
