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
  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    const auto sizes = in[0].shape().dims();
    const bool fails = sizes.size() == 3 && std::ranges::find(sizes, 5) != sizes.end();
    for (std::int64_t i = 0; i < in[0].elements(); ++i)
      out[0][i] = fails ? max(in[0][i], Scalar::from_integer(0)) : in[0][i];
  }
};

}  // namespace

REWRIGHT_PLUGIN("operator.nearly", "0.1.0", "An operator that is nearly the identity") {
  registry.add<Operator>(std::make_unique<Nearly>());
}
