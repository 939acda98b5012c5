/// Clamp: y = min(max(x, low), high), element by element; a bound that is infinite is no bound.
///
/// Shapes  x (any) -> y (the same).
/// Errors  kShape if low > high: the result would not depend on x.
/// Source  ONNX operator Clip; relu6 is clip[low=0, high=6]. What ONNX leaves out is its element type's least or
///         greatest number, which is no bound among the reals: that is what an infinite bound here stands for. A Clip
///         with an infinite bound of its own lets infinities pass, as no clip does that is written: max, min or x
///         itself.
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

#include <cmath>
#include <limits>

namespace {
using namespace rewright;

struct Clip final : UnaryOf<Clip> {
  static OperatorInfo describe() {
    return {.name = "clip",
            .summary = "Clamp between two numbers",
            .params = {real_param("low", -kInfinity), real_param("high", kInfinity)},
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

  /// Bounds are attributes before opset 11, with float32's least and greatest number as defaults, and inputs after.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    const double greatest = greatest_number(graph.type(in[0]).element);
    const double none = node.opset < 11 ? greatest_number(ElementType::kFloat32) : greatest;
    if (is_computed(node, 1) || is_computed(node, 2)) return between(node, graph, in[0]);
    REWRIGHT_TRY(double low, bound(node, "min", 1, -none));
    REWRIGHT_TRY(double high, bound(node, "max", 2, none));
    if (!(low <= high)) return unsupported("Clip: min passes max");
    if (std::isinf(low) || std::isinf(high)) return open_ended(graph, in[0], low, high, greatest);
    if (low <= -greatest) low = -kInfinity;
    if (high >= greatest) high = kInfinity;
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

  static double greatest_number(ElementType element) {
    switch (element) {
      case ElementType::kFloat16: return 65504;
      case ElementType::kBFloat16: return 0x1.FEp127;
      case ElementType::kFloat64: return std::numeric_limits<double>::max();
      default: return std::numeric_limits<float>::max();
    }
  }

  /// One of the bounds is infinite in the model.
  static Result<std::vector<Port>> open_ended(GraphBuilder& graph, Port x, double low, double high, double greatest) {
    if (low == high) return unsupported("Clip: both bounds are one infinity");
    if (low == -greatest || high == greatest) return unsupported("Clip: one bound is infinite, one is left out");
    const OnnxFormula f(graph);
    Result<Port> y = x;
    if (std::isfinite(low)) y = f.with("broadcast_max", y, low);
    if (std::isfinite(high)) y = f.with("broadcast_min", y, high);
    return single(y);
  }

  static bool is_computed(const OnnxNode& node, std::size_t i) { return node.has_input(i) && !node.constants[i]; }
  /// The bounds are tensors without axes that the model computes.
  static Result<std::vector<Port>> between(const OnnxNode& node, GraphBuilder& graph, Port x) {
    for (std::size_t i = 1; i < 3; ++i) {
      if (!node.has_input(i)) continue;
      const Port limit = *node.inputs[i];
      if (graph.shape(limit).elements() != 1) return unsupported("Clip: a bound has several elements");
      REWRIGHT_TRY(const Port number, reshaped(graph, limit, Shape{}));
      REWRIGHT_TRY(x, graph.apply1(i == 1 ? "broadcast_max" : "broadcast_min", {}, {x, number}));
    }
    return std::vector{x};
  }

  static Result<double> bound(const OnnxNode& node, const std::string& attribute, std::size_t i, double none) {
    if (!node.has_input(i)) return node.attributes.contains(attribute) ? node.real(attribute, none) : none;
    const auto number = known_number(node, i);
    if (!number || std::isnan(*number)) return unsupported("Clip: {} is computed by the model", attribute);
    return *number;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.clip", "1.0.0", "Clamp between two numbers") { registry.add(make_operator<Clip>()); }
