/// Windows of an image, each element beside the others: y[n, c, s, t, i, j] = x[n, c, i*sh + s*dh, j*sw + t*dw] for the
/// taps (s, t) of a kernel, so that a convolution is one product of matrices.
///
/// Shapes  x [N,C,H,W] -> [N,C,KH,KW,H',W'], the sizes of a kernel and of what comes out of a convolution without zeros
///         around x.
/// Errors  kShape unless the rank is 4 and the kernel fits the image.
/// Source  Chellapilla, Puri & Simard, High Performance Convolutional Neural Networks for Document Processing, 2006.
/// Laws    axioms/algorithms.smt2: with a product a convolution.
#include <rewright/kit/window.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/definition.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

/// Rows and columns of the parameters.
struct Steps {
  std::array<std::int64_t, 2> strides, dilations;
  template <class Dim>
  static Result<Steps> read(const BasicParams<Dim>& params) {
    Steps steps{};
    REWRIGHT_CHECK(Window::copy("im2col", "strides", params.integers(1), 1, steps.strides));
    REWRIGHT_CHECK(Window::copy("im2col", "dilations", params.integers(2), 1, steps.dilations));
    return steps;
  }
};

class Im2col final : public OperatorOf<Im2col> {
 public:
  static OperatorInfo describe() {
    return {.name = "im2col",
            .summary = "Windows of an image, for a product of matrices",
            .params = {required_param("kernel", ParamKind::kSizes), integers_param("strides", {1, 1}),
                       integers_param("dilations", {1, 1})},
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const Steps steps, Steps::read(params));
    const BasicShape<Dim>& x = in[0];
    if (x.rank() != 4) return shape_error("im2col: the image has rank {}, expected 4 (N, C, H, W)", x.rank());
    const auto& kernel = params.sizes(0);
    if (kernel.size() != 2) return shape_error("im2col: kernel has {} sizes, expected 2", kernel.size());
    BasicShape<Dim> y{x[0], x[1], kernel[0], kernel[1]};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const Dim& size = x[2 + static_cast<int>(axis)];
      where.at_least(kernel[axis], Dim(1), "taps of the kernel");
      const Dim reach = (kernel[axis] - Dim(1)) * Dim(steps.dilations[axis]);
      where.at_least(size, reach + Dim(1), "the image, against its kernel");
      y.append(floor_divide(size - reach - Dim(1), steps.strides[axis]) + Dim(1));
    }
    return Shapes<Dim>{std::move(y)};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const Steps steps = *Steps::read(params);
    const auto x = a.in(0).grouped(1, 1, 1, 1);
    a.out(0).grouped(1, 1, 1, 1, 1, 1).is("n c s t i j", [&](auto n, auto c, auto s, auto t, auto i, auto j) {
      return x(n, c, i * steps.strides[0] + s * steps.dilations[0], j * steps.strides[1] + t * steps.dilations[1]);
    });
  }

  /// A convolution whose filters are 1 at one tap, with a group for each channel.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    const Shape& x = shapes[0];
    const Steps steps = *Steps::read(params);
    const std::int64_t rows = params.sizes(0)[0], columns = params.sizes(0)[1], taps = rows * columns;
    Tensor<Real> filters({x[1] * taps, 1, rows, columns});
    for (std::int64_t filter = 0; filter < x[1] * taps; ++filter)
      filters.values()[static_cast<std::size_t>(filter * taps + filter % taps)] = Real(1);
    const std::string weight = writer.constant(constant_of(filters));
    const auto windows =
        writer.emit("Conv", {in[0], weight},
                    {{"group", x[1]}, {"strides", list_of(steps.strides)}, {"dilations", list_of(steps.dilations)}});
    const auto size = [&](std::size_t axis, std::int64_t kernel) {
      return (x[2 + static_cast<int>(axis)] - (kernel - 1) * steps.dilations[axis] - 1) / steps.strides[axis] + 1;
    };
    return writer.emit("Reshape", {windows[0], writer.integers(std::vector<std::int64_t>{
                                                   x[0], x[1], rows, columns, size(0, rows), size(1, columns)})});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.im2col", "1.0.0", "Windows of an image") { registry.add(make_operator<Im2col>()); }
