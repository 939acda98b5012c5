/// Quotient with broadcasting: c = a / b, element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Div, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastDiv final : BroadcastOf<BroadcastDiv> {
  static OperatorInfo describe() {
    return broadcast_info({.name = "broadcast_div", .summary = "Quotient with broadcasting", .onnx = {"Div"}});
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
