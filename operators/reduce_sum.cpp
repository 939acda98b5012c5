/// Sum along axes: y = sum of x over `axes`.
///
/// Shapes  x (any) -> y, as rewright::ReduceOf has them.
/// Errors  kShape if there is no such axis.
/// Source  ONNX operator ReduceSum. ReduceSumSquare, ReduceL1, ReduceL2 and ReduceLogSum become sums of x * x or |x|
///         and a square root or logarithm.
/// Laws    axioms/normalisation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ReduceSum final : ReduceOf<ReduceSum> {
  static constexpr bool kNeedsElements = false, kAxesAreAnInput = true;
  static constexpr OnnxReduction kFormulas[] = {{"ReduceSumSquare", "ewmul", ""},
                                                {"ReduceL1", "abs", ""},
                                                {"ReduceL2", "ewmul", "sqrt"},
                                                {"ReduceLogSum", "", "log"}};
  static OperatorInfo describe() {
    return reduce_info({.name = "reduce_sum",
                        .summary = "Sum along axes",
                        .multilinear = true,
                        .onnx = {"ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum"}});
  }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.sum(x);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reduce_sum", "1.0.0", "Sum along axes") { registry.add(make_operator<ReduceSum>()); }
