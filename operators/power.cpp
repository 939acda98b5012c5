/// Integer power: y = x^exponent, element by element, by repeated multiplication; 1 / x^|exponent| if it is negative.
///
/// Shapes  x (any) -> y (the same).
/// Errors  kShape unless -64 <= exponent <= 64; 0 and 1, which ask for no power.
/// Source  ONNX operators Pow and Reciprocal. Squares become ewmul(x, x) on import, so that its laws apply; other
///         exponents are not taken. Halves are not square roots: (-inf)^0.5 = inf and (-0)^-0.5 = inf, while sqrt(-inf)
///         is no number and 1 / sqrt(-0) = -inf.
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

#include <cmath>

namespace {
using namespace rewright;

struct Power final : UnaryOf<Power> {
  static OperatorInfo describe() {
    return {.name = "power",
            .summary = "Integer power",
            .params = {integer_param("exponent", 3)},
            .onnx = {"Pow", "Reciprocal"}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    const std::int64_t exponent = params.integer(0);
    if (std::abs(exponent) > kLimit || exponent == 0 || exponent == 1)
      return shape_error("power: exponent {}, expected -{} to -1 or 2 to {}", exponent, kLimit, kLimit);
    return Shapes<Dim>{in[0]};
  }
  template <class Scalar>
  static Scalar value(const Params& params, const Scalar& x) {
    const Scalar one = Scalar::from_integer(1);
    Scalar product = one;
    for (std::int64_t i = 0; i < std::abs(params.integer(0)); ++i) product = product * x;
    return params.integer(0) < 0 ? one / product : product;
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    const Port x = in[0];
    const bool reciprocal = node.type == "Reciprocal";
    const auto exponent = reciprocal ? std::optional(-1.0) : known_number(node, 1);
    if (!exponent) return unsupported("Pow: the exponent is no known constant of one element");
    if (!reciprocal && node.constants[1]->type.shape.rank() > graph.shape(x).rank())
      return unsupported("Pow: the exponent raises the rank");
    const double whole = *exponent;
    if (std::floor(whole) != whole || std::abs(whole) > static_cast<double>(kLimit))
      return unsupported("Pow: exponent {} is no small integer", whole);
    if (whole == 1) return std::vector{x};
    if (whole == 0) return unsupported("Pow: exponent 0 gives a constant");
    if (whole != 2) return graph.apply(*this, Params({static_cast<std::int64_t>(whole)}), {x}, node.name);
    return single(graph.apply1("ewmul", {}, {x, x}));
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    if (params.integer(0) == -1) return writer.emit("Reciprocal", {in[0]});
    return writer.emit("Pow", {in[0], writer.constant({{}, static_cast<double>(params.integer(0))})});
  }

 private:
  static constexpr std::int64_t kLimit = 64;
};
}  // namespace

REWRIGHT_PLUGIN("operator.power", "1.0.0", "Integer power") { registry.add(make_operator<Power>()); }
