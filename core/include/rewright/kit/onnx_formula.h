// Formulas of operators, for ONNX types that are taken apart: x * (1 + tanh(x)) / 2 is
//     const OnnxFormula f(graph);
//     f.times(f.product(x, f.plus(f("tanh", x), 1)), 0.5)
#pragma once

#include <rewright/kit/onnx_mapping.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// Adds applications to a graph. Where an operand is an error, the result is that error.
class OnnxFormula {
 public:
  explicit OnnxFormula(GraphBuilder& graph) : graph_(graph) {}

  /// An operator of one operand.
  [[nodiscard]] Result<Port> operator()(std::string_view op, const Result<Port>& x) const { return apply(op, {}, x); }
  [[nodiscard]] Result<Port> apply(std::string_view op, const std::vector<NamedParam>& params, const Result<Port>& x,
                                   std::string name_hint = {}) const {
    if (!x) return x;
    REWRIGHT_TRY(const auto ports, graph_.apply(op, params, {*x}, std::move(name_hint)));
    return ports[0];
  }
  /// x + y and x * y, of equal shapes.
  [[nodiscard]] Result<Port> sum(const Result<Port>& x, const Result<Port>& y) const { return pair("ewadd", x, y); }
  [[nodiscard]] Result<Port> product(const Result<Port>& x, const Result<Port>& y) const { return pair("ewmul", x, y); }
  /// x / y and others, one of which may have fewer axes.
  [[nodiscard]] Result<Port> pair(std::string_view op, const Result<Port>& x, const Result<Port>& y) const {
    if (!x || !y) return x ? y : x;
    return graph_.apply1(op, {}, {*x, *y});
  }
  /// s * x, for a tensor s of one element.
  [[nodiscard]] Result<Port> scaled(Port x, Port s) const { return pair("smul", x, reshaped(graph_, s, Shape{})); }

  /// x with a number: x * number, x + number, x / number.
  [[nodiscard]] Result<Port> times(const Result<Port>& x, double number) const { return with("smul", x, number); }
  [[nodiscard]] Result<Port> plus(const Result<Port>& x, double number) const {
    return with("broadcast_add", x, number);
  }
  [[nodiscard]] Result<Port> over(const Result<Port>& x, double number) const {
    return with("broadcast_div", x, number);
  }
  [[nodiscard]] Result<Port> with(std::string_view op, const Result<Port>& x, double number) const {
    if (!x) return x;
    return graph_.apply1(op, {}, {*x, scalar_like(graph_, *x, number)});
  }

 private:
  GraphBuilder& graph_;
};

}  // namespace rewright
