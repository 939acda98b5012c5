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
  template <class A>
  static void define(A& a, const Params&) {
    a.out(0).grouped(1, 1).is("i j", [&](auto i, auto j) { return a.number(3 * i + j); });
  }
};

}  // namespace

REWRIGHT_PLUGIN("operator.corner", "0.1.0", "A constant without parameters") {
  registry.add<Operator>(std::make_unique<Corner>());
}
