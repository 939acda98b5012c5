/// Exponential linear unit: y = gamma * (max(x, 0) + alpha * (e^min(x, 0) - 1)), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  ONNX operators Elu (gamma = 1) and Selu. Celu becomes alpha * elu(x / alpha).
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Elu final : UnaryOf<Elu> {
  static OperatorInfo describe() {
    return {.name = "elu",
            .summary = "Exponential linear unit",
            .params = {{.name = "alpha", .kind = ParamKind::kReal, .default_value = 1.0},
                       {.name = "gamma", .kind = ParamKind::kReal, .default_value = 1.0}},
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
    REWRIGHT_TRY(const auto in, node.operands(1));
    if (node.type == "Celu") return celu(node, graph, in[0]);
    const bool scaled = node.type == "Selu";
    const double alpha = node.real("alpha", scaled ? kSeluAlpha : 1),
                 gamma = scaled ? node.real("gamma", kSeluGamma) : 1;
    return graph.apply(*this, Params({alpha, gamma}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (params.real(1) == 1) return writer.emit("Elu", {in[0]}, {{"alpha", params.real(0)}});
    return UnaryOf::to_onnx(params, in, shapes, writer);
  }

 private:
  Result<std::vector<Port>> celu(const OnnxNode& node, GraphBuilder& graph, Port x) const {
    const double alpha = node.real("alpha", 1);
    if (!(alpha > 0)) return unsupported("Celu: alpha is {}", alpha);
    REWRIGHT_TRY(const Port scaled, graph.apply1("broadcast_div", {}, {x, scalar_like(graph, x, alpha)}));
    REWRIGHT_TRY(const auto y, graph.apply(*this, Params({1.0, 1.0}), {scaled}));
    REWRIGHT_TRY(const Port result, graph.apply1("smul", {}, {y[0], scalar_like(graph, x, alpha)}));
    return std::vector{result};
  }
  static constexpr double kSeluAlpha = 1.67326319217681884765625;  // ONNX's defaults
  static constexpr double kSeluGamma = 1.05070102214813232421875;
};
}  // namespace

REWRIGHT_PLUGIN("operator.elu", "1.0.0", "Exponential linear unit") { registry.add(make_operator<Elu>()); }
