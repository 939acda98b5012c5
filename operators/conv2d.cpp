/// Two-dimensional convolution (cross-correlation), with groups and a fused activation:
///   y[n,o,i,j] = f( sum over c, s, t of x[n, g*I + c, i*stride_h - top + s*dilation_h, j*stride_w - left +
///   t*dilation_w]
///                                      * w[o,c,s,t] )
/// where g = floor(o / (O / groups)) is the group of output channel o, I = C / groups, x is 0 outside, and f is the
/// activation.
///
/// Shapes  x [N,C,H,W], w [O,C/groups,KH,KW] -> [N,O,H',W']; H' and W' as in <rewright/kit/window.h>.
/// Errors  kShape unless the ranks are 4, groups divides O, C = groups * w.1, and the kernel fits the padded input.
/// Source  ONNX operator Conv; Dumoulin & Visin, A guide to convolution arithmetic (arXiv:1603.07285).
/// Laws    axioms/convolution.smt2: without activation linear in both operands; associative with smul; merges along
///         channels.
#include <rewright/kit/onnx_window.h>
#include <rewright/kit/window.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/correlation.h>
#include <rewright/tensor/real_product.h>
#include <rewright/tensor/strides.h>
#include <rewright/tensor/sum_of_products.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace {
using namespace rewright;

enum Param : std::size_t { kWindow, kDilations = 3, kGroups, kActivation };
enum Activation { kNone, kRelu, kSigmoid, kTanh };

/// Over Real: groups of fewer output channels are no product of matrices worth its copies.
constexpr std::int64_t kLeastRows = 4;
/// Over Real: numbers that the taps see at a time (4 MiB).
constexpr std::int64_t kMostSeen = 1 << 19;

/// Room for `count` numbers, not zeroed: on the stack if they are few.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
    if (sizeof(T) * count_ > sizeof(near_)) far_.resize(count_);
  }
  [[nodiscard]] T* data() { return far_.empty() ? reinterpret_cast<T*>(near_) : far_.data(); }
  [[nodiscard]] std::span<T> span() { return {data(), count_}; }

 private:
  std::size_t count_;
  std::vector<T> far_;
  alignas(std::uint64_t) std::byte near_[2048];
};

/// An image plane with zeros around it, as far as a window with this many output positions looks.
struct Padded {
  Padded(const Window& window, const Shape& x, const Shape& w, std::int64_t rows, std::int64_t columns)
      : height((rows - 1) * window.strides[0] + (w[2] - 1) * window.dilations[0] + 1),
        width((columns - 1) * window.strides[1] + (w[3] - 1) * window.dilations[1] + 1),
        dilations(window.dilations),
        top(window.before(0, w[2])),
        left(window.before(1, w[3])),
        image_rows(std::min(x[2], height - top)),
        image_columns(std::min(x[3], width - left)),
        image_width(x[3]) {}

  /// Where tap (s, t) of the first output position lies.
  [[nodiscard]] std::int64_t position(std::int64_t s, std::int64_t t) const {
    return s * dilations[0] * width + t * dilations[1];
  }
  /// Into `to`, which is zero elsewhere.
  void copy(const Field* image, Field* to) const {
    for (std::int64_t row = 0; row < image_rows; ++row)
      std::copy_n(image + row * image_width, std::max<std::int64_t>(image_columns, 0), to + (row + top) * width + left);
  }

  std::int64_t height, width;
  std::array<std::int64_t, 2> dilations;
  std::int64_t top, left, image_rows, image_columns, image_width;
};

template <class Scalar>
Scalar activate(int activation, const Scalar& sum) {
  switch (activation) {
    case kRelu: return relu(sum);
    case kSigmoid: return call(Function::kSigmoid, sum);
    case kTanh: return call(Function::kTanh, sum);
    default: return sum;
  }
}

