/// Permutation of axes: axis i of the output is axis perm[i] of the operand.
///
/// Shapes  x [x0, x1, ..] -> [x(perm[0]), x(perm[1]), ..]; the default [1, 0] is the transpose of a matrix.
/// Errors  kShape unless perm is a permutation of 0 .. rank - 1.
/// Source  ONNX operator Transpose. DepthToSpace and SpaceToDepth become one between two reshapes.
/// Laws    axioms/layout.smt2: its own inverse for matrices; reverses matmul; goes through elementwise operators.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/kit/param_specs.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/strides.h>

#include <algorithm>

namespace {
using namespace rewright;

class Transpose final : public OperatorOf<Transpose> {
 public:
  static OperatorInfo describe() {
    return {.name = "transpose",
            .summary = "Permutation of axes",
            .params = {integers_param("perm", {1, 0})},
            .multilinear = true,
            .onnx = {"Transpose", "DepthToSpace", "SpaceToDepth"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    const std::vector<std::int64_t>& perm = params.integers(0);
    std::vector<std::int64_t> ascending = perm;
    std::ranges::sort(ascending);
    if (ascending != other_axes(in[0].rank(), {}))
      return shape_error("transpose: perm [{}] is not a permutation of the {} axes of the operand",
                         fmt::join(perm, ", "), in[0].rank());
    BasicShape<Dim> out;
    for (const std::int64_t axis : perm) out.append(in[0][static_cast<int>(axis)]);
    return Shapes<Dim>{out};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    a.out(0).is(a.view(0).permuted(params.integers(0)));
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(1));
    if (node.type != "Transpose") return moved_blocks(node, graph, in[0]);
    std::vector<std::int64_t> reversed = other_axes(graph.shape(in[0]).rank(), {});
    std::ranges::reverse(reversed);
    return graph.apply(*this, Params({node.integers("perm", reversed)}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    if (params.integers(0).empty()) return writer.emit("Transpose", {in[0]});  // ONNX wants no empty list.
    return writer.emit("Transpose", {in[0]}, {{"perm", params.integers(0)}});
  }

 private:
  /// Blocks of b x b pixels become channels, or channels such blocks.
  Result<std::vector<Port>> moved_blocks(const OnnxNode& node, GraphBuilder& graph, Port x) const {
    const Shape shape = graph.shape(x);
    const std::int64_t b = node.integer("blocksize", 0);
    if (shape.rank() != 4 || b < 1 || b > kFar / b)
      return unsupported("{} with blocks of {} of {}", node.type, b, shape);
    const std::int64_t n = shape[0], c = shape[1], h = shape[2], w = shape[3];
    const bool to_depth = node.type == "SpaceToDepth", rows_last = node.text("mode", "DCR") == "CRD";
    if (to_depth ? h % b != 0 || w % b != 0 : c % (b * b) != 0)
      return shape_error("{} with blocks of {} of {}", node.type, b, shape);
    if (to_depth)
      return permuted(graph, x, {n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4}, {n, c * b * b, h / b, w / b});
    const std::int64_t d = c / (b * b);
    if (rows_last) return permuted(graph, x, {n, d, b, b, h, w}, {0, 1, 4, 2, 5, 3}, {n, d, h * b, w * b});
    return permuted(graph, x, {n, b, b, d, h, w}, {0, 3, 4, 1, 5, 2}, {n, d, h * b, w * b});
  }
  Result<std::vector<Port>> permuted(GraphBuilder& graph, Port x, const Shape& parts, std::vector<std::int64_t> perm,
                                     const Shape& result) const {
    REWRIGHT_TRY(const Port apart, reshaped(graph, x, parts));
    REWRIGHT_TRY(const auto moved, graph.apply(*this, Params({std::move(perm)}), {apart}));
    return single(reshaped(graph, moved[0], result));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.transpose", "1.0.0", "Permutation of axes") { registry.add(make_operator<Transpose>()); }
