/// Maximum with broadcasting: c = max(a, b), element by element.
///
/// Shapes  a, b -> c, as rewright::BroadcastOf has them: stretch_left and stretch_right name the axes along which an
///         operand of size 1 is repeated.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Max, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastMax final : BroadcastOf<BroadcastMax> {
  static OperatorInfo describe() {
    return {.name = "broadcast_max",
            .summary = "Maximum with broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .uses_order = true,
            .onnx = {"Max"}};
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
