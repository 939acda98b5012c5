/// Logistic function: y = 1 / (1 + e^-x), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Sigmoid.
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Sigmoid final : FunctionOf<Sigmoid, Function::kSigmoid> {
  static OperatorInfo describe() {
    return {.name = "sigmoid", .summary = "Logistic function", .uses_functions = true, .onnx = {"Sigmoid"}};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.sigmoid", "1.0.0", "Logistic function") { registry.add(make_operator<Sigmoid>()); }