class Conv2d final : public OperatorOf<Conv2d>, public HashReduction {
 public:
  static OperatorInfo describe() {
    std::vector<ParamSpec> params = Window::specs();
    params.push_back({.name = "dilations", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{1, 1}});
    params.push_back({.name = "groups", .kind = ParamKind::kInt, .default_value = std::int64_t{1}});
    params.push_back({.name = "activation",
                      .kind = ParamKind::kChoice,
                      .default_value = std::int64_t{kNone},
                      .choices = {"none", "relu", "sigmoid", "tanh"}});
    return {.name = "conv2d",
            .summary = "Two-dimensional convolution with groups and a fused activation",
            .min_arity = 2,
            .max_arity = 2,
            .params = std::move(params),
            .uses_order = true,
            .uses_functions = true,
            .onnx = {"Conv"}};
  }
  Traits traits(const Params& params) const override {
    const int activation = params.choice(kActivation);
    return {activation == kNone, activation == kRelu, activation == kSigmoid || activation == kTanh};
  }

  template <class Dim>
  static Result<Window> window(const BasicParams<Dim>& params) {
    REWRIGHT_TRY(Window window, Window::read("conv2d", params, kWindow));
    REWRIGHT_CHECK(Window::copy("conv2d", "dilations", params.integers(kDilations), 1, window.dilations));
    return window;
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const BasicShape<Dim>&x = in[0], &w = in[1];
    REWRIGHT_TRY(const Window window, Conv2d::window(params));
    if (x.rank() != 4 || w.rank() != 4) {
      return shape_error("conv2d: ranks {} and {}, expected 4 (N, C, H, W) and 4 (O, C/groups, KH, KW)", x.rank(),
                         w.rank());
    }
    const std::int64_t groups = params.integer(kGroups);
    if (groups < 1 || groups > kMaxWindowParameter)
      return shape_error("conv2d: groups is {}, expected 1 or more", groups);
    if (known(w[1]).value_or(0) > kFar / groups)
      return shape_error("conv2d: {} groups of {} channels are more than any tensor has", groups, *known(w[1]));
    for (int axis = 0; axis < 2; ++axis) {
      const std::int64_t taps = known(w[2 + axis]).value_or(0),
                         apart = window.dilations[static_cast<std::size_t>(axis)];
      if (taps > kFar / apart) return shape_error("conv2d: {} taps {} apart reach beyond any tensor", taps, apart);
    }
    where.divides(groups, w[0], "groups, against the output channels");
    where.equal(x[1], w[1] * Dim(groups), "input channels, against groups times the weight's");
    return Shapes<Dim>{
        {x[0], w[0], window.output_size(0, x[2], w[2], where), window.output_size(1, x[3], w[3], where)}};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const Window window = *Conv2d::window(params);
    const auto x = a.in(0).grouped(1, 1, 1, 1), w = a.in(1).grouped(1, 1, 1, 1);
    const auto y = a.out(0).grouped(1, 1, 1, 1);
    const auto rows = a.windows(window.axis(0, x.size(2), w.size(2)), y.size(2));
    const auto columns = a.windows(window.axis(1, x.size(3), w.size(3)), y.size(3));
    const auto per_group = floor_divide(w.size(0), params.integer(kGroups)), channels = w.size(1);
    const int activation = params.choice(kActivation);
    y.is("n o i j", [&](auto n, auto o, auto i, auto j) {
      const auto first = o / per_group * channels;
      const auto window_and_channels = over(channels, rows(i), columns(j));
      return activate(activation, a.sum("c s t", window_and_channels, [&](auto c, auto s, auto t) {
        return a.times(x(n, first + c, s.position, t.position), w(o, c, s.number, t.number));
      }));
    });
  }

