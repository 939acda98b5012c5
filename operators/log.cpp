/// Natural logarithm: y = ln x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Log.
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Log final : FunctionOf<Log, Function::kLog> {
  static OperatorInfo describe() {
    return {.name = "log", .summary = "Natural logarithm", .uses_functions = true, .onnx = {"Log"}};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.log", "1.0.0", "Natural logarithm") { registry.add(make_operator<Log>()); }
