/// Sum with broadcasting: c = a + b, element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Add, "Broadcasting in ONNX". ONNX's Sum and Mean of several operands are sums of two, Mean's
///         times 1 / their number; operands of equal shapes are added by ewadd.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastAdd final : BroadcastOf<BroadcastAdd> {
  static constexpr std::string_view kOfEqualShapes = "ewadd";
  static OperatorInfo describe() {
    return broadcast_info(
        {.name = "broadcast_add", .summary = "Sum with broadcasting", .onnx = {"Add", "Sum", "Mean"}});
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return a + b;
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(auto sum, BroadcastOf::from_onnx(node, graph));
    if (node.type != "Mean" || node.inputs.size() == 1) return sum;
    return single(OnnxFormula(graph).times(sum[0], 1.0 / static_cast<double>(node.inputs.size())));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_add", "1.0.0", "Sum with broadcasting") {
  registry.add(make_operator<BroadcastAdd>());
}
