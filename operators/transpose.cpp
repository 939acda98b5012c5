/// Permutation of axes: axis i of the output is axis perm[i] of the operand.
///
/// Shapes  x [x0, x1, ..] -> [x(perm[0]), x(perm[1]), ..]; the default [1, 0] is the transpose of a matrix.
/// Errors  kShape unless perm is a permutation of 0 .. rank - 1.
/// Source  ONNX operator Transpose.
/// Laws    axioms/layout.smt2: its own inverse for matrices; reverses matmul; goes through elementwise operators.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/strides.h>

#include <numeric>

namespace {
using namespace rewright;

class Transpose final : public OperatorOf<Transpose> {
 public:
  static OperatorInfo describe() {
    return {.name = "transpose",
            .summary = "Permutation of axes",
            .params = {{.name = "perm", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{1, 0}}},
            .multilinear = true,
            .onnx = {"Transpose"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    const std::vector<std::int64_t>& perm = params.integers(0);
    const std::int64_t rank = in[0].rank();
    BasicShape<Dim> out;
    std::vector<bool> taken(static_cast<std::size_t>(rank), false);
    bool fits = static_cast<std::int64_t>(perm.size()) == rank;
    for (std::size_t i = 0; fits && i < perm.size(); ++i) {
      fits = 0 <= perm[i] && perm[i] < rank && !taken[static_cast<std::size_t>(perm[i])];
      if (!fits) break;
      taken[static_cast<std::size_t>(perm[i])] = true;
      out.append(in[0][static_cast<int>(perm[i])]);
    }
    if (!fits) {
      return shape_error("transpose: perm [{}] is not a permutation of the {} axes of the operand",
                         fmt::join(perm, ", "), rank);
    }
    return Shapes<Dim>{out};
  }

  template <class Scalar>
  static void apply(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) {
    const std::vector<std::int64_t> strides = strides_of(in[0].shape());
    std::vector<std::int64_t> steps;
    for (const std::int64_t axis : params.integers(0)) steps.push_back(strides[static_cast<std::size_t>(axis)]);
    copy_strided(in[0].data(), out[0].shape().dims(), steps, out[0].data());
  }

  static double flops(const Params&, std::span<const Shape>) { return 0; }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(1));
    std::vector<std::int64_t> reversed(static_cast<std::size_t>(graph.shape(in[0]).rank()));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return graph.apply(*this, Params({node.integers("perm", reversed)}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    if (params.integers(0).empty()) return writer.emit("Transpose", {in[0]});  // ONNX wants no empty list.
    return writer.emit("Transpose", {in[0]}, {{"perm", params.integers(0)}});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.transpose", "1.0.0", "Permutation of axes") { registry.add(make_operator<Transpose>()); }
