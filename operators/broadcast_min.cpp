/// Minimum with broadcasting: c = min(a, b), element by element.
///
/// Shapes  a, b -> c, as rewright::BroadcastOf has them: stretch_left and stretch_right name the axes along which an
///         operand of size 1 is repeated.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Min, "Broadcasting in ONNX".
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastMin final : BroadcastOf<BroadcastMin> {
  static OperatorInfo describe() {
    return {.name = "broadcast_min",
            .summary = "Minimum with broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .uses_order = true,
            .onnx = {"Min"}};
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
