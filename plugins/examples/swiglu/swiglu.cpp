/// The gated unit of LLaMA's feed-forward layers: y = g * sigmoid(g) * v, element by element.
///
/// Shapes  gate g S, value v S -> y S, of any rank.
/// Errors  kShape unless the shapes are equal.
/// Source  Shazeer, GLU Variants Improve Transformer (2020), equation 6.
/// Laws    swiglu.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class SwiGlu final : public ElementwiseOf<SwiGlu> {
 public:
  static OperatorInfo describe() {
    return {.name = "swiglu",
            .summary = "Gated unit: gate * sigmoid(gate) * value",
            .min_arity = 2,
            .max_arity = 2,
            .uses_functions = true};
  }
  template <class Scalar>
  static Scalar value(const Scalar& gate, const Scalar& x) {
    return gate * call(Function::kSigmoid, gate) * x;
  }

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
