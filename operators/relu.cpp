/// Rectified linear unit: y = max(x, 0).
///
/// Shapes  x S, of any rank -> S.
/// Source  Glorot, Bordes & Bengio, Deep Sparse Rectifier Neural Networks (AISTATS'11).
/// Laws    axioms/elementwise.smt2: idempotent; goes through concat, split, transpose and max pooling.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Relu final : public OperatorOf<Relu> {
 public:
  static OperatorInfo describe() {
    return {.name = "relu", .summary = "Rectified linear unit", .uses_order = true, .onnx = {"Relu"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < out[0].elements(); ++i) out[0][i] = relu(in[0][i]);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(1));
    return graph.apply(*this, Params{}, in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return writer.emit("Relu", {in[0]});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.relu", "1.0.0", "Rectified linear unit") { registry.add(make_operator<Relu>()); }
