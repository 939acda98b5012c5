/// Concatenation of two or more tensors along an axis.
///
/// Shapes  x1 [.., n1, ..], x2 [.., n2, ..], .. -> [.., n1 + n2 + .., ..]; the other sizes are equal.
/// Errors  kShape unless 0 <= axis < rank, all ranks are equal and so are the other sizes.
/// Source  ONNX operator Concat.
/// Laws    axioms/layout.smt2: associative; undone by split; goes through elementwise operators.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/kit/param_specs.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Concat final : public OnnxNodeOf<Concat>, public HashReduction {
 public:
  static OperatorInfo describe() {
    return {.name = "concat",
            .summary = "Concatenation along an axis",
            .min_arity = 2,
            .max_arity = -1,
            .params = {integer_param("axis", 0)},
            .onnx = {"Concat"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const std::int64_t joined = params.integer(0);
    BasicShape<Dim> out = in[0];
    if (joined < 0 || joined >= out.rank()) {
      return shape_error("concat: axis {} of operands of rank {}, expected 0 <= axis < rank", joined, out.rank());
    }
    for (const BasicShape<Dim>& next : in.subspan(1)) {
      if (next.rank() != out.rank()) return shape_error("concat: ranks {} and {} differ", out.rank(), next.rank());
      for (int axis = 0; axis < out.rank(); ++axis) {
        if (axis != joined) where.equal(out[axis], next[axis], "sizes along an axis that is not concatenated");
        out[axis] = axis == joined ? join(out[axis], next[axis]) : same(out[axis], next[axis]);
      }
    }
    return Shapes<Dim>{out};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0));
    typename A::Size first = 0;
    for (std::size_t k = 0; k < a.arity(); ++k) {
      a.out(0).part(axis, first, a.in(k).size(axis)).is(a.view(k));
      first = first + a.in(k).size(axis);
    }
  }

  /// h(concat(x, y)) = h(x) * 1 + 1 * r^|x| h(y), r and |x| being those of the axis.
  std::size_t reduction_length(const Params&, std::span<const Shape> in) const override {
    return in.size() == 2 ? 2 : 0;
  }
  void reduce(const Params& params, std::size_t operand, std::span<const Shape> in, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    const auto axis = static_cast<int>(params.integer(0));
    out[operand] = point.hash(value);
    if (operand == 1) out[1] = out[1] * point.powers(axis)[static_cast<std::size_t>(in[0][axis])];
    out[1 - operand] = Field::from_integer(1);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(node.inputs.size()));
    if (in.empty()) return unsupported("Concat {} has no input", node.name);
    REWRIGHT_TRY(const std::int64_t axis, axis_from_front(node.integer("axis", 1), graph.shape(in[0]).rank()));
    if (in.size() == 1) return in;
    return graph.apply(*this, Params({axis}), in, node.name);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.concat", "1.0.0", "Concatenation") { registry.add(make_operator<Concat>()); }