  /// Over Real, as products of matrices: a group's weights, [O / groups, C / groups * KH * KW], times what each tap
  /// sees of a band of output rows.
  static void kernel(const Params& params, Inputs<Real> in, Outputs<Real> out) {
    const Shape &x = in[0].shape(), &w = in[1].shape(), &y = out[0].shape();
    const Window window = *Conv2d::window(params);
    const WindowAxis vertical = window.axis(0, x[2], w[2]), horizontal = window.axis(1, x[3], w[3]);
    const std::int64_t groups = params.integer(kGroups), per_group = w[0] / groups;
    const std::int64_t length = w[1] * w[2] * w[3], plane = y[2] * y[3];
    if (y.elements() == 0) return;
    if (per_group < kLeastRows || y.elements() * length < kLeastProduct) return by_rows(params, in, out);
    const std::int64_t band = std::clamp(kMostSeen / std::max<std::int64_t>(length * y[3], 1), std::int64_t{1}, y[2]);
    std::vector<Real> seen(static_cast<std::size_t>(length * band * y[3]));
    const std::span<Real> all(out[0].data(), static_cast<std::size_t>(y.elements()));
    std::ranges::fill(all, Real{});
    for (std::int64_t group = 0; group < x[0] * groups; ++group) {
      const Real* const image = in[0].data() + group * w[1] * x[2] * x[3];
      const Real* const weights = in[1].data() + group % groups * per_group * length;
      for (std::int64_t first = 0; first < y[2]; first += band) {
        const std::int64_t rows = std::min(band, y[2] - first), columns = rows * y[3];
        Real* to = seen.data();
        for (std::int64_t c = 0; c < w[1]; ++c)
          for (std::int64_t s = 0; s < w[2]; ++s)
            for (std::int64_t t = 0; t < w[3]; ++t)
              for (std::int64_t i = first; i < first + rows; ++i, to += y[3])
                copy_seen(image + c * x[2] * x[3], x, vertical, horizontal, {s, t}, i, {to, std::size_t(y[3])});
        add_product({weights, per_group, length, length}, {seen.data(), length, columns, columns},
                    {out[0].data() + group * per_group * plane + first * y[3], per_group, columns, plane});
      }
    }
    const int activation = params.choice(kActivation);
    if (activation == kNone) return;
    for (Real& element : all) element = activate(activation, element);
  }

  /// Over Real, a row of outputs at a time, each the sum over c, s, t in this order.
  static void by_rows(const Params& params, Inputs<Real> in, Outputs<Real> out) {
    const Shape &x = in[0].shape(), &w = in[1].shape(), &y = out[0].shape();
    const Window window = *Conv2d::window(params);
    const WindowAxis vertical = window.axis(0, x[2], w[2]), horizontal = window.axis(1, x[3], w[3]);
    const std::int64_t per_group = w[0] / params.integer(kGroups), taps = w[2] * w[3];
    Real* to = out[0].data();
    std::fill_n(to, y.elements(), Real{});
    for (std::int64_t row = 0; row < y[0] * y[1] * y[2]; ++row, to += y[3]) {
      const std::int64_t plane = row / y[2], o = plane % y[1];
      const Real* image = in[0].data() + (plane / y[1] * x[1] + o / per_group * w[1]) * x[2] * x[3];
      const Real* kernel = in[1].data() + o * w[1] * taps;
      const WindowTaps rows = vertical.taps(row % y[2]);
      for (std::int64_t c = 0; c < w[1]; ++c, image += x[2] * x[3], kernel += taps)
        for (std::int64_t s = 0; s < rows.count(); ++s)
          add_row(image + (rows.position + s * vertical.dilation) * x[3], kernel + (rows.first + s) * w[3], horizontal,
                  {to, static_cast<std::size_t>(y[3])});
    }
    const int activation = params.choice(kActivation);
    if (activation == kNone) return;
    for (Real& element : std::span(out[0].data(), static_cast<std::size_t>(y.elements())))
      element = activate(activation, element);
  }
  /// What the taps of one row of a kernel see of a row of an image.
  static void add_row(const Real* pixels, const Real* weights, const WindowAxis& axis, std::span<Real> sums) {
    for (std::int64_t t = 0; t < axis.kernel; ++t) {
      const auto [begin, end] = axis.outputs_of(t, static_cast<std::int64_t>(sums.size()));
      const std::int64_t shift = t * axis.dilation - axis.before;
      for (std::int64_t j = begin; j < end; ++j)
        sums[static_cast<std::size_t>(j)] += pixels[j * axis.stride + shift] * weights[t];
    }
  }

  /// What a tap sees of an image plane along row `i` of the outputs.
  static void copy_seen(const Real* image, const Shape& x, const WindowAxis& vertical, const WindowAxis& horizontal,
                        std::array<std::int64_t, 2> tap, std::int64_t i, std::span<Real> to) {
    std::ranges::fill(to, Real{});
    const std::int64_t row = i * vertical.stride - vertical.before + tap[0] * vertical.dilation;
    if (row < 0 || row >= x[2]) return;
    const auto [begin, end] = horizontal.outputs_of(tap[1], static_cast<std::int64_t>(to.size()));
    const Real* const pixels = image + row * x[3];
    const std::int64_t shift = tap[1] * horizontal.dilation - horizontal.before;
    for (std::int64_t j = begin; j < end; ++j) to[static_cast<std::size_t>(j)] = pixels[j * horizontal.stride + shift];
  }

