/// Difference with broadcasting: c = a - b, element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Sub, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastSub final : BroadcastOf<BroadcastSub> {
  static OperatorInfo describe() {
    return broadcast_info({.name = "broadcast_sub", .summary = "Difference with broadcasting", .onnx = {"Sub"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return a - b;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_sub", "1.0.0", "Difference with broadcasting") {
  registry.add(make_operator<BroadcastSub>());
}
