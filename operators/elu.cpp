/// Exponential linear unit: y = gamma * (max(x, 0) + alpha * (e^min(x, 0) - 1)), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operators Elu (gamma = 1) and Selu. Celu is read as a formula of it
///         (<rewright/kit/onnx_activations.h>).
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Elu final : UnaryOf<Elu> {
  static OperatorInfo describe() {
    return {.name = "elu",
            .summary = "Exponential linear unit",
            .params = {real_param("alpha", 1), real_param("gamma", 1)},
            .uses_order = true,
            .uses_functions = true,
            .onnx = {"Selu", "Elu", "Celu"}};
  }
  template <class Scalar>
  static Scalar value(const Params& params, const Scalar& x) {
    const Scalar negative = call(Function::kExp, minimum(x, Scalar{})) - Scalar::from_integer(1);
    return Scalar::from_double(params.real(1)) * (relu(x) + Scalar::from_double(params.real(0)) * negative);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    if (node.type == "Celu") return UnaryOf::from_onnx(node, graph);
    REWRIGHT_TRY(const auto in, node.operands(1));
    const bool scaled = node.type == "Selu";
    const double alpha = node.real("alpha", scaled ? 1.67326319217681884765625 : 1),
                 gamma = scaled ? node.real("gamma", 1.05070102214813232421875) : 1;
    return graph.apply(*this, Params({alpha, gamma}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (params.real(1) == 1) return writer.emit("Elu", {in[0]}, {{"alpha", params.real(0)}});
    return UnaryOf::to_onnx(params, in, shapes, writer);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.elu", "1.0.0", "Exponential linear unit") { registry.add(make_operator<Elu>()); }
