/// Mean along axes: y = sum of x over `axes` / number of elements summed.
///
/// Shapes  x (any) -> y, as rewright::ReduceOf has them.
/// Errors  kShape if there is no such axis or a reduced size is 0.
/// Source  ONNX operators ReduceMean and GlobalAveragePool (all axes behind the first two).
/// Laws    axioms/normalisation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ReduceMean final : ReduceOf<ReduceMean> {
  static constexpr bool kNeedsElements = true;
  static constexpr std::string_view kGlobalPool = "GlobalAveragePool";
  static OperatorInfo describe() {
    return reduce_info({.name = "reduce_mean",
                        .summary = "Mean along axes",
                        .multilinear = true,
                        .onnx = {"ReduceMean", "GlobalAveragePool"}});
  }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.quotient(a.sum(x), a.count(x));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reduce_mean", "1.0.0", "Mean along axes") { registry.add(make_operator<ReduceMean>()); }
