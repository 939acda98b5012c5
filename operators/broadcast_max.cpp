/// Maximum with broadcasting: c = max(a, b), element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Max, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastMax final : BroadcastOf<BroadcastMax> {
  static OperatorInfo describe() {
    return broadcast_info(
        {.name = "broadcast_max", .summary = "Maximum with broadcasting", .uses_order = true, .onnx = {"Max"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return max(a, b);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_max", "1.0.0", "Maximum with broadcasting") {
  registry.add(make_operator<BroadcastMax>());
}
