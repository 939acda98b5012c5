/// Elementwise sum: z = x + y.
///
/// Shapes  x S, y S -> S, of any rank; no broadcasting.
/// Errors  kShape unless the shapes are equal.
/// Source  Jia et al., TASO (SOSP'19), table 2.
/// Laws    axioms/elementwise.smt2: associative, commutative; linear operators distribute over it.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class ElementwiseAdd final : public OperatorOf<ElementwiseAdd>, public HashReduction {
 public:
  static OperatorInfo describe() {
    return {.name = "ewadd",
            .summary = "Elementwise sum of two tensors of equal shape",
            .min_arity = 2,
            .max_arity = 2,
            .commutative = true,
            .onnx = {"Add"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[0].rank() != in[1].rank()) return shape_error("ewadd: ranks {} and {} differ", in[0].rank(), in[1].rank());
    BasicShape<Dim> out;
    for (int axis = 0; axis < in[0].rank(); ++axis) {
      where.equal(in[0][axis], in[1][axis], "sizes along an axis");
      out.append(same(in[0][axis], in[1][axis]));
    }
    return Shapes<Dim>{out};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < out[0].elements(); ++i) out[0][i] = in[0][i] + in[1][i];
  }

  /// h(x + y) = h(x) * 1 + 1 * h(y).
  std::size_t reduction_length(const Params&, std::span<const Shape>) const override { return 2; }
  void reduce(const Params&, std::size_t operand, std::span<const Shape>, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    out[operand] = point.hash(value);
    out[1 - operand] = Field::from_integer(1);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(2));
    if (graph.shape(in[0]) != graph.shape(in[1])) return unsupported("ewadd does not broadcast");
    return graph.apply(*this, Params{}, in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return writer.emit("Add", {in[0], in[1]});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.ewadd", "1.0.0", "Elementwise sum") { registry.add(make_operator<ElementwiseAdd>()); }
