/// Exponential: y = e^x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Exp.
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Exp final : FunctionOf<Exp, Function::kExp> {
  static OperatorInfo describe() {
    return {.name = "exp", .summary = "Exponential", .uses_functions = true, .onnx = {"Exp"}};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.exp", "1.0.0", "Exponential") { registry.add(make_operator<Exp>()); }
