/// Matrix product with broadcast batches: c[.., i, j] = sum over k of a[.., i, k] * b[.., k, j].
///
/// Shapes  a [A.., M, K], b [B.., K, N] -> c [C.., M, N], where C is A and B broadcast as rewright::broadcast_shape
///         has it: stretch_left and stretch_right name batch axes.
/// Errors  kShape unless both ranks are 2 or more, the inner sizes agree and the batches broadcast.
/// Source  ONNX operators MatMul and Gemm. What matmul can do is left to it: where b is a matrix, a's rows are put
///         together first; vectors become matrices of one row or column; Gemm is a product, factors and a bias.
/// Laws    axioms/broadcast.smt2.
#include <rewright/kit/families.h>
#include <rewright/kit/matrix_products.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/real_product.h>

#include <algorithm>

namespace {
using namespace rewright;

struct BroadcastMatmul final : OnnxNodeOf<BroadcastMatmul> {
  static OperatorInfo describe() {
    return broadcast_info({.name = "broadcast_matmul",
                           .summary = "Matrix product with broadcast batches",
                           .multilinear = true,
                           .onnx = {"MatMul", "Gemm"}});
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const int m = in[0].rank(), n = in[1].rank();
    if (m < 2 || n < 2) return shape_error("broadcast_matmul: ranks {} and {}, expected 2 or more", m, n);
    where.equal(in[0][m - 1], in[1][n - 2], "inner sizes");
    REWRIGHT_TRY(auto out, broadcast_shape(params, batch_of(in[0]), batch_of(in[1]), where));
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
    return single(node.type == "Gemm" ? gemm_from_onnx(node, graph, in) : product_of_tensors(graph, in[0], in[1]));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.broadcast_matmul", "1.0.0", "Matrix product with broadcast batches") {
  registry.add(make_operator<BroadcastMatmul>());
}