  /// Over Field, stride 1: each group's image with its padding around it is one flat array, in which
  /// a tap is a shift. Its rows are longer than the result's; what is made between those is left out.
  static void kernel(const Params& params, Inputs<Field> in, Outputs<Field> out) {
    const Shape &x = in[0].shape(), &w = in[1].shape(), &y = out[0].shape();
    const Window window = *Conv2d::window(params);
    if (window.strides != std::array<std::int64_t, 2>{1, 1} || y.elements() == 0)
      return evaluate_definition<Conv2d>(params, in, out);
    const Padded padded(window, x, w, y[2], y[3]);
    const std::int64_t plane = padded.height * padded.width, taps = w[1] * w[2] * w[3];
    Scratch<Field> image(w[1] * plane), sums((y[2] - 1) * padded.width + y[3]);
    Scratch<std::uint32_t> offsets(taps);
    std::uint32_t* next = offsets.data();
    for (std::int64_t c = 0; c < w[1]; ++c) {
      for (std::int64_t s = 0; s < w[2]; ++s) {
        for (std::int64_t t = 0; t < w[3]; ++t) *next++ = static_cast<std::uint32_t>(c * plane + padded.position(s, t));
      }
    }
    std::fill_n(image.data(), w[1] * plane, Field());
    const std::int64_t groups = params.integer(kGroups), per_group = w[0] / groups;
    const int activation = params.choice(kActivation);
    for (std::int64_t group = 0; group < x[0] * groups; ++group) {
      for (std::int64_t c = 0; c < w[1]; ++c)
        padded.copy(in[0].data() + (group * w[1] + c) * x[2] * x[3], image.data() + c * plane);
      for (std::int64_t o = 0; o < per_group; ++o) {
        const Field* const weights = in[1].data() + (group % groups * per_group + o) * taps;
        correlate(image.data(), offsets.span(), std::span(weights, static_cast<std::size_t>(taps)), sums.span());
        Field* to = out[0].data() + (group * per_group + o) * y[2] * y[3];
        for (std::int64_t i = 0; i < y[2]; ++i, to += y[3]) {
          std::copy_n(sums.data() + i * padded.width, y[3], to);
        }
      }
    }
    const std::span<Field> all(out[0].data(), static_cast<std::size_t>(y.elements()));
    if (activation == kRelu) return relu_all(all);
    if (activation == kNone) return;
    for (Field& element : all) element = activate(activation, element);
  }

