/// Transposed two-dimensional convolution with groups, the adjoint of conv2d in x:
///   y[n,o,i,j] = sum over c, s, t of w[g*I + c, o - g*O, s, t] *
///                x[n, g*I + c, (i + top - s*dilation_h) / stride_h, (j + left - t*dilation_w) / stride_w]
/// over those s and t for which the quotients are whole and inside of x, where O = w.1 is the number of output channels
/// of a group, I = C / groups that of input channels, and g = floor(o / O).
///
/// Shapes  x [N,C,H,W], w [C,O,KH,KW] -> [N,groups*O,H',W'],
///         H' = (H - 1) * stride_h + (KH - 1) * dilation_h + 1 - top - bottom + extra_h; pads are top, left, bottom,
///         right.
/// Errors  kShape unless the ranks are 4, groups divides C, which is w.0, and every size is 1 or more.
/// Source  ONNX operator ConvTranspose; Dumoulin & Visin, A guide to convolution arithmetic (arXiv:1603.07285), 4.
/// Laws    axioms/decoder.smt2.
#include <rewright/kit/convolution.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

enum Param : std::size_t { kStrides, kPads, kDilations, kExtra, kGroups };

class ConvTranspose2d final : public OperatorOf<ConvTranspose2d> {
 public:
  static OperatorInfo describe() {
    return {
        .name = "conv_transpose2d",
        .summary = "Transposed two-dimensional convolution with groups",
        .min_arity = 2,
        .max_arity = 2,
        .params = {integers_param("strides", {1, 1}), integers_param("pads", {0, 0, 0, 0}),
                   integers_param("dilations", {1, 1}), integers_param("extra", {0, 0}), integer_param("groups", 1)},
        .multilinear = true,
        .onnx = {"ConvTranspose"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const BasicShape<Dim>&x = in[0], &w = in[1];
    REWRIGHT_CHECK(check_convolution_ranks("conv_transpose2d", "C, O, KH, KW", in));
    REWRIGHT_TRY(const Steps steps, Steps::read(params));
    const std::int64_t groups = params.integer(kGroups);
    REWRIGHT_CHECK(check_groups("conv_transpose2d", groups, w));
    where.equal(x[1], w[0], "channels of x and of the weight");
    where.divides(groups, x[1], "groups, against the input channels");
    BasicShape<Dim> out{x[0], w[1] * Dim(groups)};
    for (std::size_t a = 0; a < 2; ++a) {
      const int axis = 2 + static_cast<int>(a);
      if (known(x[axis]).value_or(0) > kFar / steps.strides[a] ||
          known(w[axis]).value_or(0) > kFar / steps.dilations[a])
        return shape_error("conv_transpose2d: the result is larger than any tensor");
      where.at_least(x[axis], Dim(1), "input size");
      where.at_least(w[axis], Dim(1), "kernel size");
      const Dim whole = (x[axis] - Dim(1)) * Dim(steps.strides[a]) + (w[axis] - Dim(1)) * Dim(steps.dilations[a]);
      out.append(whole + Dim(1 + steps.extra[a] - steps.pads[a] - steps.pads[a + 2]));
      where.at_least(out[axis], Dim(1), "output size");
    }
    return Shapes<Dim>{std::move(out)};
  }

  /// An output position o is of tap s and input position p where o + before = p * stride + s * dilation. What is
  /// divided is shifted by whole strides, so that it is never negative, and p taken modulo the size, so that it exists.
  template <class A>
  static void define(A& a, const Params& params) {
    const Steps steps = *Steps::read(params);
    const auto x = a.in(0).grouped(1, 1, 1, 1), w = a.in(1).grouped(1, 1, 1, 1);
    const auto y = a.out(0).grouped(1, 1, 1, 1);
    const typename A::Size per_group = w.size(1), channels = floor_divide(x.size(1), params.integer(kGroups));
    const auto zero = a.number(std::int64_t{0});
    const auto shift = [&](std::size_t axis) { return w.size(2 + axis) * steps.dilations[axis]; };  // In strides.
    const auto position = [&](std::size_t axis, auto o, auto tap) {
      const std::int64_t stride = steps.strides[axis];
      return o + steps.pads[axis] - tap * steps.dilations[axis] + shift(axis) * stride;
    };
    const auto is_inside = [&](std::size_t axis, auto at) {
      const std::int64_t stride = steps.strides[axis];
      return at % stride == 0 && shift(axis) <= at / stride && at / stride < shift(axis) + x.size(2 + axis);
    };
    const auto pixel = [&](std::size_t axis, auto at) {
      const auto size = x.size(2 + axis);
      return (at / steps.strides[axis] + shift(axis) * (size - 1)) % size;
    };
    y.is("n o i j", [&](auto n, auto o, auto i, auto j) {
      const auto first = o / per_group * channels;
      return a.sum("c s t", over(channels, w.size(2), w.size(3)), [&](auto c, auto s, auto t) {
        const auto row = position(0, i, s), column = position(1, j, t);
        const auto seen = x(n, first + c, pixel(0, row), pixel(1, column));
        return a.times(a.select(is_inside(0, row) && is_inside(1, column), seen, zero),
                       w(first + c, o % per_group, s, t));
      });
    });
  }
  /// By scattering: each tap of each pixel is added to where it belongs.
  static void kernel(const Params& params, Inputs<Real> in, Outputs<Real> out) {
    const Steps steps = *Steps::read(params);
    const Shape &x = in[0].shape(), &w = in[1].shape(), &y = out[0].shape();
    const std::int64_t channels = x[1] / params.integer(kGroups);
    std::fill_n(out[0].data(), y.elements(), Real{});
    for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane) {
      const std::int64_t n = plane / x[1], c = plane % x[1];
      for (std::int64_t o = 0; o < w[1]; ++o) {
        const Real* const weights = in[1].data() + (c * w[1] + o) * w[2] * w[3];
        Real* const to = out[0].data() + (n * y[1] + c / channels * w[1] + o) * y[2] * y[3];
        for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
          const std::int64_t down = tap / w[3] * steps.dilations[0] - steps.pads[0];
          const std::int64_t right = tap % w[3] * steps.dilations[1] - steps.pads[1];
          add_plane(in[0].data() + plane * x[2] * x[3], x, weights[tap], down, right, steps, {to, y[2], y[3]});
        }
      }
    }
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    return read_convolution(*this, node, graph, params_from_onnx);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    return writer.emit("ConvTranspose", {in[0], in[1]},
                       {{"strides", params.integers(kStrides)},
                        {"pads", params.integers(kPads)},
                        {"dilations", params.integers(kDilations)},
                        {"output_padding", params.integers(kExtra)},
                        {"group", params.integer(kGroups)},
                        {"kernel_shape", std::vector<std::int64_t>{shapes[1][2], shapes[1][3]}}});
  }

