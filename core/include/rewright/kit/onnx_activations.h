// ONNX's activation functions that are formulas of operators:
//
//     Softsign    x / (1 + |x|)
//     Mish        x * tanh(softplus(x))
//     HardSwish   x * hard_sigmoid[alpha=1/6, beta=1/2](x)
//     Gelu        x * (1 + erf(x / sqrt(2))) / 2, or x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
//     Celu        alpha * elu(x / alpha)
//
// Source  ONNX operators of these names.
#pragma once

#include <rewright/kit/onnx_formula.h>

#include <numbers>
#include <string>
#include <string_view>

namespace rewright {

using OnnxActivation = Result<Port> (*)(const OnnxFormula& f, const OnnxNode& node, Port x);

[[nodiscard]] inline Result<Port> gelu_from_onnx(const OnnxFormula& f, const OnnxNode& node, Port x) {
  constexpr double kSqrt2OverPi = 0.7978845608028654;
  const auto gated = [&](const Result<Port>& gate) { return f.times(f.product(x, f.plus(gate, 1)), 0.5); };
  const std::string approximate = node.text("approximate", "none");
  if (approximate == "none") return gated(f("erf", f.over(x, std::numbers::sqrt2)));
  if (approximate != "tanh") return unsupported("Gelu: approximate is '{}'", approximate);
  const auto cube = f.apply("power", {{"exponent", std::int64_t{3}}}, x);
  return gated(f("tanh", f.times(f.sum(x, f.times(cube, 0.044715)), kSqrt2OverPi)));
}

[[nodiscard]] inline Result<Port> celu_from_onnx(const OnnxFormula& f, const OnnxNode& node, Port x) {
  const double alpha = node.real("alpha", 1);
  if (!(alpha > 0)) return unsupported("Celu: alpha is {}", alpha);
  return f.times(f("elu", f.over(x, alpha)), alpha);
}

/// The formula of an ONNX type; null if it is none of these.
[[nodiscard]] inline OnnxActivation onnx_activation(std::string_view type) {
  if (type == "Gelu") return gelu_from_onnx;
  if (type == "Celu") return celu_from_onnx;
  if (type == "Softsign")
    return [](const OnnxFormula& f, const OnnxNode& node, Port x) {
      return f.pair("broadcast_div", x, f.plus(f.apply("abs", {}, x, node.name), 1));
    };
  if (type == "Mish")
    return [](const OnnxFormula& f, const OnnxNode& node, Port x) {
      return f.product(x, f("tanh", f.apply("softplus", {}, x, node.name)));
    };
  if (type == "HardSwish")
    return [](const OnnxFormula& f, const OnnxNode& node, Port x) {
      return f.product(x, f.apply("hard_sigmoid", {{"alpha", node.real("alpha", 1.0 / 6)}, {"beta", 0.5}}, x));
    };
  return nullptr;
}

}  // namespace rewright