  /// h(conv(x, w)) = sum over input channels c and taps (s, t) of
  ///   (sum over n, i, j of r^n r^i r^j x[n, c, i * stride - before + s, ..]) * (sum over o of r^o w[o, c of group, s,
  ///   t]).
  std::size_t reduction_length(const Params& params, std::span<const Shape> in) const override {
    if (params.choice(kActivation) != kNone) return 0;
    return static_cast<std::size_t>(in[0][1] * in[1][2] * in[1][3]);
  }
  void reduce(const Params& params, std::size_t operand, std::span<const Shape> in, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    const Shape &x = in[0], &w = in[1];
    const std::int64_t taps = w[2] * w[3];
    if (operand == 1) {
      const std::int64_t per_group = w[0] / params.integer(kGroups);
      for (std::int64_t c = 0; c < x[1]; ++c) {
        const std::int64_t first = c / w[1] * per_group;
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          SumOfProducts<Field> sum;
          for (std::int64_t o = first; o < first + per_group; ++o)
            sum.add(value[(o * w[1] + c % w[1]) * taps + tap], point.powers(1)[static_cast<std::size_t>(o)]);
          out[static_cast<std::size_t>(c * taps + tap)] = sum.value();
        }
      }
      return;
    }
    // All images of a channel, padded, are one flat array, in which an output position is a shift.
    const Window window = *Conv2d::window(params);
    Constraints<std::int64_t> where;
    const std::int64_t height = window.output_size(0, x[2], w[2], where),
                       width = window.output_size(1, x[3], w[3], where);
    const Padded padded(window, x, w, height, width);
    const std::int64_t plane = padded.height * padded.width;
    Scratch<Field> images(x[0] * plane), factors(x[0] * height * width), sums(padded.position(w[2] - 1, w[3] - 1) + 1);
    Scratch<std::uint32_t> offsets(x[0] * height * width);
    std::uint32_t* next = offsets.data();
    Field* factor = factors.data();
    for (std::int64_t n = 0; n < x[0]; ++n) {
      for (std::int64_t i = 0; i < height; ++i) {
        const Field of_row =
            point.powers(0)[static_cast<std::size_t>(n)] * point.powers(2)[static_cast<std::size_t>(i)];
        for (std::int64_t j = 0; j < width; ++j) {
          *next++ =
              static_cast<std::uint32_t>(n * plane + i * window.strides[0] * padded.width + j * window.strides[1]);
          *factor++ = of_row * point.powers(3)[static_cast<std::size_t>(j)];
        }
      }
    }
    std::fill_n(images.data(), x[0] * plane, Field());
    for (std::int64_t c = 0; c < x[1]; ++c) {
      for (std::int64_t n = 0; n < x[0]; ++n)
        padded.copy(value.data() + (n * x[1] + c) * x[2] * x[3], images.data() + n * plane);
      correlate(images.data(), offsets.span(), factors.span(), sums.span());
      for (std::int64_t s = 0; s < w[2]; ++s) {
        for (std::int64_t t = 0; t < w[3]; ++t)
          out[static_cast<std::size_t>(c * taps + s * w[3] + t)] = sums.data()[padded.position(s, t)];
      }
    }
  }

  /// Conv on [N,C,H,W], and on [N,C,L] as on images of height 1; the bias becomes a bias_add.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(std::vector<Port> in, node.operands(node.has_input(2) ? 3 : 2));
    if (graph.shape(in[0]).rank() == 3 && graph.shape(in[1]).rank() == 3) {
      OnnxNode on_images = on_images_of_height_one(node);
      for (std::size_t i = 0; i < 2; ++i) {
        REWRIGHT_TRY(on_images.inputs[i], reshaped(graph, in[i], with_height_one(graph.shape(in[i]))));
      }
      REWRIGHT_TRY(const auto y, from_onnx(on_images, graph));
      REWRIGHT_TRY(const Port result, reshaped(graph, y[0], without_height(graph.shape(y[0]))));
      return std::vector{result};
    }
    const Shape x = graph.shape(in[0]), w = graph.shape(in[1]);
    if (x.rank() != 4 || w.rank() != 4) return unsupported("conv2d takes tensors of rank 4, and of rank 3");
    REWRIGHT_TRY(const Window window, window_from_onnx(node, {x[2], x[3]}, {w[2], w[3]}));
    std::vector<NamedParam> params = named_params(window);
    params.push_back({"dilations", std::vector<std::int64_t>(window.dilations.begin(), window.dilations.end())});
    params.push_back({"groups", node.integer("group", 1)});
    REWRIGHT_TRY(Params values, make_params("conv2d", info().params, params));
    REWRIGHT_TRY(const std::vector<Port> y, graph.apply(*this, std::move(values), {in[0], in[1]}, node.name));
    if (in.size() == 2) return y;
    return graph.apply("bias_add", std::vector<NamedParam>{{"axis", std::int64_t{1}}}, {y[0], in[2]});
  }

  /// Conv with explicit pads, then the activation.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> in_shapes, OnnxWriter& writer) const override {
    REWRIGHT_TRY(const Window window, Conv2d::window(params));
    auto attributes = onnx_attributes(window, in_shapes[1][2], in_shapes[1][3]);
    attributes["dilations"] = params.integers(kDilations);
    attributes["group"] = params.integer(kGroups);
    const std::vector<std::string> y = writer.emit("Conv", {in[0], in[1]}, std::move(attributes));
    static constexpr std::array<const char*, 4> kTypes = {nullptr, "Relu", "Sigmoid", "Tanh"};
    const char* activation = kTypes[static_cast<std::size_t>(params.choice(kActivation))];
    return activation == nullptr ? y : writer.emit(activation, y);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.conv2d", "1.0.0", "Two-dimensional convolution") { registry.add(make_operator<Conv2d>()); }
