/// Two-dimensional convolution (cross-correlation), with groups and a fused activation:
///   y[n,o,i,j] = f( sum over c, s, t of
///                   x[n, g*I + c, i*stride_h - top + s*dilation_h, j*stride_w - left + t*dilation_w] * w[o,c,s,t] )
/// where g = floor(o / (O / groups)) is the group of output channel o, I = C / groups, x is 0 outside, and f is the
/// activation.
///
/// Shapes  x [N,C,H,W], w [O,C/groups,KH,KW] -> [N,O,H',W']; H' and W' as in <rewright/kit/window.h>.
/// Errors  kShape unless the ranks are 4, groups divides O, C = groups * w.1, and the kernel fits the padded input.
/// Source  ONNX operator Conv; Dumoulin & Visin, A guide to convolution arithmetic (arXiv:1603.07285).
/// Laws    axioms/convolution.smt2: without activation linear in both operands; associative with smul; merges along
///         channels.
#include <rewright/kit/convolution.h>
#include <rewright/kit/field_convolution.h>
#include <rewright/kit/real_convolution.h>
#include <rewright/plugin/plugin.h>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace {
using namespace rewright;

enum Param : std::size_t { kWindow, kDilations = 3, kGroups, kActivation };
enum Activation { kNone, kRelu, kSigmoid, kTanh };

template <class Scalar>
Scalar activate(int activation, const Scalar& sum) {
  switch (activation) {
    case kRelu: return relu(sum);
    case kSigmoid: return call(Function::kSigmoid, sum);
    case kTanh: return call(Function::kTanh, sum);
    default: return sum;
  }
}
template <class Scalar>
void activate_all(int activation, const TensorView<Scalar>& y) {
  const std::span<Scalar> elements(y.data(), static_cast<std::size_t>(y.elements()));
  if (activation == kNone) return;
  if constexpr (std::is_same_v<Scalar, Field>) {
    if (activation == kRelu) return relu_all(elements);
  }
  for (Scalar& element : elements) element = activate(activation, element);
}

class Conv2d final : public OperatorOf<Conv2d>, public HashReduction {
 public:
  static OperatorInfo describe() {
    return {.name = "conv2d",
            .summary = "Two-dimensional convolution with groups and a fused activation",
            .min_arity = 2,
            .max_arity = 2,
            .params = Window::specs({integers_param("dilations", {1, 1}), integer_param("groups", 1),
                                     choice_param("activation", {"none", "relu", "sigmoid", "tanh"})}),
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
    REWRIGHT_CHECK(check_convolution_ranks("conv2d", "O, C/groups, KH, KW", in));
    const std::int64_t groups = params.integer(kGroups);
    REWRIGHT_CHECK(check_groups("conv2d", groups, w));
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

  static void kernel(const Params& params, Inputs<Real> in, Outputs<Real> out) {
    const RealConvolution convolution(sizes(params, in[0].shape(), in[1].shape(), out[0].shape()));
    convolution.evaluate(in[0].data(), in[1].data(), out[0].data());
    activate_all(params.choice(kActivation), out[0]);
  }
  static void kernel(const Params& params, Inputs<Field> in, Outputs<Field> out) {
    const Convolution convolution = sizes(params, in[0].shape(), in[1].shape(), out[0].shape());
    if (convolution.window.strides != std::array<std::int64_t, 2>{1, 1} || out[0].elements() == 0)
      return evaluate_definition<Conv2d>(params, in, out);
    FieldConvolution(convolution).evaluate(in[0].data(), in[1].data(), out[0].data());
    activate_all(params.choice(kActivation), out[0]);
  }

  std::size_t reduction_length(const Params& params, std::span<const Shape> in) const override {
    if (params.choice(kActivation) != kNone) return 0;
    return static_cast<std::size_t>(in[0][1] * in[1][2] * in[1][3]);
  }
  void reduce(const Params& params, std::size_t operand, std::span<const Shape> in, TensorView<const Field> value,
              const HashPoint& point, std::span<Field> out) const override {
    Constraints<std::int64_t> where;
    const Shape &x = in[0], &w = in[1];
    const Window window = *Conv2d::window(params);
    const Shape y{x[0], w[0], window.output_size(0, x[2], w[2], where), window.output_size(1, x[3], w[3], where)};
    const FieldConvolution convolution({window, params.integer(kGroups), x, w, y});
    operand == 0 ? convolution.reduce_image(value, point, out) : convolution.reduce_weight(value, point, out);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    return read_convolution(*this, node, graph, [this](const OnnxNode& conv, const Shape& x, const Shape& w) {
      return params_from_onnx(conv, x, w);
    });
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

 private:
  static Convolution sizes(const Params& params, const Shape& x, const Shape& w, const Shape& y) {
    return {*window(params), params.integer(kGroups), x, w, y};
  }
  Result<Params> params_from_onnx(const OnnxNode& node, const Shape& x, const Shape& w) const {
    REWRIGHT_TRY(const Window window, window_from_onnx(node, {x[2], x[3]}, {w[2], w[3]}));
    std::vector<NamedParam> params = named_params(window);
    params.push_back({"dilations", list_of(window.dilations)});
    params.push_back({"groups", node.integer("group", 1)});
    return make_params("conv2d", info().params, params);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.conv2d", "1.0.0", "Two-dimensional convolution") { registry.add(make_operator<Conv2d>()); }
