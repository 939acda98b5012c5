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
  static constexpr bool kNeedsElements = false;
  static OperatorInfo describe() {
    return {.name = "reduce_sum",
            .summary = "Sum along axes",
            .params = reduce_params(),
            .multilinear = true,
            .onnx = {"ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum"}};
  }
  template <class A, class Elements>
  static auto value(A& a, const Elements& x) {
    return a.sum(x);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    Port x = in[0];
    if (node.type == "ReduceSumSquare" || node.type == "ReduceL2") {
      REWRIGHT_TRY(x, graph.apply1("ewmul", {}, {x, x}));
    } else if (node.type == "ReduceL1") {
      REWRIGHT_TRY(x, graph.apply1("abs", {}, {x}));
    }
    REWRIGHT_TRY(Port y, reduce(node, graph, x));
    if (node.type == "ReduceL2" || node.type == "ReduceLogSum") {
      REWRIGHT_TRY(y, graph.apply1(node.type == "ReduceL2" ? "sqrt" : "log", {}, {y}));
    }
    return std::vector{y};
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    if (params.integers(0).empty()) return writer.emit("Identity", {in[0]});
    return writer.emit("ReduceSum", {in[0], writer.integers(params.integers(0))}, {{"keepdims", params.integer(1)}});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reduce_sum", "1.0.0", "Sum along axes") { registry.add(make_operator<ReduceSum>()); }
