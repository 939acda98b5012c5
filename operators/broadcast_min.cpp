/// Minimum with broadcasting: c = min(a, b), element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Min, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastMin final : BroadcastOf<BroadcastMin> {
  static OperatorInfo describe() {
    return broadcast_info(
        {.name = "broadcast_min", .summary = "Minimum with broadcasting", .uses_order = true, .onnx = {"Min"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return minimum(a, b);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_min", "1.0.0", "Minimum with broadcasting") {
  registry.add(make_operator<BroadcastMin>());
}
