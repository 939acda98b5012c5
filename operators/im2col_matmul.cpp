/// The product of filters with the windows of an image that im2col makes:
///   y[n, o, i, j] = sum over c, s, t of v[n, c, s, t, i, j] * w[o, c, s, t]
/// which is a product of matrices [O, C*KH*KW] and [C*KH*KW, H'*W'] for each n.
///
/// Shapes  v [N,C,KH,KW,H',W'], w [O,C,KH,KW] -> [N,O,H',W']
/// Errors  kShape unless the ranks are 6 and 4 and the sizes of channels and taps agree.
/// Source  Chellapilla, Puri & Simard, High Performance Convolutional Neural Networks for Document Processing, 2006.
/// Laws    axioms/algorithms.smt2: of im2col's windows it is a convolution.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/definition.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Im2colMatmul final : public OperatorOf<Im2colMatmul> {
 public:
  static OperatorInfo describe() {
    return {.name = "im2col_matmul",
            .summary = "Filters times the windows of an image",
            .min_arity = 2,
            .max_arity = 2,
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const BasicShape<Dim>&v = in[0], &w = in[1];
    if (v.rank() != 6 || w.rank() != 4)
      return shape_error("im2col_matmul: ranks {} and {}, expected 6 (N, C, KH, KW, H, W) and 4 (O, C, KH, KW)",
                         v.rank(), w.rank());
    for (int axis = 1; axis < 4; ++axis) where.equal(v[axis], w[axis], "channels and taps of windows and filters");
    return Shapes<Dim>{{v[0], w[0], v[4], v[5]}};
  }

  template <class A>
  static void define(A& a, const Params&) {
    const auto v = a.in(0).grouped(1, 3, 1, 1);
    const auto w = a.in(1).grouped(1, 3);
    a.out(0).grouped(1, 1, 1, 1).is("n o i j", [&](auto n, auto o, auto i, auto j) {
      return a.sum("c s t", over(w.extent(1)), [&](auto tap) { return a.times(v(n, tap, i, j), w(o, tap)); });
    });
  }

  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    using Sizes = std::vector<std::int64_t>;
    const Shape &v = shapes[0], &w = shapes[1];
    const std::int64_t taps = w[1] * w[2] * w[3];
    const auto windows = writer.emit("Reshape", {in[0], writer.integers(Sizes{v[0], taps, v[4] * v[5]})});
    const auto filters = writer.emit("Reshape", {in[1], writer.integers(Sizes{w[0], taps})});
    const auto products = writer.emit("MatMul", {filters[0], windows[0]});
    return writer.emit("Reshape", {products[0], writer.integers(Sizes{v[0], w[0], v[4], v[5]})});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.im2col_matmul", "1.0.0", "Filters times windows") {
  registry.add(make_operator<Im2colMatmul>());
}
