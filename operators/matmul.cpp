/// Matrix product: c[i,j] = sum over k of a[i,k] * b[k,j], in each batch.
///
/// Shapes  a [M,K], b [K,N] -> [M,N]; or a [B..,M,K], b [B..,K,N] -> [B..,M,N] with one or two batch axes.
/// Errors  kShape unless both ranks are equal and 2, 3 or 4, the inner sizes agree and the batch sizes too (no
///         broadcasting).
/// Source  Golub & Van Loan, Matrix Computations (4th ed.), section 1.1.
/// Laws    axioms/linear_algebra.smt2: associative; linear in both operands.
#include <rewright/kit/einsum.h>
#include <rewright/kit/onnx_mapping.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/real_product.h>
#include <rewright/tensor/sum_of_products.h>

#include <algorithm>
#include <array>

namespace {
using namespace rewright;

/// Over Real: narrower products are read faster as they lie.
constexpr std::int64_t kLeastColumns = 4;
/// Over Real: products of fewer multiplications are made as the definition says.
constexpr std::int64_t kLeastByRows = 1 << 10;

class MatMul final : public OnnxNodeOf<MatMul>, public HashReduction {
 public:
  static OperatorInfo describe() {
    return {.name = "matmul",
            .summary = "Matrix product, batched without broadcasting",
            .min_arity = 2,
            .max_arity = 2,
            .multilinear = true,
            .onnx = {"MatMul", "Einsum"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const int rank = in[0].rank();
    if (rank != in[1].rank() || rank < 2 || rank > 4) {
      return shape_error("matmul: ranks {} and {}, expected both 2, both 3 or both 4", rank, in[1].rank());
    }
    BasicShape<Dim> out;
    for (int axis = 0; axis < rank - 2; ++axis) {
      where.equal(in[0][axis], in[1][axis], "batch sizes");
      out.append(same(in[0][axis], in[1][axis]));
    }
    where.equal(in[0][rank - 1], in[1][rank - 2], "inner sizes");
    out.append(in[0][rank - 2]);
    out.append(in[1][rank - 1]);
    return Shapes<Dim>{out};
  }

  template <class A>
  static void define(A& a, const Params&) {
    const int batch = a.in(0).rank() - 2;
    const auto x = a.in(0).grouped(batch, 1, 1), y = a.in(1).grouped(batch, 1, 1);
    a.out(0).grouped(batch, 1, 1).is("b i j", [&](auto b, auto i, auto j) {
      return a.sum("k", over(x.size(2)), [&](auto k) { return a.times(x(b, i, k), y(b, k, j)); });
    });
  }

  static void kernel(const Params& params, Inputs<Real> in, Outputs<Real> out) {
    const int rank = in[0].rank();
    const std::int64_t rows = in[0].size(rank - 2), inner = in[0].size(rank - 1), columns = in[1].size(rank - 1);
    if (out[0].elements() * inner < kLeastByRows) return evaluate_definition<MatMul>(params, in, out);
    if (columns < kLeastColumns || out[0].elements() * inner < kLeastProduct) return by_rows(in, out);
    std::fill_n(out[0].data(), out[0].elements(), Real{});
    const Real *a = in[0].data(), *b = in[1].data();
    Real* const end = out[0].data() + out[0].elements();
    for (Real* c = out[0].data(); c != end; a += rows * inner, b += inner * columns, c += rows * columns)
      add_product({a, rows, inner, inner}, {b, inner, columns, columns}, {c, rows, columns, columns});
  }

  /// Some columns at a time, so that rows of b are read as they lie.
  static void by_rows(Inputs<Real> in, Outputs<Real> out) {
    constexpr std::int64_t kBlock = 8;
    const int rank = in[0].rank();
    const std::int64_t rows = in[0].size(rank - 2), inner = in[0].size(rank - 1), columns = in[1].size(rank - 1);
    for (std::int64_t row = 0; row < out[0].elements() / columns; ++row) {
      const Real* const a = in[0].data() + row * inner;
      for (std::int64_t first = 0; first < columns; first += kBlock) {
        const Real* const b = in[1].data() + row / rows * inner * columns + first;
        const std::int64_t width = std::min(kBlock, columns - first);
        std::array<Real, kBlock> sums{};
        for (std::int64_t k = 0; k < inner; ++k)
          for (std::int64_t j = 0; j < width; ++j) sums[static_cast<std::size_t>(j)] += a[k] * b[k * columns + j];
        std::copy_n(sums.begin(), width, out[0].data() + row * columns + first);
      }
    }
  }

  /// h(a b) = sum over batches n and k of (sum over i of r^n r^i a[n,i,k]) * (sum over j of r^j b[n,k,j]).
  std::size_t reduction_length(const Params&, std::span<const Shape> in) const override {
    const Shape& a = in[0];
    return static_cast<std::size_t>(a.elements() / std::max<std::int64_t>(a[a.rank() - 2], 1));
  }
  void reduce(const Params&, std::size_t operand, std::span<const Shape> in, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    const int rank = in[0].rank();
    const std::int64_t rows = in[0][rank - 2], inner = in[0][rank - 1], columns = in[1][rank - 1];
    const auto of_row = point.powers(rank - 2), of_column = point.powers(rank - 1);
    Shape batch;
    for (int axis = 0; axis < rank - 2; ++axis) batch.append(in[0][axis]);
    const std::vector<Field> of_batch = point.weights(batch);
    for (std::size_t n = 0; n < of_batch.size(); ++n) {
      const Field* const matrix = value.data() + static_cast<std::int64_t>(n) * inner * (operand == 0 ? rows : columns);
      for (std::int64_t k = 0; k < inner; ++k) {
        SumOfProducts<Field> sum;
        if (operand == 0) {
          for (std::int64_t i = 0; i < rows; ++i) sum.add(matrix[i * inner + k], of_row[static_cast<std::size_t>(i)]);
        } else {
          for (std::int64_t j = 0; j < columns; ++j)
            sum.add(matrix[k * columns + j], of_column[static_cast<std::size_t>(j)]);
        }
        Field& to = out[n * static_cast<std::size_t>(inner) + static_cast<std::size_t>(k)];
        to = operand == 0 ? sum.value() * of_batch[n] : sum.value();
      }
    }
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    if (node.type == "Einsum") return single(Einsum::read(node, graph));
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(2));
    const auto a = graph.shape(in[0]).dims(), b = graph.shape(in[1]).dims();
    if (a.size() != b.size() || a.size() < 2 || a.size() > 4 ||
        !std::ranges::equal(a.first(a.size() - 2), b.first(b.size() - 2))) {
      return unsupported("matmul takes two tensors of rank 2 to 4 with equal batch sizes");
    }
    return graph.apply(*this, Params{}, in, node.name);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.matmul", "1.0.0", "Matrix product") { registry.add(make_operator<MatMul>()); }
