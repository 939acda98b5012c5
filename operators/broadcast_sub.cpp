/// Difference with broadcasting: c = a - b, element by element.
///
/// Shapes  a, b -> c, as rewright::BroadcastOf has them: stretch_left and stretch_right name the axes along which an
///         operand of size 1 is repeated.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Sub, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastSub final : BroadcastOf<BroadcastSub> {
  static OperatorInfo describe() {
    return {.name = "broadcast_sub",
            .summary = "Difference with broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .onnx = {"Sub"}};
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
