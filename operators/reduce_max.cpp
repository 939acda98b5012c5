/// Maximum along axes: y = greatest x over `axes`.
///
/// Shapes  x (any) -> y, as rewright::ReduceOf has them.
/// Errors  kShape if there is no such axis or a reduced size is 0.
/// Source  ONNX operators ReduceMax and GlobalMaxPool (all axes behind the first two). ReduceMin is taken apart:
///         -reduce_max(-x).
/// Laws    axioms/normalisation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ReduceMax final : ReduceOf<ReduceMax> {
  static constexpr bool kNeedsElements = true;
  static constexpr std::string_view kGlobalPool = "GlobalMaxPool";
  static constexpr OnnxReduction kFormulas[] = {{"ReduceMin", "neg", "neg"}};
  static OperatorInfo describe() {
    return reduce_info({.name = "reduce_max",
                        .summary = "Maximum along axes",
                        .uses_order = true,
                        .onnx = {"ReduceMax", "ReduceMin", "GlobalMaxPool"}});
  }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.greatest(x);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reduce_max", "1.0.0", "Maximum along axes") { registry.add(make_operator<ReduceMax>()); }
