/// Long short-term memory. With [i o f g] = x_t w + bias + h r + bias' of four gates:
///
///     c' = sigmoid(f) c + sigmoid(i) tanh(g)        h' = sigmoid(o) tanh(c')
///
/// Shapes  x [T,B,I], w [D,4H,I], r [D,4H,H], bias [D,8H], h [D,B,H], c [D,B,H] -> all h' [T,D,B,H], the last h' and
///         the last c' [D,B,H]; D = 2 for both directions, else 1.
/// Errors  kShape unless the ranks and sizes are these.
/// Source  Hochreiter and Schmidhuber, Long Short-Term Memory (1997); ONNX operator LSTM.
/// Laws    axioms/sequence.smt2.
#include <rewright/kit/recurrent.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Lstm final : RecurrentOf<Lstm> {
  static constexpr RecurrentLayer kLayer{
      .name = "lstm", .onnx_type = "LSTM", .gates = 4, .states = 2, .activations = "sigmoid and tanh"};
  static OperatorInfo describe() { return described("Long short-term memory over a sequence"); }

  template <class A>
  static void define(A& a, const Params& params) {
    const auto r = a.in(2).grouped(1, 1, 1), h0 = a.in(4).grouped(1, 1, 1), c0 = a.in(5).grouped(1, 1, 1);
    const auto bias = a.in(3).grouped(1, 1);
    const typename A::Size steps = a.in(0).size(0), ways = h0.size(0), batch = h0.size(1), units = h0.size(2);
    const auto inputs = kLayer.inputs(a, params.choice(0));
    const auto gates = a.stage("gates", steps, ways, batch, units * 4);
    const auto h = a.stage("h", steps + 1, ways, batch, units), c = a.stage("c", steps + 1, ways, batch, units);
    h.at(0).is("d b j", [&](auto d, auto b, auto j) { return h0(d, b, j); });
    c.at(0).is("d b j", [&](auto d, auto b, auto j) { return c0(d, b, j); });
    const auto h_at = h.read(), c_at = c.read(), gate_at = gates.read();
    a.serial("t", steps, [&](auto t) {
      gates.at(t).is("d b g", [&](auto d, auto b, auto g) {
        const auto product = a.sum("k", over(units), [&](auto k) { return a.times(h_at(t, d, b, k), r(d, g, k)); });
        return inputs(t, d, b, g) + bias(d, g + units * 4) + product;
      });
      c.at(t + 1).is("d b j", [&](auto d, auto b, auto j) {
        const auto input = call(Function::kSigmoid, gate_at(t, d, b, j));
        const auto forget = call(Function::kSigmoid, gate_at(t, d, b, j + units * 2));
        return forget * c_at(t, d, b, j) + input * call(Function::kTanh, gate_at(t, d, b, j + units * 3));
      });
      h.at(t + 1).is("d b j", [&](auto d, auto b, auto j) {
        return call(Function::kSigmoid, gate_at(t, d, b, j + units)) * call(Function::kTanh, c_at(t + 1, d, b, j));
      });
    });
    kLayer.outputs(a, params.choice(0), h_at, c_at);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    if (node.integer("input_forget", 0) != 0) return unsupported("LSTM that couples its gates");
    return RecurrentOf::from_onnx(node, graph);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.lstm", "1.0.0", "Long short-term memory") { registry.add(make_operator<Lstm>()); }
