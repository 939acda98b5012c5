/// Matrix product with broadcast batches: c[.., i, j] = sum over k of a[.., i, k] * b[.., k, j].
///
/// Shapes  a [A.., M, K], b [B.., K, N] -> c [C.., M, N], where C is A and B broadcast as rewright::broadcast_shape
///         has it: stretch_left and stretch_right name batch axes.
/// Errors  kShape unless both ranks are 2 or more, the inner sizes agree and the batches broadcast.
/// Source  ONNX operators MatMul and Gemm. What matmul can do is left to it: where b is a matrix, a's rows are put
///         together first; vectors become matrices of one row or column; Gemm is a product, factors and a bias.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/real_product.h>
#include <rewright/tensor/sum_of_products.h>

#include <algorithm>
#include <type_traits>

namespace {
using namespace rewright;

class BroadcastMatmul final : public OperatorOf<BroadcastMatmul> {
 public:
  static OperatorInfo describe() {
    return {.name = "broadcast_matmul",
            .summary = "Matrix product with broadcast batches",
            .min_arity = 2,
            .max_arity = 2,
            .params = stretch_params(),
            .multilinear = true,
            .onnx = {"MatMul", "Gemm"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const int m = in[0].rank(), n = in[1].rank();
    if (m < 2 || n < 2) return shape_error("broadcast_matmul: ranks {} and {}, expected 2 or more", m, n);
    where.equal(in[0][m - 1], in[1][n - 2], "inner sizes");
    REWRIGHT_TRY(auto out, broadcast_shape(params, batch(in[0]), batch(in[1]), where));
    out.append(in[0][m - 2]);
    out.append(in[1][n - 1]);
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const int batch = a.out(0).rank() - 2;
    const std::array<std::int64_t, 2> matrix = {batch, batch + 1};
    const auto x = a.view(0).repeated(a.out(0), params.integers(0)).along(matrix);
    const auto y = a.view(1).repeated(a.out(0), params.integers(1)).along(matrix);
    const auto inner = a.in(0).size(a.in(0).rank() - 1);
    a.out(0).grouped(batch, 1, 1).is("b i j", [&](auto b, auto i, auto j) {
      const auto left = x(b), right = y(b);
      return a.sum("k", over(inner), [&](auto k) { return a.times(left(i, k), right(k, j)); });
    });
  }
  static void kernel(const Params& params, Inputs<Real> in, Outputs<Real> out) {
    const int rank = out[0].rank();
    const std::int64_t m = out[0].size(rank - 2), n = out[0].size(rank - 1), k = in[0].size(in[0].rank() - 1);
    if (m * n * k < kLeastProduct || out[0].elements() == 0)
      return evaluate_definition<BroadcastMatmul>(params, in, out);
    std::fill_n(out[0].data(), out[0].elements(), Real{});
    const auto left = Eager<Real>::Whole(in[0]).repeated(out[0], params.integers(0)).box();
    const auto right = Eager<Real>::Whole(in[1]).repeated(out[0], params.integers(1)).box();
    const CommonAxes<2> batches(rank - 2, left.sizes, {&left.strides, &right.strides});
    Real* c = out[0].data();
    batches.for_each(batches.rank(), [&](const auto& at) {
      add_product({left.data + at[0], m, k, k}, {right.data + at[1], k, n, n}, {c, m, n, n});
      c += m * n;
    });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    REWRIGHT_TRY(const Port result, node.type == "Gemm" ? gemm(node, graph, in) : product(graph, in[0], in[1]));
    return std::vector{result};
  }
  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return writer.emit("MatMul", {in[0], in[1]});
  }

 private:
  template <class Dim>
  static BasicShape<Dim> batch(const BasicShape<Dim>& shape) {
    return BasicShape<Dim>(std::vector<Dim>(shape.begin(), shape.end() - 2));
  }

  Result<Port> product(GraphBuilder& graph, Port a, Port b) const {
    const Shape x = graph.shape(a), y = graph.shape(b);
    if (x.rank() == 0 || y.rank() == 0) return shape_error("MatMul of a scalar");
    if (x.rank() == y.rank() && x.rank() > 1 && x.rank() <= 4 && batch(x) == batch(y))
      return graph.apply1("matmul", {}, {a, b});
    if (x.rank() == 1 || y.rank() == 1) return product_of_vectors(graph, a, b);
    if (y.rank() == 2 && x[x.rank() - 1] > 0) {
      REWRIGHT_TRY(const Port rows, reshaped(graph, a, Shape{x.elements() / x[x.rank() - 1], x[x.rank() - 1]}));
      REWRIGHT_TRY(const Port c, graph.apply1("matmul", {}, {rows, b}));
      Shape shape = x;
      shape[x.rank() - 1] = y[1];
      return reshaped(graph, c, shape);
    }
    REWRIGHT_TRY(const auto ports, graph.apply(*this, stretches(batch(x), batch(y)), {a, b}));
    return ports[0];
  }
  Result<Port> product_of_vectors(GraphBuilder& graph, Port a, Port b) const {
    const Shape x = graph.shape(a), y = graph.shape(b);
    REWRIGHT_TRY(const Port row, reshaped(graph, a, x.rank() == 1 ? Shape{1, x[0]} : x));
    REWRIGHT_TRY(const Port column, reshaped(graph, b, y.rank() == 1 ? Shape{y[0], 1} : y));
    REWRIGHT_TRY(const Port c, product(graph, row, column));
    const Shape matrix = graph.shape(c);
    Shape shape;
    for (int axis = 0; axis < matrix.rank(); ++axis) {
      const bool dropped = (axis == matrix.rank() - 2 && x.rank() == 1) || (axis == matrix.rank() - 1 && y.rank() == 1);
      if (!dropped) shape.append(matrix[axis]);
    }
    return reshaped(graph, c, shape);
  }
  /// alpha * op(A) * op(B) + beta * C. With beta = 0 runtimes do not read C, so that its infinities do not count; with
  /// alpha = 0 some do not multiply.
  static Result<Port> gemm(const OnnxNode& node, GraphBuilder& graph, std::vector<Port> in) {
    const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
    if (alpha == 0) return unsupported("Gemm: alpha is 0");
    for (std::size_t i = 0; i < 2; ++i) {
      if (node.integer(i == 0 ? "transA" : "transB", 0) == 0) continue;
      REWRIGHT_TRY(in[i], graph.apply1("transpose", {}, {in[i]}));
    }
    REWRIGHT_TRY(Port y, graph.apply1("matmul", {}, in));
    REWRIGHT_TRY(y, scaled(graph, y, alpha));
    if (!node.has_input(2) || beta == 0) return y;
    REWRIGHT_TRY(const Port c, scaled(graph, *node.inputs[2], beta));
    const Shape sum = graph.shape(y), bias = graph.shape(c);
    if (bias == sum) return graph.apply1("ewadd", {}, {y, c});
    if (bias == Shape{sum[1]}) return graph.apply1("bias_add", {{"axis", std::int64_t{1}}}, {y, c});
    const Params params = stretches(sum, bias);
    return graph.apply1("broadcast_add", {{"stretch_left", params.integers(0)}, {"stretch_right", params.integers(1)}},
                        {y, c});
  }
  static Result<Port> scaled(GraphBuilder& graph, Port x, double factor) {
    if (factor == 1) return x;
    return graph.apply1("smul", {}, {x, scalar_like(graph, x, factor)});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_matmul", "1.0.0", "Matrix product with broadcast batches") {
  registry.add(make_operator<BroadcastMatmul>());
}
