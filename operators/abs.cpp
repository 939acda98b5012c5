/// Magnitude: y = max(x, -x), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Abs. Softsign is read as a formula of it (<rewright/kit/onnx_activations.h>).
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Abs final : UnaryOf<Abs> {
  static OperatorInfo describe() {
    return {.name = "abs", .summary = "Magnitude", .uses_order = true, .onnx = {"Abs", "Softsign"}};
  }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    return magnitude(x);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.abs", "1.0.0", "Magnitude") { registry.add(make_operator<Abs>()); }
