/// Magnitude: y = max(x, -x), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operator Abs. Softsign becomes x / (1 + |x|).
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
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(auto y, UnaryOf::from_onnx(node, graph));
    if (node.type == "Abs") return y;
    REWRIGHT_TRY(const Port divisor, graph.apply1("broadcast_add", {}, {y[0], scalar_like(graph, y[0], 1)}));
    REWRIGHT_TRY(y[0], graph.apply1("broadcast_div", {}, {*node.inputs[0], divisor}));
    return y;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.abs", "1.0.0", "Magnitude") { registry.add(make_operator<Abs>()); }
