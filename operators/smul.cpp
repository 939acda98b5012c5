/// Product with a scalar: y = s * x.
///
/// Shapes  x S, of any rank, s () -> S.
/// Errors  kShape unless s has rank 0.
/// Source  Jia et al., TASO (SOSP'19), table 2.
/// Laws    axioms/elementwise.smt2: associative; goes through linear operators.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class ScalarMul final : public OnnxNodeOf<ScalarMul>, public HashReduction {
 public:
  static OperatorInfo describe() {
    return {.name = "smul",
            .summary = "Product of a tensor with a scalar",
            .min_arity = 2,
            .max_arity = 2,
            .multilinear = true,
            .onnx = {"Mul"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    if (in[1].rank() != 0) return shape_error("smul: the factor has rank {}, expected a scalar (rank 0)", in[1].rank());
    return Shapes<Dim>{in[0]};
  }

  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0), s = a.in(1);
    a.out(0).is("i", [&](auto i) { return s() * x(i); });
  }

  /// h(s x) = h(x) * s.
  std::size_t reduction_length(const Params&, std::span<const Shape>) const override { return 1; }
  void reduce(const Params&, std::size_t operand, std::span<const Shape>, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    out[0] = operand == 0 ? point.hash(value) : value[0];
  }

  /// Mul where one operand has one element and does not raise the other's rank; one that is a constant of rank 1 or
  /// more becomes a scalar.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(2));
    for (const std::size_t factor : {std::size_t{1}, std::size_t{0}}) {
      const Port x = in[1 - factor], s = in[factor];
      if (!is_factor(graph.shape(s), graph.shape(x))) continue;
      if (graph.shape(s).rank() == 0) return graph.apply(*this, Params{}, {x, s}, node.name);
      if (const auto& value = node.constants[factor]) {
        ConstantData scalar = *value;
        scalar.type.shape = Shape{};
        return graph.apply(*this, Params{}, {x, graph.constant(std::move(scalar), "scalar")}, node.name);
      }
    }
    return unsupported("smul needs a scalar or a constant of one element");
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.smul", "1.0.0", "Product with a scalar") { registry.add(make_operator<ScalarMul>()); }
