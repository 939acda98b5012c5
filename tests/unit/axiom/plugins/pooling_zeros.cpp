// A pool2d_max that gives 0 everywhere, also where every element is negative.
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

#include <memory>

namespace {

using namespace rewright;

struct PoolingZeros final : OperatorOf<PoolingZeros> {
  static OperatorInfo describe() {
    return {.name = "pool2d_max",
            .summary = "0 everywhere",
            .params = {{.name = "kernel", .kind = ParamKind::kInts, .required = true}}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    a.out(0).is("i", [&](auto) { return a.number(0); });
  }
};

}  // namespace

REWRIGHT_PLUGIN("operator.pooling_zeros", "0.1.0", "A maximum that is always 0") {
  registry.add<Operator>(std::make_unique<PoolingZeros>());
}
