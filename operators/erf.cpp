/// Error function: y = 2 / sqrt(pi) * integral of e^(-t^2) for t from 0 to x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.1; ONNX operator Erf. ONNX's Gelu (opset 20)
///         with approximate = "none" is taken apart: x * (1 + erf(x / sqrt(2))) / 2.
/// Laws    axioms/activation.smt2. Over the prime field it is a keyed function, of which only congruence is seen.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Erf final : UnaryOf<Erf> {
  static OperatorInfo describe() {
    return {.name = "erf", .summary = "Error function", .uses_functions = true, .onnx = {"Erf", "Gelu"}};
  }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    return call(Function::kErf, x);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    if (node.type == "Erf") return UnaryOf::from_onnx(node, graph);
    if (node.text("approximate", "none") != "none") return unsupported("Gelu by tanh is kept as it is");
    REWRIGHT_TRY(const auto in, node.operands(1));
    const Port x = in[0];
    REWRIGHT_TRY(const Port scaled, graph.apply1("broadcast_div", {}, {x, scalar_like(graph, x, kSqrt2)}));
    REWRIGHT_TRY(const auto erf, graph.apply(*this, Params(), {scaled}));
    REWRIGHT_TRY(const Port weight, graph.apply1("broadcast_add", {}, {erf[0], scalar_like(graph, x, 1)}));
    REWRIGHT_TRY(const Port product, graph.apply1("ewmul", {}, {x, weight}));
    REWRIGHT_TRY(const Port half, graph.apply1("smul", {}, {product, scalar_like(graph, x, 0.5)}));
    return std::vector{half};
  }

 private:
  static constexpr double kSqrt2 = 1.4142135623730951;
};
}  // namespace

REWRIGHT_PLUGIN("operator.erf", "1.0.0", "Error function") { registry.add(make_operator<Erf>()); }
