/// Recurrent layer: h' = tanh(x_t w + bias + h r + bias').
///
/// Shapes  x [T,B,I], w [D,H,I], r [D,H,H], bias [D,2H], h [D,B,H] -> all h' [T,D,B,H], the last h' [D,B,H]; D = 2 for
///         both directions, else 1.
/// Errors  kShape unless the ranks and sizes are these.
/// Source  Elman, Finding structure in time (1990); ONNX operator RNN.
/// Laws    axioms/sequence.smt2.
#include <rewright/kit/recurrent.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Rnn final : RecurrentOf<Rnn> {
  static constexpr RecurrentLayer kLayer{
      .name = "rnn", .onnx_type = "RNN", .gates = 1, .states = 1, .activations = "tanh"};
  static OperatorInfo describe() { return described("Recurrent layer over a sequence"); }

  template <class A>
  static void define(A& a, const Params& params) {
    const auto r = a.in(2).grouped(1, 1, 1), h0 = a.in(4).grouped(1, 1, 1);
    const auto bias = a.in(3).grouped(1, 1);
    const typename A::Size steps = a.in(0).size(0), ways = h0.size(0), batch = h0.size(1), units = h0.size(2);
    const auto inputs = kLayer.inputs(a, params.choice(0));
    const auto h = a.stage("h", steps + 1, ways, batch, units);
    h.at(0).is("d b j", [&](auto d, auto b, auto j) { return h0(d, b, j); });
    const auto h_at = h.read();
    a.serial("t", steps, [&](auto t) {
      h.at(t + 1).is("d b j", [&](auto d, auto b, auto j) {
        const auto product = a.sum("k", over(units), [&](auto k) { return a.times(h_at(t, d, b, k), r(d, j, k)); });
        return call(Function::kTanh, inputs(t, d, b, j) + bias(d, j + units) + product);
      });
    });
    kLayer.outputs(a, params.choice(0), h_at);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.rnn", "1.0.0", "Recurrent layer") { registry.add(make_operator<Rnn>()); }
