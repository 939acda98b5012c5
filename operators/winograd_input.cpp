/// Tiles of an image, as Winograd's convolution multiplies them: element (a, b) of a tile of m + 2 rows and columns is
///   v[a, b, n, i, j, c] = sum over s, t of B[a][s] * B[b][t] * x[n, c, m*i + s, m*j + t]
/// where B is that of <rewright/kit/winograd.h>.
///
/// Shapes  x [N,C,m*I+2,m*J+2] -> [m+2,m+2,N,I,J,C]
/// Errors  kShape unless m is 2 or 4, the rank is 4, and the sizes are whole tiles.
/// Source  Lavin & Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
/// Laws    axioms/algorithms.smt2: with winograd_weight, products and winograd_output a convolution.
#include <rewright/kit/winograd.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/definition.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class WinogradInput final : public OperatorOf<WinogradInput> {
 public:
  static OperatorInfo describe() {
    return {.name = "winograd_input",
            .summary = "Tiles of an image, transformed for Winograd's convolution",
            .params = {integer_param("outputs", 4)},
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const auto matrices, WinogradMatrices::of("winograd_input", params.integer(0)));
    const BasicShape<Dim>& x = in[0];
    if (x.rank() != 4) return shape_error("winograd_input: the image has rank {}, expected 4 (N, C, H, W)", x.rank());
    const std::int64_t m = matrices.outputs(), edge = WinogradMatrices::kTaps - 1;
    for (const int axis : {2, 3}) {
      where.at_least(x[axis], Dim(matrices.size()), "rows and columns of a tile");
      where.divides(m, x[axis] - Dim(edge), "outputs of a tile, against the image without its edge");
    }
    return Shapes<Dim>{{Dim(matrices.size()), Dim(matrices.size()), x[0], floor_divide(x[2] - Dim(edge), m),
                        floor_divide(x[3] - Dim(edge), m), x[1]}};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const auto matrices = *WinogradMatrices::of("winograd_input", params.integer(0));
    const std::int64_t m = matrices.outputs(), size = matrices.size();
    const auto x = a.in(0).grouped(1, 1, 1, 1);
    const auto v = a.out(0).grouped(1, 1, 1, 1, 1, 1);
    const auto rows = a.stage("rows", typename A::Size(size), x.size(0), v.size(3), x.size(3), x.size(1));
    for (std::int64_t r = 0; r < size; ++r) {
      rows.at(r).is("n i t c", [&](auto n, auto i, auto t, auto c) {
        return winograd_sum(a, matrices.data(r), [&](std::int64_t s) { return x(n, c, i * m + s, t); });
      });
    }
    const auto done = rows.read();
    for (std::int64_t r = 0; r < size; ++r) {
      for (std::int64_t column = 0; column < size; ++column) {
        v.at(r).at(column).is("n i j c", [&](auto n, auto i, auto j, auto c) {
          return winograd_sum(a, matrices.data(column), [&](std::int64_t t) { return done(r, n, i, j * m + t, c); });
        });
      }
    }
  }

  /// Tiles along rows and columns are products with matrices of blocks.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    const auto matrices = *WinogradMatrices::of("winograd_input", params.integer(0));
    const std::int64_t m = matrices.outputs(), size = matrices.size();
    const Shape& x = shapes[0];
    const std::int64_t down = (x[2] - size) / m + 1, right = (x[3] - size) / m + 1;
    const auto blocks = [&](std::int64_t tiles, std::int64_t columns) {
      return winograd_blocks(
          tiles, size, m, columns, [&](std::int64_t a) { return matrices.data(a); }, [](std::int64_t) { return 1; });
    };
    const auto rows = writer.emit("MatMul", {writer.constant(constant_of(blocks(down, x[2]))), in[0]});
    const auto both = writer.emit("MatMul", {rows[0], writer.constant(constant_of(turned(blocks(right, x[3]))))});
    const auto tiles = writer.emit(
        "Reshape", {both[0], writer.integers(std::vector<std::int64_t>{x[0], x[1], down, size, right, size})});
    return writer.emit("Transpose", {tiles[0]}, {{"perm", std::vector<std::int64_t>{3, 5, 0, 2, 4, 1}}});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.winograd_input", "1.0.0", "Tiles of an image for Winograd's convolution") {
  registry.add(make_operator<WinogradInput>());
}
