/// Layer normalisation: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance taken over
/// `axis` and all axes behind it.
///
/// Shapes  x S, scale S[axis:], bias S[axis:] (may be left out: 0) -> y S.
/// Errors  kShape if there is no such axis, a size behind it is 0, or scale or bias do not have the sizes behind it.
/// Source  Ba, Kiros & Hinton, Layer Normalization (2016); ONNX operator LayerNormalization. ONNX's further outputs,
///         the mean and 1 / sqrt(variance + epsilon), are computed beside it where they are used.
/// Laws    axioms/normalisation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class LayerNorm final : public OnnxNodeOf<LayerNorm> {
 public:
  static OperatorInfo describe() {
    return {.name = "layer_norm",
            .summary = "Layer normalisation over the last axes",
            .min_arity = 2,
            .max_arity = 3,
            .params = {integer_param("axis", 1), real_param("epsilon", 1e-5)},
            .uses_functions = true,
            .onnx = {"LayerNormalization"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const int rank = in[0].rank();
    REWRIGHT_TRY(const int axis, checked_axis("layer_norm", params.integer(0), rank));
    for (int i = axis; i < rank; ++i) where.at_least(in[0][i], Dim(1), "a normalised size");
    for (std::size_t k = 1; k < in.size(); ++k) {
      if (in[k].rank() != rank - axis)
        return shape_error("layer_norm: operand {} has rank {}, expected {}", k, in[k].rank(), rank - axis);
      for (int i = axis; i < rank; ++i) where.equal(in[0][i], in[k][i - axis], "sizes of x, scale and bias");
    }
    return Shapes<Dim>{in[0]};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0)), behind = a.in(0).rank() - axis;
    const auto x = a.in(0).grouped(axis, behind);
    const auto scale = a.in(1);
    const auto outer = x.extent(0), inner = x.extent(1);
    const auto count = a.count(over(inner));
    const auto mean = a.stage("mean", outer).is("i", [&](auto i) {
      return a.quotient(a.sum("k", over(inner), [&](auto k) { return x(i, k); }), count);
    });
    const auto epsilon = a.number(params.real(1));
    const auto deviation = a.stage("deviation", outer).is("i", [&](auto i) {
      const auto squares = a.sum("k", over(inner), [&](auto k) { return (x(i, k) - mean(i)) * (x(i, k) - mean(i)); });
      return call(Function::kSqrt, a.quotient(squares, count) + epsilon);
    });
    const bool has_bias = a.arity() > 2;
    const auto bias = a.in(has_bias ? 2 : 1);
    a.out(0).grouped(axis, behind).is("i k", [&](auto i, auto k) {
      const auto y = (x(i, k) - mean(i)) / deviation(i) * scale(k);
      return has_bias ? y + bias(k) : y;
    });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(auto in, node.operands(2));
    if (node.has_input(2)) in.push_back(*node.inputs[2]);
    if (node.integer("stash_type", 1) != 1) return unsupported("LayerNormalization that stashes another type");
    REWRIGHT_TRY(const auto axis, axis_from_front(node.integer("axis", -1), graph.shape(in[0]).rank()));
    const double epsilon = node.real("epsilon", 1e-5);
    REWRIGHT_TRY(auto ports, graph.apply(*this, Params({axis, epsilon}), in, node.name));
    if (node.output_count == 1) return ports;
    std::vector<std::int64_t> axes;
    for (std::int64_t i = axis; i < graph.shape(in[0]).rank(); ++i) axes.push_back(i);
    REWRIGHT_TRY(const Port mean, graph.apply1("reduce_mean", {{"axes", axes}}, {in[0]}));
    ports.push_back(mean);
    REWRIGHT_TRY(const Port centred,
                 graph.apply1("broadcast_sub", {{"stretch_right", stretched(graph, in[0], axes)}}, {in[0], mean}));
    const OnnxFormula f(graph);
    const auto variance = f.apply("reduce_mean", {{"axes", axes}}, f.product(centred, centred));
    const auto deviation = f("sqrt", f.plus(variance, epsilon));
    REWRIGHT_TRY(const Port inverse, f.apply("power", {{"exponent", std::int64_t{-1}}}, deviation));
    ports.push_back(inverse);
    ports.resize(node.output_count);
    return ports;
  }

 private:
  static std::vector<std::int64_t> stretched(const GraphBuilder& graph, Port x, std::vector<std::int64_t> axes) {
    std::erase_if(axes, [&](std::int64_t axis) { return graph.shape(x)[static_cast<int>(axis)] == 1; });
    return axes;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.layer_norm", "1.0.0", "Layer normalisation") { registry.add(make_operator<LayerNorm>()); }
