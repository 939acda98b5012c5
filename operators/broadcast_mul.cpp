/// Product with broadcasting: c = a * b, element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Mul, "Broadcasting in ONNX". An operand of one element becomes a scalar factor (smul);
///         operands of equal shapes are left to ewmul.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastMul final : BroadcastOf<BroadcastMul> {
  static OperatorInfo describe() {
    return broadcast_info(
        {.name = "broadcast_mul", .summary = "Product with broadcasting", .multilinear = true, .onnx = {"Mul"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return a * b;
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    const Shape &a = graph.shape(in[0]), &b = graph.shape(in[1]);
    if (a == b) return unsupported("equal shapes are ewmul's");
    if (is_factor(b, a)) return single(OnnxFormula(graph).scaled(in[0], in[1]));
    if (is_factor(a, b)) return single(OnnxFormula(graph).scaled(in[1], in[0]));
    return BroadcastOf::from_onnx(node, graph);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_mul", "1.0.0", "Product with broadcasting") {
  registry.add(make_operator<BroadcastMul>());
}
