// An operator of somebody else's that has the name of one of this tree: it adds an axis.
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {

using namespace rewright;

struct OtherRelu final : OperatorOf<OtherRelu> {
  static OperatorInfo describe() { return {.name = "relu", .summary = "x", .min_arity = 1, .max_arity = 1}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    BasicShape<Dim> out = in[0];
    out.append(Dim(1));
    return Shapes<Dim>{out};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x.in_order(i); });
  }
};

}  // namespace

REWRIGHT_PLUGIN("operator.other_relu", "0.1.0", "A relu that is another one") {
  registry.add<Operator>(std::make_unique<OtherRelu>());
}
