// ONNX's MatMul and Gemm as products of operators. What matmul can do is left to it: if b is a matrix, a's rows are put
// together first; vectors become matrices of one row or column; Gemm is a product, factors and a bias.
#pragma once

#include <rewright/kit/families.h>
#include <rewright/kit/onnx_formula.h>

#include <vector>

namespace rewright {

/// All axes but the last two.
template <class Dim>
[[nodiscard]] BasicShape<Dim> batch_of(const BasicShape<Dim>& shape) {
  return BasicShape<Dim>(std::vector<Dim>(shape.begin(), shape.end() - 2));
}

/// `op` with what stretches tensors of these shapes.
[[nodiscard]] inline Result<Port> apply_stretched(GraphBuilder& graph, const char* op, const Params& stretches, Port a,
                                                  Port b) {
  return graph.apply1(op, {{"stretch_left", stretches.integers(0)}, {"stretch_right", stretches.integers(1)}}, {a, b});
}

/// MatMul of a and b, whatever ranks above 0 they have.
[[nodiscard]] inline Result<Port> product_of_tensors(GraphBuilder& graph, Port a, Port b) {
  const Shape x = graph.shape(a), y = graph.shape(b);
  if (x.rank() == 0 || y.rank() == 0) return shape_error("MatMul of a scalar");
  if (x.rank() == 1 || y.rank() == 1) {
    REWRIGHT_TRY(const Port row, reshaped(graph, a, x.rank() == 1 ? Shape{1, x[0]} : x));
    REWRIGHT_TRY(const Port column, reshaped(graph, b, y.rank() == 1 ? Shape{y[0], 1} : y));
    REWRIGHT_TRY(const Port c, product_of_tensors(graph, row, column));
    const Shape matrix = graph.shape(c);
    Shape shape = batch_of<std::int64_t>(matrix);
    if (x.rank() > 1) shape.append(matrix[matrix.rank() - 2]);
    if (y.rank() > 1) shape.append(matrix[matrix.rank() - 1]);
    return reshaped(graph, c, shape);
  }
  const Shape left = batch_of<std::int64_t>(x), right = batch_of<std::int64_t>(y);
  if (x.rank() <= 4 && left == right) return graph.apply1("matmul", {}, {a, b});
  if (y.rank() > 2 || x[x.rank() - 1] == 0)
    return apply_stretched(graph, "broadcast_matmul", stretches(left, right), a, b);
  REWRIGHT_TRY(const Port rows, reshaped(graph, a, Shape{x.elements() / x[x.rank() - 1], x[x.rank() - 1]}));
  REWRIGHT_TRY(const Port c, graph.apply1("matmul", {}, {rows, b}));
  Shape shape = x;
  shape[x.rank() - 1] = y[1];
  return reshaped(graph, c, shape);
}

/// alpha * op(A) * op(B) + beta * C. With beta = 0 runtimes do not read C, so that its infinities do not count; with
/// alpha = 0 some do not multiply. `in`: A and B.
[[nodiscard]] inline Result<Port> gemm_from_onnx(const OnnxNode& node, GraphBuilder& graph, std::vector<Port> in) {
  const OnnxFormula f(graph);
  const auto scaled = [&](Port x, double factor) { return factor == 1 ? Result<Port>(x) : f.times(x, factor); };
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  if (alpha == 0) return unsupported("Gemm: alpha is 0");
  for (std::size_t i = 0; i < 2; ++i) {
    if (node.integer(i == 0 ? "transA" : "transB", 0) == 0) continue;
    REWRIGHT_TRY(in[i], f("transpose", in[i]));
  }
  REWRIGHT_TRY(const Port product, graph.apply1("matmul", {}, in));
  REWRIGHT_TRY(const Port y, scaled(product, alpha));
  if (!node.has_input(2) || beta == 0) return y;
  REWRIGHT_TRY(const Port c, scaled(*node.inputs[2], beta));
  const Shape sum = graph.shape(y), bias = graph.shape(c);
  if (bias == sum) return f.sum(y, c);
  if (bias == Shape{sum[1]}) return graph.apply1("bias_add", {{"axis", std::int64_t{1}}}, {y, c});
  return apply_stretched(graph, "broadcast_add", stretches(sum, bias), y, c);
}

}  // namespace rewright
