/// Product with broadcasting: c = a * b, element by element.
///
/// Shapes  a, b -> c, as rewright::BroadcastOf has them: stretch_left and stretch_right name the axes along which an
///         operand of size 1 is repeated.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ.
/// Source  ONNX operator Mul, "Broadcasting in ONNX". An operand of one element becomes a scalar factor (smul);
/// operands
///         of equal shapes are left to ewmul.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct BroadcastMul final : BroadcastOf<BroadcastMul> {
  static OperatorInfo describe() {
    return {.name = "broadcast_mul",
            .summary = "Product with broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .multilinear = true,
            .onnx = {"Mul"}};
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return a * b;
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    const Shape &a = graph.shape(in[0]), &b = graph.shape(in[1]);
    if (a == b) return unsupported("equal shapes are ewmul's");
    if (b.elements() == 1 && b.rank() <= a.rank()) return scaled(graph, in[0], in[1]);
    if (a.elements() == 1 && a.rank() <= b.rank()) return scaled(graph, in[1], in[0]);
    return BroadcastOf::from_onnx(node, graph);
  }

 private:
  static Result<std::vector<Port>> scaled(GraphBuilder& graph, Port x, Port factor) {
    REWRIGHT_TRY(factor, reshaped(graph, factor, Shape{}));
    REWRIGHT_TRY(const Port product, graph.apply1("smul", {}, {x, factor}));
    return std::vector{product};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_mul", "1.0.0", "Product with broadcasting") {
  registry.add(make_operator<BroadcastMul>());
}