 private:
  struct Steps {
    std::array<std::int64_t, 2> strides, dilations, extra;
    std::array<std::int64_t, 4> pads;
    /// Errors: kShape, wrong lengths or values. `extra` below the stride is what no other size of x would give.
    template <class Dim>
    static Result<Steps> read(const BasicParams<Dim>& params) {
      Steps steps;
      const char* const op = "conv_transpose2d";
      REWRIGHT_CHECK(Window::copy(op, "strides", params.integers(kStrides), 1, steps.strides));
      REWRIGHT_CHECK(Window::copy(op, "pads", params.integers(kPads), 0, steps.pads));
      REWRIGHT_CHECK(Window::copy(op, "dilations", params.integers(kDilations), 1, steps.dilations));
      REWRIGHT_CHECK(Window::copy(op, "extra", params.integers(kExtra), 0, steps.extra));
      for (std::size_t a = 0; a < 2; ++a)
        if (steps.extra[a] >= steps.strides[a])
          return shape_error("conv_transpose2d: extra [{}] is not below the strides", fmt::join(steps.extra, ", "));
      return steps;
    }
  };
  struct Plane {
    Real* data;
    std::int64_t height, width;
  };
  static void add_plane(const Real* from, const Shape& x, Real weight, std::int64_t down, std::int64_t right,
                        const Steps& steps, const Plane& to) {
    for (std::int64_t row = 0; row < x[2]; ++row) {
      const std::int64_t i = row * steps.strides[0] + down;
      if (i < 0 || i >= to.height) continue;
      for (std::int64_t column = 0; column < x[3]; ++column) {
        const std::int64_t j = column * steps.strides[1] + right;
        if (0 <= j && j < to.width) to.data[i * to.width + j] += from[row * x[3] + column] * weight;
      }
    }
  }

  static Result<Params> params_from_onnx(const OnnxNode& node, const Shape& x, const Shape& w) {
    REWRIGHT_TRY(const Steps steps, steps_of(node, x, w));
    return Params({list_of(steps.strides), list_of(steps.pads), list_of(steps.dilations), list_of(steps.extra),
                   node.integer("group", 1)});
  }
  /// The node's attributes, with the pads that auto_pad or output_shape ask for.
  static Result<Steps> steps_of(const OnnxNode& node, const Shape& x, const Shape& w) {
    Steps steps;
    if (!copy_attribute(node, "strides", 1, 1, steps.strides) ||
        !copy_attribute(node, "dilations", 1, 1, steps.dilations) ||
        !copy_attribute(node, "output_padding", 0, 0, steps.extra) || !copy_attribute(node, "pads", 0, 0, steps.pads))
      return unsupported("ConvTranspose: only two strides, dilations and paddings are handled");
    if (steps.extra[0] >= steps.strides[0] || steps.extra[1] >= steps.strides[1])
      return unsupported("ConvTranspose: output_padding is not below the strides");
    const std::string automatic = node.text("auto_pad", "NOTSET");
    const auto wanted = node.integers("output_shape", {});
    if (wanted.empty() && automatic == "NOTSET") return steps;
    if (automatic == "VALID") {
      steps.pads = {0, 0, 0, 0};
      return steps;
    }
    if (!wanted.empty() && wanted.size() != 2)
      return unsupported("ConvTranspose: output_shape has {} sizes", wanted.size());
    for (std::size_t a = 0; a < 2; ++a) {
      const int axis = 2 + static_cast<int>(a);
      const std::int64_t size = wanted.empty() ? x[axis] * steps.strides[a] : wanted[a];
      const std::int64_t whole =
          (x[axis] - 1) * steps.strides[a] + (w[axis] - 1) * steps.dilations[a] + 1 + steps.extra[a];
      if (whole < size) return unsupported("ConvTranspose: an output of {} is larger than what is computed", size);
      const std::int64_t cut = whole - size, less = cut / 2, more = cut - less;
      steps.pads[a] = automatic == "SAME_UPPER" ? less : more;
      steps.pads[a + 2] = cut - steps.pads[a];
    }
    return steps;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.conv_transpose2d", "1.0.0", "Transposed two-dimensional convolution") {
  registry.add(make_operator<ConvTranspose2d>());
}
