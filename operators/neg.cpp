/// Negation: y = -x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Neg.
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Neg final : UnaryOf<Neg> {
  static OperatorInfo describe() {
    return {.name = "neg", .summary = "Negation", .multilinear = true, .onnx = {"Neg"}};
  }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    return Scalar{} - x;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.neg", "1.0.0", "Negation") { registry.add(make_operator<Neg>()); }
