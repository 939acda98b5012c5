/// Zeros around each kernel of a convolution weight, so that it gets a larger size; the centre tap (k - 1) / 2 (rounded
/// down) stays the centre tap:
///   v[o,i,s,t] = w[o, i, s - top, t - left] inside w, else 0, with top = floor((K - 1) / 2) - floor((k - 1) / 2).
///
/// Shapes  w [O,I,kh,kw] -> [O,I,KH,KW] for kernel = [KH,KW].
/// Errors  kShape unless the rank is 4, 1 <= kh <= KH and 1 <= kw <= KW.
/// Source  Jia et al., TASO (SOSP'19), table 2.
/// Laws    axioms/convolution.smt2: conv2d(x, enlarge(w)) = conv2d(x, w) for padding=same, dilations=[1, 1], any
///         stride.
#include <rewright/kit/window.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Enlarge final : public OperatorOf<Enlarge> {
 public:
  static OperatorInfo describe() {
    return {.name = "enlarge",
            .summary = "Zeros around the kernels of a convolution weight",
            .params = {required_param("kernel", ParamKind::kInts)},
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    std::array<std::int64_t, 2> kernel{};
    REWRIGHT_CHECK(Window::copy("enlarge", "kernel", params.integers(0), 1, kernel));
    if (in[0].rank() != 4)
      return shape_error("enlarge: the weight has rank {}, expected 4 (O, I, KH, KW)", in[0].rank());
    BasicShape<Dim> out = in[0];
    for (int axis = 2; axis < 4; ++axis) {
      const Dim size = kernel[static_cast<std::size_t>(axis - 2)];
      where.at_least(in[0][axis], Dim(1), "kernel size");
      where.at_least(size, in[0][axis], "enlarged kernel size, against the weight's");
      out[axis] = size;
    }
    return Shapes<Dim>{out};
  }

  /// Zeros before the weight along an axis.
  template <class Dim>
  static Dim before(const Dim& large, const Dim& small) {
    return floor_divide(large - Dim(1), 2) - floor_divide(small - Dim(1), 2);
  }

  template <class A>
  static void define(A& a, const Params&) {
    const auto w = a.view(0);
    const auto v = a.out(0);
    const std::array<typename A::Size, 4> zeros = {0, 0, before(v.size(2), w.size(2)), before(v.size(3), w.size(3))};
    v.is(a.padded(w, zeros, a.number(0)));
  }

  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> in_shapes, OnnxWriter& writer) const override {
    std::vector<std::int64_t> pads(8, 0);
    for (std::size_t axis = 2; axis < 4; ++axis) {
      const std::int64_t large = params.integers(0)[axis - 2], small = in_shapes[0][static_cast<int>(axis)];
      pads[axis] = before(large, small);
      pads[axis + 4] = large - small - pads[axis];
    }
    return writer.emit("Pad", {in[0], writer.integers(pads)});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.enlarge", "1.0.0", "Larger convolution kernels") { registry.add(make_operator<Enlarge>()); }
