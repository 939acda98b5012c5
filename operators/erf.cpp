/// Error function: y = 2 / sqrt(pi) * integral of e^(-t^2) for t from 0 to x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.1; ONNX operator Erf. ONNX's Gelu (opset 20)
///         is read as a formula of it (<rewright/kit/onnx_activations.h>).
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Erf final : FunctionOf<Erf, Function::kErf> {
  static OperatorInfo describe() {
    return {.name = "erf", .summary = "Error function", .uses_functions = true, .onnx = {"Erf", "Gelu"}};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.erf", "1.0.0", "Error function") { registry.add(make_operator<Erf>()); }
