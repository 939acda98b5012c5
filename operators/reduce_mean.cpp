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
  static OperatorInfo describe() {
    return {.name = "reduce_mean",
            .summary = "Mean along axes",
            .params = reduce_params(),
            .multilinear = true,
            .onnx = {"ReduceMean", "GlobalAveragePool"}};
  }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.quotient(a.sum(x), a.count(x));
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    return node.type == "GlobalAveragePool" ? global_pool(node, graph) : ReduceOf::from_onnx(node, graph);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (is_global_pool(params, shapes[0])) return writer.emit("GlobalAveragePool", {in[0]});
    return ReduceOf::to_onnx(params, in, shapes, writer);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reduce_mean", "1.0.0", "Mean along axes") { registry.add(make_operator<ReduceMean>()); }
