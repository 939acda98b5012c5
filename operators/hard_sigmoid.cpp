/// Piecewise linear sigmoid: y = max(0, min(1, alpha * x + beta)), element by element.
///
/// Shapes  x (any) -> y (the same).
/// Errors  kShape if alpha is 0.
/// Source  ONNX operator HardSigmoid; HardSwish is read as a formula of it (<rewright/kit/onnx_activations.h>).
///         Written so that x itself is compared, with -5/2 and 5/2 where alpha is 1/5 and beta 1/2: over the prime
///         field fifths have no place in the order.
/// Laws    axioms/activation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct HardSigmoid final : UnaryOf<HardSigmoid> {
  static OperatorInfo describe() {
    return {.name = "hard_sigmoid",
            .summary = "Piecewise linear sigmoid",
            .params = {real_param("alpha", 0.2), real_param("beta", 0.5)},
            .uses_order = true,
            .onnx = {"HardSigmoid", "HardSwish"}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    if (params.real(0) == 0) return shape_error("hard_sigmoid: alpha is 0, so that the result does not depend on x");
    return Shapes<Dim>{in[0]};
  }
  template <class Scalar>
  static Scalar value(const Params& params, const Scalar& x) {
    const Scalar alpha = Scalar::from_double(params.real(0)), beta = Scalar::from_double(params.real(1));
    const Scalar one = Scalar::from_integer(1);
    if constexpr (std::is_same_v<Scalar, Real>) return relu(minimum(alpha * x + beta, one));  // Never below 0.
    const Scalar zero_at = (Scalar{} - beta) / alpha, one_at = (one - beta) / alpha;
    const bool rises = params.real(0) > 0;
    return alpha * minimum(max(x, rises ? zero_at : one_at), rises ? one_at : zero_at) + beta;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.hard_sigmoid", "1.0.0", "Piecewise linear sigmoid") {
  registry.add(make_operator<HardSigmoid>());
}
