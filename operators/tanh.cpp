/// Hyperbolic tangent: y = tanh x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Tanh.
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Tanh final : FunctionOf<Tanh, Function::kTanh> {
  static OperatorInfo describe() {
    return {.name = "tanh", .summary = "Hyperbolic tangent", .uses_functions = true, .onnx = {"Tanh"}};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.tanh", "1.0.0", "Hyperbolic tangent") { registry.add(make_operator<Tanh>()); }
