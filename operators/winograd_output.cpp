/// An image of tiles that Winograd's convolution has multiplied: output (p, q) of m by m of a tile is
///   y[n, o, m*i + p, m*j + q] = sum over a, b of A[p][a] * A[q][b] * z[a, b, n, i, j, o]
/// where A is that of <rewright/kit/winograd.h>.
///
/// Shapes  z [m+2,m+2,N,I,J,O] -> [N,O,m*I,m*J]
/// Errors  kShape unless m is 2 or 4, the rank is 6, and a tile has m + 2 rows and columns.
/// Source  Lavin & Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
/// Laws    axioms/algorithms.smt2.
#include <rewright/kit/winograd.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/definition.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class WinogradOutput final : public OperatorOf<WinogradOutput> {
 public:
  static OperatorInfo describe() {
    return {.name = "winograd_output",
            .summary = "An image of the tiles of Winograd's convolution",
            .params = {integer_param("outputs", 4)},
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const auto matrices, WinogradMatrices::of("winograd_output", params.integer(0)));
    const BasicShape<Dim>& z = in[0];
    if (z.rank() != 6) return shape_error("winograd_output: the tiles have rank {}, expected 6", z.rank());
    for (const int axis : {0, 1}) where.equal(z[axis], Dim(matrices.size()), "rows and columns of a tile");
    const Dim m = Dim(matrices.outputs());
    return Shapes<Dim>{{z[2], z[5], z[3] * m, z[4] * m}};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const auto matrices = *WinogradMatrices::of("winograd_output", params.integer(0));
    const std::int64_t m = matrices.outputs(), size = matrices.size();
    const auto z = a.in(0).grouped(1, 1, 1, 1, 1, 1);
    const auto columns =
        a.stage("columns", typename A::Size(m), typename A::Size(size), z.size(2), z.size(3), z.size(4), z.size(5));
    for (std::int64_t p = 0; p < m; ++p) {
      for (std::int64_t column = 0; column < size; ++column) {
        columns.at(p).at(column).is("n i j o", [&](auto n, auto i, auto j, auto o) {
          return winograd_sum(a, matrices.result(p), [&](std::int64_t r) { return z(r, column, n, i, j, o); });
        });
      }
    }
    const auto half = columns.read();
    const auto tiles =
        a.stage("tiles", typename A::Size(m), typename A::Size(m), z.size(2), z.size(3), z.size(4), z.size(5));
    for (std::int64_t p = 0; p < m; ++p) {
      for (std::int64_t q = 0; q < m; ++q) {
        tiles.at(p).at(q).is("n i j o", [&](auto n, auto i, auto j, auto o) {
          return winograd_sum(a, matrices.result(q), [&](std::int64_t column) { return half(p, column, n, i, j, o); });
        });
      }
    }
    const auto whole = tiles.read();
    a.out(0).grouped(1, 1, 1, 1).is("n o h w", [&](auto n, auto o, auto h, auto w) {
      return whole(h % m, w % m, n, h / m, w / m, o);
    });
  }

  /// Tiles along rows and columns are products with matrices of blocks.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    const auto matrices = *WinogradMatrices::of("winograd_output", params.integer(0));
    const std::int64_t m = matrices.outputs(), size = matrices.size();
    const Shape& z = shapes[0];
    const auto blocks = [&](std::int64_t tiles) {
      return winograd_blocks(
          tiles, m, size, tiles * size, [&](std::int64_t p) { return matrices.result(p); },
          [](std::int64_t) { return 1; });
    };
    const auto order = writer.emit("Transpose", {in[0]}, {{"perm", std::vector<std::int64_t>{2, 5, 3, 0, 4, 1}}});
    const auto tiles = writer.emit(
        "Reshape", {order[0], writer.integers(std::vector<std::int64_t>{z[2], z[5], z[3] * size, z[4] * size})});
    const auto rows = writer.emit("MatMul", {writer.constant(constant_of(blocks(z[3]))), tiles[0]});
    return writer.emit("MatMul", {rows[0], writer.constant(constant_of(turned(blocks(z[4]))))});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.winograd_output", "1.0.0", "An image of the tiles of Winograd's convolution") {
  registry.add(make_operator<WinogradOutput>());
}
