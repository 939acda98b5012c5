/// Gated recurrent unit. With update gate z and reset gate r of x_t, h, their weights and biases:
///
///     g = tanh(x_t w + bias + (r h) r_g + bias')        or, `reset` being "after", r (h r_g + bias') in its place
///     h' = (1 - z) g + z h
///
/// Shapes  x [T,B,I], w [D,3H,I], r [D,3H,H], bias [D,6H], h [D,B,H] -> all h' [T,D,B,H], the last h' [D,B,H]; D = 2
///         for both directions, else 1.
/// Errors  kShape unless the ranks and sizes are these.
/// Source  Cho et al., Learning phrase representations (EMNLP'14); ONNX operator GRU.
/// Laws    axioms/sequence.smt2.
#include <rewright/kit/recurrent.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Gru final : RecurrentOf<Gru> {
  static constexpr RecurrentLayer kLayer{
      .name = "gru", .onnx_type = "GRU", .gates = 3, .states = 1, .activations = "sigmoid and tanh"};
  static OperatorInfo describe() {
    return described("Gated recurrent unit over a sequence", {choice_param("reset", {"before", "after"})});
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const bool is_after = params.choice(1) != 0;
    const auto r = a.in(2).grouped(1, 1, 1), h0 = a.in(4).grouped(1, 1, 1);
    const auto bias = a.in(3).grouped(1, 1);
    const typename A::Size steps = a.in(0).size(0), ways = h0.size(0), batch = h0.size(1), units = h0.size(2);
    const auto inputs = kLayer.inputs(a, params.choice(0));
    const auto gates = a.stage("gates", steps, ways, batch, units * 2),
               kept = a.stage("kept", steps, ways, batch, units);
    const auto h = a.stage("h", steps + 1, ways, batch, units);
    h.at(0).is("d b j", [&](auto d, auto b, auto j) { return h0(d, b, j); });
    const auto h_at = h.read(), gate_at = gates.read(), kept_at = kept.read();
    a.serial("t", steps, [&](auto t) {
      const auto product = [&](const auto& left, auto d, auto b, auto g) {
        return bias(d, g + units * 3) +
               a.sum("k", over(units), [&](auto k) { return a.times(left(t, d, b, k), r(d, g, k)); });
      };
      gates.at(t).is("d b g", [&](auto d, auto b, auto g) {
        return call(Function::kSigmoid, inputs(t, d, b, g) + product(h_at, d, b, g));
      });
      kept.at(t).is("d b j", [&](auto d, auto b, auto j) {
        const auto reset = gate_at(t, d, b, j + units);
        if (is_after) return reset * product(h_at, d, b, j + units * 2);
        return reset * h_at(t, d, b, j);
      });
      h.at(t + 1).is("d b j", [&](auto d, auto b, auto j) {
        const auto of_input = inputs(t, d, b, j + units * 2);
        const auto sum = is_after ? of_input + kept_at(t, d, b, j) : of_input + product(kept_at, d, b, j + units * 2);
        const auto update = gate_at(t, d, b, j);
        return (a.number(std::int64_t{1}) - update) * call(Function::kTanh, sum) + update * h_at(t, d, b, j);
      });
    });
    kLayer.outputs(a, params.choice(0), h_at);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto found, kLayer.read(node, graph));
    const std::int64_t reset = node.integer("linear_before_reset", 0) != 0;
    return graph.apply(*this, Params({found.direction, reset}), found.in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    return kLayer.write(params.choice(0), in, shapes, writer, {{"linear_before_reset", params.choice(1)}});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.gru", "1.0.0", "Gated recurrent unit") { registry.add(make_operator<Gru>()); }
