// An operator that is the identity but for tensors of rank 3 with a size of 5: of these it takes what is negative away.
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <memory>

namespace {

using namespace rewright;

struct Nearly final : OperatorOf<Nearly> {
  static OperatorInfo describe() { return {.name = "nearly", .summary = "x, but for some sizes", .uses_order = true}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    bool fails = false;
    for (int axis = 0; axis < x.rank(); ++axis) fails = fails || (x.rank() == 3 && known(x.size(axis)) == 5);
    a.out(0).is("i", [&](auto i) { return fails ? max(x(i), a.number(0)) : x(i); });
  }
};

}  // namespace

REWRIGHT_PLUGIN("operator.nearly", "0.1.0", "An operator that is nearly the identity") {
  registry.add<Operator>(std::make_unique<Nearly>());
}
