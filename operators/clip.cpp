/// Clamp: y = min(max(x, low), high), element by element; a bound that is infinite is no bound.
///
/// Shapes  x (any) -> y (the same).
/// Errors  kShape if low > high: the result would not depend on x.
/// Source  ONNX operator Clip; relu6 is clip[low=0, high=6].
/// Laws    axioms/activation.smt2.
#include <rewright/families.h>
#include <rewright/plugin.h>

#include <cmath>
#include <limits>

namespace {
using namespace rewright;

struct Clip final : UnaryOf<Clip> {
  static OperatorInfo describe() {
    return {.name = "clip",
            .summary = "Clamp between two numbers",
            .params = {{.name = "low", .kind = ParamKind::kReal, .default_value = -kInfinity},
                       {.name = "high", .kind = ParamKind::kReal, .default_value = kInfinity}},
            .uses_order = true,
            .onnx = {"Clip"}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    if (!(params.real(0) <= params.real(1)))
      return shape_error("clip: low = {} passes high = {}", params.real(0), params.real(1));
    return Shapes<Dim>{in[0]};
  }
  template <class Scalar>
  static Scalar value(const Params& params, const Scalar& x) {
    Scalar y = x;
    if (std::isfinite(params.real(0))) y = max(y, Scalar::from_double(params.real(0)));
    if (std::isfinite(params.real(1))) y = minimum(y, Scalar::from_double(params.real(1)));
    return y;
  }

  /// Bounds are attributes before opset 11 and inputs after; ONNX's least and greatest float32 bound nothing.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    REWRIGHT_TRY(double low, bound(node, "min", 1, -kInfinity));
    REWRIGHT_TRY(double high, bound(node, "max", 2, kInfinity));
    if (low <= -std::numeric_limits<float>::max()) low = -kInfinity;
    if (high >= std::numeric_limits<float>::max()) high = kInfinity;
    if (!(low <= high)) return unsupported("Clip: min passes max");
    return graph.apply(*this, Params({low, high}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    std::vector<std::string> operands = {in[0], "", ""};
    for (std::size_t i = 0; i < 2; ++i) {
      if (std::isfinite(params.real(i))) operands[i + 1] = writer.constant({{}, params.real(i)});
    }
    while (operands.back().empty()) operands.pop_back();
    return writer.emit("Clip", operands);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  static Result<double> bound(const OnnxNode& node, const std::string& attribute, std::size_t i, double none) {
    if (!node.has_input(i)) return node.real(attribute, none);
    const auto number = known_number(node, i);
    if (!number || std::isnan(*number)) return unsupported("Clip: {} is computed by the model", attribute);
    return *number;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.clip", "1.0.0", "Clamp between two numbers") { registry.add(make_operator<Clip>()); }
