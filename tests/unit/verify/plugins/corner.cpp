// A constant without parameters, whose shape is its own.
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {

using namespace rewright;

/// [[0, 1, 2], [3, 4, 5]].
struct Corner final : OperatorOf<Corner> {
  static OperatorInfo describe() { return {.name = "corner", .summary = "0 to 5", .min_arity = 0, .max_arity = 0}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim>, Constraints<Dim>&) {
    return Shapes<Dim>{BasicShape<Dim>{Dim(2), Dim(3)}};
  }
  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar>, Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < 6; ++i) out[0][i] = Scalar::from_integer(i);
  }
};

}  // namespace

REWRIGHT_PLUGIN("operator.corner", "0.1.0", "A constant without parameters") {
  registry.add<Operator>(std::make_unique<Corner>());
}
