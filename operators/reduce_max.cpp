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
  static OperatorInfo describe() {
    return {.name = "reduce_max",
            .summary = "Maximum along axes",
            .params = reduce_params(),
            .uses_order = true,
            .onnx = {"ReduceMax", "ReduceMin", "GlobalMaxPool"}};
  }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.greatest(x);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    if (node.type == "GlobalMaxPool") return global_pool(node, graph);
    if (node.type == "ReduceMax") return ReduceOf::from_onnx(node, graph);
    REWRIGHT_TRY(const auto in, node.operands(1));
    REWRIGHT_TRY(const Port negated, graph.apply1("neg", {}, in));
    REWRIGHT_TRY(const Port greatest, reduce(node, graph, negated));
    REWRIGHT_TRY(const Port least, graph.apply1("neg", {}, {greatest}));
    return std::vector{least};
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (is_global_pool(params, shapes[0])) return writer.emit("GlobalMaxPool", {in[0]});
    return ReduceOf::to_onnx(params, in, shapes, writer);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reduce_max", "1.0.0", "Maximum along axes") { registry.add(make_operator<ReduceMax>()); }
