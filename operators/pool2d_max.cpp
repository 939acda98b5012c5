/// Max pooling: y[n,c,i,j] = the greatest of x[n, c, i*stride_h - top + s, j*stride_w - left + t] over the taps (s, t)
/// of the kernel that lie inside x. Padding is never the greatest, as if it were minus infinity.
///
/// Shapes  x [N,C,H,W] -> [N,C,H',W']; H' and W' as in <rewright/kit/window.h>.
/// Errors  kShape unless the rank is 4, the kernel fits the padded input and explicit pads are smaller than the kernel.
/// Source  ONNX operator MaxPool.
/// Laws    axioms/convolution.smt2: goes through concat on channels and through relu.
#include <rewright/kit/onnx_window.h>
#include <rewright/kit/window.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <array>

namespace {
using namespace rewright;

constexpr std::int64_t kMostElements = 512;  ///< Of the field's kernel: on the stack.

class MaxPool2d final : public OperatorOf<MaxPool2d> {
 public:
  static OperatorInfo describe() {
    return {.name = "pool2d_max",
            .summary = "Max pooling over height and width",
            .params = Pooling::specs(),
            .uses_order = true,
            .onnx = {"MaxPool"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const Pooling pooling, Pooling::read("pool2d_max", params));
    return pooling.shape("pool2d_max", in[0], where);
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const Pooling pooling = *Pooling::read("pool2d_max", params);
    const auto x = a.in(0).grouped(2, 1, 1);
    const auto y = a.out(0).grouped(2, 1, 1);
    const auto rows = a.windows(pooling.axis(0, x.size(1)), y.size(1));
    const auto columns = a.windows(pooling.axis(1, x.size(2)), y.size(2));
    y.is("n i j", [&](auto n, auto i, auto j) {
      return a.greatest("s t", over(rows(i), columns(j)), [&](auto s, auto t) { return x(n, s.position, t.position); });
    });
  }

  /// Over Field: n of n / 36^4 is found once an element, the greatest of a row once a column.
  static void kernel(const Params& params, Inputs<Field> in, Outputs<Field> out) {
    const Shape &x = in[0].shape(), &y = out[0].shape();
    if (x[2] * x[3] > kMostElements || x[2] * y[3] > kMostElements)
      return evaluate_definition<MaxPool2d>(params, in, out);
    const Pooling pooling = *Pooling::read("pool2d_max", params);
    const WindowAxis vertical = pooling.axis(0, x[2]), horizontal = pooling.axis(1, x[3]);
    static const Field kUnit = Field::from_integer(Field::kOrderDenominator).inverse();
    std::array<std::int64_t, kMostElements> numbers, of_rows;
    const Field* from = in[0].data();
    Field* to = out[0].data();
    for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane) {
      for (std::int64_t i = 0; i < x[2] * x[3]; ++i) numbers[static_cast<std::size_t>(i)] = (from++)->order();
      for (std::int64_t j = 0; j < y[3]; ++j) {
        const WindowTaps taps = horizontal.taps(j);
        for (std::int64_t row = 0; row < x[2]; ++row) {
          const auto first = numbers.begin() + row * x[3] + taps.position;
          of_rows[static_cast<std::size_t>(row * y[3] + j)] = *std::max_element(first, first + taps.count());
        }
      }
      for (std::int64_t i = 0; i < y[2]; ++i) {
        const WindowTaps taps = vertical.taps(i);
        for (std::int64_t j = 0; j < y[3]; ++j) {
          const std::int64_t* greatest = of_rows.data() + taps.position * y[3] + j;
          std::int64_t value = *greatest;
          for (std::int64_t s = 1; s < taps.count(); ++s) value = std::max(value, greatest[s * y[3]]);
          *to++ = Field::from_integer(value) * kUnit;
        }
      }
    }
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(1));
    if (const Shape& x = graph.shape(in[0]); x.rank() == 3) {
      OnnxNode on_images = on_images_of_height_one(node);
      REWRIGHT_TRY(on_images.inputs[0], reshaped(graph, in[0], with_height_one(x)));
      REWRIGHT_TRY(const auto y, from_onnx(on_images, graph));
      REWRIGHT_TRY(const Port result, reshaped(graph, y[0], without_height(graph.shape(y[0]))));
      return std::vector{result};
    }
    REWRIGHT_TRY(const Pooling pooling, pooling_from_onnx(node, graph.shape(in[0])));
    REWRIGHT_TRY(Params params, make_params("pool2d_max", info().params, named_params(pooling)));
    return graph.apply(*this, std::move(params), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    REWRIGHT_TRY(const Pooling pooling, Pooling::read("pool2d_max", params));
    return writer.emit("MaxPool", {in[0]}, onnx_attributes(pooling.window, pooling.kernel[0], pooling.kernel[1]));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.pool2d_max", "1.0.0", "Max pooling") { registry.add(make_operator<MaxPool2d>()); }
