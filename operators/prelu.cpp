/// Rectifier with slopes with broadcasting: c = max(a, 0) - b * max(-a, 0), element by element.
///
/// Shapes  a, b -> c, broadcast as rewright::BroadcastOf has it, along the axes of stretch_left and stretch_right.
/// Errors  kShape if a stretched size is not 1 or sizes along another axis differ; b is never the one of higher rank, a
///         never stretched.
/// Source  ONNX operator PRelu, of x = a and slope = b; before opset 7 a slope of rank 1 goes along axis 1.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Prelu final : BroadcastOf<Prelu> {
  static OperatorInfo describe() {
    return broadcast_info(
        {.name = "prelu", .summary = "Rectifier with slopes with broadcasting", .uses_order = true, .onnx = {"PRelu"}});
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[1].rank() > in[0].rank() || !params.integers(0).empty())
      return shape_error("prelu: the slopes may be repeated, x may not");
    return BroadcastOf::shape(params, in, where);
  }
  template <class Scalar>
  static Scalar value(const Scalar& a, const Scalar& b) {
    return relu(a) - b * relu(Scalar{} - a);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    const Port x = in[0];
    Port slope = in[1];
    Shape shape = graph.shape(slope);
    if (node.opset < 7 && shape.rank() == 1 && shape[0] != 1) {
      while (shape.rank() + 1 < graph.shape(x).rank()) shape.append(1);
    }
    if (shape.rank() > graph.shape(x).rank() || !stretches(graph.shape(x), shape).integers(0).empty())
      return unsupported("PRelu: the slopes stretch x");
    REWRIGHT_TRY(slope, reshaped(graph, slope, shape));
    return single(combine(graph, x, slope, node.name));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.prelu", "1.0.0", "Rectifier with slopes with broadcasting") {
  registry.add(make_operator<Prelu>());
}
