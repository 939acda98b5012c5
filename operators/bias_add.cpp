/// Bias: y[.., i, ..] = x[.., i, ..] + b[i], where i counts along `axis`.
///
/// Shapes  x (any), b [x.axis] -> y (as x).
/// Errors  kShape unless b has rank 1 and the size of x along `axis`.
/// Source  The bias of ONNX's Conv (axis 1) and Gemm (last axis), and its Add where one operand has a single axis of
///         size other than 1.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class BiasAdd final : public OperatorOf<BiasAdd> {
 public:
  static OperatorInfo describe() {
    return {.name = "bias_add",
            .summary = "Adds a vector along one axis",
            .min_arity = 2,
            .max_arity = 2,
            .params = {integer_param("axis", 1)},
            .onnx = {"Add"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const int axis, checked_axis("bias_add", params.integer(0), in[0].rank()));
    if (in[1].rank() != 1) return shape_error("bias_add: the bias has rank {}, expected 1", in[1].rank());
    where.equal(in[0][axis], in[1][0], "sizes of the operand along the axis and of the bias");
    BasicShape<Dim> out = in[0];
    out[axis] = same(in[0][axis], in[1][0]);
    return Shapes<Dim>{std::move(out)};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0)), behind = a.in(0).rank() - axis - 1;
    const auto x = a.in(0).grouped(axis, 1, behind);
    const auto bias = a.in(1);
    a.out(0).grouped(axis, 1, behind).is("i k j", [&](auto i, auto k, auto j) { return x(i, k, j) + bias(k); });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    REWRIGHT_TRY(const Port other, broadcast_operand(node, graph, 1));
    if (graph.shape(in[0]) == graph.shape(other)) return unsupported("operands of one shape are added by ewadd");
    for (const auto& [x, bias] : {std::pair(in[0], other), std::pair(other, in[0])}) {
      const int axis = axis_of(graph.shape(bias), graph.shape(x));
      if (axis < 0) continue;
      REWRIGHT_TRY(const Port vector, reshaped(graph, bias, Shape{graph.shape(bias).elements()}));
      return graph.apply(*this, Params({std::int64_t{axis}}), {x, vector}, node.name);
    }
    return unsupported("no operand is a vector along one axis of the other");
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    std::vector<std::int64_t> column(static_cast<std::size_t>(shapes[0].rank() - params.integer(0)), 1);
    column[0] = shapes[1][0];
    if (column.size() == 1) return writer.emit("Add", {in[0], in[1]});
    return writer.emit("Add", {in[0], writer.emit("Reshape", {in[1], writer.integers(column)})[0]});
  }

 private:
  /// The axis of x along which `bias`, all ones but there, is repeated nowhere; -1 if there is none.
  static int axis_of(const Shape& bias, const Shape& x) {
    int found = -1;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      const int at = axis - x.rank() + bias.rank();
      if (at < 0 || bias[at] == 1) continue;
      if (found >= 0 || bias[at] != x[axis]) return -1;
      found = axis;
    }
    return bias.rank() > x.rank() || x.rank() < 2 ? -1 : found;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.bias_add", "1.0.0", "Adds a vector along one axis") {
  registry.add(make_operator<BiasAdd>());
}
