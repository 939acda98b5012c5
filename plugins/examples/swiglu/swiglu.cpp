/// The gated unit of LLaMA's feed-forward layers: y = g * sigmoid(g) * v, element by element.
///
/// Shapes  gate g S, value v S -> y S, of any rank.
/// Errors  kShape unless the shapes are equal.
/// Source  Shazeer, GLU Variants Improve Transformer (2020), equation 6.
/// Laws    swiglu.smt2.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class SwiGlu final : public OperatorOf<SwiGlu> {
 public:
  static OperatorInfo describe() {
    return {.name = "swiglu",
            .summary = "Gated unit: gate * sigmoid(gate) * value",
            .min_arity = 2,
            .max_arity = 2,
            .uses_functions = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[0].rank() != in[1].rank()) return shape_error("swiglu: ranks {} and {} differ", in[0].rank(), in[1].rank());
    BasicShape<Dim> out;
    for (int axis = 0; axis < in[0].rank(); ++axis) {
      where.equal(in[0][axis], in[1][axis], "sizes along an axis");
      out.append(same(in[0][axis], in[1][axis]));
    }
    return Shapes<Dim>{out};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < out[0].elements(); ++i)
      out[0][i] = in[0][i] * call(Function::kSigmoid, in[0][i]) * in[1][i];
  }

  static double flops(const Params&, std::span<const Shape> in) { return 6.0 * static_cast<double>(in[0].elements()); }

  // ONNX has no such operator: it is written as the three of which it is made.
  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    const std::string sigmoid = writer.emit("Sigmoid", {in[0]}).front();
    const std::string silu = writer.emit("Mul", {in[0], sigmoid}).front();
    return writer.emit("Mul", {silu, in[1]});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.swiglu", "1.0.0", "Gated unit of LLaMA") { registry.add(make_operator<SwiGlu>()); }
