/// Sum with broadcasting: c = a + b, element by element.
///
/// Shapes  a, b -> c, as rewright::BroadcastOf has them: stretch_left and stretch_right name the axes along which an
///         operand of size 1 is repeated.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Add, "Broadcasting in ONNX". ONNX's Sum and Mean of several operands are sums of two, Mean's
///         times 1 / their number; operands of equal shapes are added by ewadd.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastAdd final : BroadcastOf<BroadcastAdd> {
  static OperatorInfo describe() {
    return {.name = "broadcast_add",
            .summary = "Sum with broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .onnx = {"Add", "Sum", "Mean"}};
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return a + b;
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(auto in, node.operands(node.inputs.size()));
    if (in.empty()) return unsupported("{} has no input", node.type);
    if (node.type == "Add" && in.size() == 2 && graph.shape(in[0]) == graph.shape(in[1]))
      return unsupported("equal shapes are ewadd's");
    Port sum = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) {
      REWRIGHT_TRY(const Port operand, broadcast_operand(node, graph, i));
      const bool equal = graph.shape(sum) == graph.shape(operand);
      REWRIGHT_TRY(sum, equal ? graph.apply1("ewadd", {}, {sum, operand}) : combine(graph, sum, operand, node.name));
    }
    if (node.type != "Mean" || in.size() == 1) return std::vector{sum};
    const Port share = scalar_like(graph, sum, 1.0 / static_cast<double>(in.size()));
    REWRIGHT_TRY(sum, graph.apply1("smul", {}, {sum, share}));
    return std::vector{sum};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_add", "1.0.0", "Sum with broadcasting") {
  registry.add(make_operator<BroadcastAdd>());
}
