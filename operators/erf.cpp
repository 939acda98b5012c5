/// Error function: y = 2 / sqrt(pi) * integral of e^(-t^2) for t from 0 to x, element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  none but a wrong number of operands.
/// Source  Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.1; ONNX operator Erf. ONNX's Gelu (opset 20)
///         is taken apart: x * (1 + erf(x / sqrt(2))) / 2, or by tanh as it says itself.
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
    REWRIGHT_TRY(const auto in, node.operands(1));
    const Port x = in[0];
    const std::string approximate = node.text("approximate", "none");
    if (approximate == "tanh") return by_tanh(graph, x);
    if (approximate != "none") return unsupported("Gelu: approximate is '{}'", approximate);
    REWRIGHT_TRY(const Port scaled, graph.apply1("broadcast_div", {}, {x, scalar_like(graph, x, kSqrt2)}));
    REWRIGHT_TRY(const auto erf, graph.apply(*this, Params(), {scaled}));
    REWRIGHT_TRY(const Port weight, graph.apply1("broadcast_add", {}, {erf[0], scalar_like(graph, x, 1)}));
    REWRIGHT_TRY(const Port product, graph.apply1("ewmul", {}, {x, weight}));
    REWRIGHT_TRY(const Port half, graph.apply1("smul", {}, {product, scalar_like(graph, x, 0.5)}));
    return std::vector{half};
  }

 private:
  /// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
  static Result<std::vector<Port>> by_tanh(GraphBuilder& graph, Port x) {
    const auto times = [&](Port a, double number) {
      return graph.apply1("smul", {}, {a, scalar_like(graph, x, number)});
    };
    REWRIGHT_TRY(const Port cube, graph.apply1("power", {{"exponent", std::int64_t{3}}}, {x}));
    REWRIGHT_TRY(const Port bent, times(cube, 0.044715));
    REWRIGHT_TRY(const Port inside, graph.apply1("ewadd", {}, {x, bent}));
    REWRIGHT_TRY(const Port scaled, times(inside, kSqrt2OverPi));
    REWRIGHT_TRY(const Port gate, graph.apply1("tanh", {}, {scaled}));
    REWRIGHT_TRY(const Port weight, graph.apply1("broadcast_add", {}, {gate, scalar_like(graph, x, 1)}));
    REWRIGHT_TRY(const Port product, graph.apply1("ewmul", {}, {x, weight}));
    REWRIGHT_TRY(const Port half, times(product, 0.5));
    return std::vector{half};
  }
  static constexpr double kSqrt2OverPi = 0.7978845608028654;
  static constexpr double kSqrt2 = 1.4142135623730951;
};
}  // namespace

REWRIGHT_PLUGIN("operator.erf", "1.0.0", "Error function") { registry.add(make_operator<Erf>()); }
