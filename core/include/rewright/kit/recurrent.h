// What recurrent layers (LSTM, GRU, RNN) have in common: their shapes, and their nodes in ONNX.
//
//     x [T, B, I]       T steps of B sequences
//     w [D, G H, I], r [D, G H, H], bias [D, 2 G H]    G gates of H units; D = 2 if it runs both ways
//     h0, and further states, [D, B, H]    -> y [T, D, B, H], then the last of each state [D, B, H]
//
// Source  ONNX operators LSTM, GRU and RNN, opset 14.
#pragma once

#include <rewright/kit/onnx_mapping.h>
#include <rewright/kit/param_specs.h>
#include <rewright/operator/operator.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// One kind of layers.
struct RecurrentLayer {
  const char* name;
  const char* onnx_type;
  std::int64_t gates;
  std::size_t states;       ///< With an initial value each.
  const char* activations;  ///< Those that it has, for messages: "sigmoid and tanh".

  static constexpr std::int64_t kForward = 0, kReverse = 1, kBoth = 2;

  /// Errors: kShape unless the ranks are as above.
  template <class Dim>
  [[nodiscard]] Result<Shapes<Dim>> shape(std::int64_t direction, ShapeInputs<Dim> in, Constraints<Dim>& where) const {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const int rank = i == 3 ? 2 : 3;
      if (in[i].rank() != rank)
        return shape_error("{}: operand {} has rank {}, expected {}", name, i, in[i].rank(), rank);
    }
    const auto &x = in[0], &w = in[1], &r = in[2], &bias = in[3];
    const Dim &batch = x[1], &units = r[2], ways = Dim(direction == kBoth ? 2 : 1);
    for (std::size_t i = 1; i < in.size(); ++i) where.equal(in[i][0], ways, "directions");
    where.equal(w[1], units * gates, "gates of w");
    where.equal(w[2], x[2], "features of x and w");
    where.equal(r[1], units * gates, "gates of r");
    where.equal(bias[1], units * (2 * gates), "gates of the bias");
    BasicShape<Dim> state{ways, batch, units}, all{x[0], ways, batch, units};
    for (std::size_t i = 4; i < in.size(); ++i) {
      where.equal(in[i][1], batch, "sequences of x and a state");
      where.equal(in[i][2], units, "units of a state");
    }
    Shapes<Dim> out(1 + states, state);
    out[0] = std::move(all);
    return out;
  }

  /// What the input adds to each gate: step t, direction d, sequence b, gate g.
  template <class A>
  auto inputs(A& a, std::int64_t direction) const {
    const auto x = a.in(0).grouped(1, 1, 1), w = a.in(1).grouped(1, 1, 1);
    const auto bias = a.in(3).grouped(1, 1);
    const typename A::Size steps = x.size(0);
    return a.stage("inputs", steps, w.size(0), x.size(1), w.size(1)).is("t d b g", [&](auto t, auto d, auto b, auto g) {
      const auto product = [&](auto step) {
        return a.sum("k", over(x.size(2)), [&](auto k) { return a.times(x(step, b, k), w(d, g, k)); });
      };
      if (direction == kForward) return product(t) + bias(d, g);
      if (direction == kReverse) return product(steps - 1 - t) + bias(d, g);
      return a.sum("k", over(x.size(2)), [&](auto k) {
        return a.times(a.select(d == 0, x(t, b, k), x(steps - 1 - t, b, k)), w(d, g, k));
      }) + bias(d, g);
    });
  }
  /// The first outputs from states whose rows are one more than there are steps.
  template <class A, class... States>
  void outputs(A& a, std::int64_t direction, const States&... states_at) const {
    const auto& h = std::get<0>(std::tie(states_at...));
    const typename A::Size steps = a.in(0).size(0);
    a.out(0).grouped(1, 1, 1, 1).is("t d b j", [&](auto t, auto d, auto b, auto j) {
      if (direction == kForward) return h(t + 1, d, b, j);
      if (direction == kReverse) return h(steps - t, d, b, j);
      return a.select(d == 0, h(t + 1, d, b, j), h(steps - t, d, b, j));
    });
    std::size_t k = 0;
    const auto last = [&](const auto& state) {
      a.out(++k).grouped(1, 1, 1).is("d b j", [&](auto d, auto b, auto j) { return state(steps, d, b, j); });
    };
    (last(states_at), ...);
  }

  // --- ONNX

  struct Node {
    std::vector<Port> in;
    std::int64_t direction;
  };
  /// Errors: kUnsupported: other activations, clipping, sequences of different lengths,
  /// peepholes.
  [[nodiscard]] Result<Node> read(const OnnxNode& node, GraphBuilder& graph) const {
    const std::string way = node.text("direction", "forward");
    const std::int64_t direction = way == "forward" ? kForward : way == "reverse" ? kReverse : kBoth;
    if (direction == kBoth && way != "bidirectional") return unsupported("{}: direction {}", node.type, way);
    for (const char* name : {"activations", "activation_alpha", "activation_beta", "clip"}) {
      if (node.attributes.contains(name))
        return unsupported("{} with {} of its own, in place of {}", node.type, name, activations);
    }
    if (node.integer("layout", 0) != 0) return unsupported("{} whose first axis is the sequence", node.type);
    REWRIGHT_TRY(auto in, node.operands(3));
    Node found{std::move(in), direction};
    const Shape x = graph.shape(found.in[0]), r = graph.shape(found.in[2]);
    if (x.rank() != 3 || r.rank() != 3) return unsupported("{} of x {} and R {}", node.type, x, r);
    const auto given = [&](std::size_t i, const Shape& otherwise) {
      return node.has_input(i) ? *node.inputs[i] : graph.constant({{otherwise, graph.type(found.in[0]).element}, 0.0});
    };
    found.in.push_back(given(3, {r[0], 2 * r[1]}));
    if (node.has_input(4)) {
      REWRIGHT_TRY(const auto lengths, node.constant_integers(4));
      for (const std::int64_t length : lengths)
        if (length != x[0]) return unsupported("{} of sequences of different lengths", node.type);
    }
    for (std::size_t k = 0; k < states; ++k) found.in.push_back(given(5 + k, {r[0], x[1], r[2]}));
    for (std::size_t i = 5 + states; i < node.inputs.size(); ++i)
      if (node.has_input(i)) return unsupported("{} with peepholes", node.type);
    return found;
  }
  [[nodiscard]] Result<std::vector<std::string>> write(std::int64_t direction, std::span<const std::string> in,
                                                       std::span<const Shape> shapes, OnnxWriter& writer,
                                                       std::map<std::string, OnnxAttribute> attributes = {}) const {
    constexpr const char* kNames[] = {"forward", "reverse", "bidirectional"};
    attributes.emplace("direction", std::string(kNames[direction]));
    attributes.emplace("hidden_size", shapes[2][2]);
    std::vector<std::string> all(in.begin(), in.begin() + 4);
    all.emplace_back();  // Sequences of one length.
    all.insert(all.end(), in.begin() + 4, in.end());
    return writer.emit(onnx_type, std::move(all), std::move(attributes), 1 + states);
  }
};

/// A layer kLayer of Self, whose first parameter is the direction. define() in Self says what a step computes.
template <class Self>
class RecurrentOf : public OperatorOf<Self> {
 public:
  /// `params`: those behind the direction.
  static OperatorInfo described(std::string summary, std::vector<ParamSpec> params = {}) {
    params.insert(params.begin(), choice_param("direction", {"forward", "reverse", "bidirectional"}));
    const int arity = 4 + static_cast<int>(Self::kLayer.states);
    return {.name = Self::kLayer.name,
            .summary = std::move(summary),
            .min_arity = arity,
            .max_arity = arity,
            .params = std::move(params),
            .uses_functions = true,
            .onnx = {Self::kLayer.onnx_type}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    return Self::kLayer.shape(params.choice(0), in, where);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto found, Self::kLayer.read(node, graph));
    return graph.apply(*this, Params({found.direction}), found.in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    return Self::kLayer.write(params.choice(0), in, shapes, writer);
  }
};

}  // namespace rewright
