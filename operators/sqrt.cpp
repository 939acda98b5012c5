/// Square root: y = x^(1/2), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Sqrt.
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Sqrt final : FunctionOf<Sqrt, Function::kSqrt> {
  static OperatorInfo describe() {
    return {.name = "sqrt", .summary = "Square root", .uses_functions = true, .onnx = {"Sqrt"}};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.sqrt", "1.0.0", "Square root") { registry.add(make_operator<Sqrt>()); }
