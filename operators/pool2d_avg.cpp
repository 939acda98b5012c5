/// Average pooling: y[n,c,i,j] = (sum of x[n, c, i*stride_h - top + s, j*stride_w - left + t] over the taps (s, t) of
/// the kernel that lie inside x) / d, where d is the number of taps of the kernel (count_include_pad=yes, so padding
/// counts as zeros) or of those taps alone (no).
///
/// Shapes  x [N,C,H,W] -> [N,C,H',W']; H' and W' as in <rewright/kit/window.h>.
/// Errors  kShape unless the rank is 4, the kernel fits the padded input and explicit pads are smaller than the kernel.
/// Source  ONNX operator AveragePool (whose default is `no`).
/// Laws    axioms/convolution.smt2: linear; with `yes` it is the convolution with constant_pool.
#include <rewright/kit/onnx_window.h>
#include <rewright/kit/window.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/sum_of_products.h>

namespace {
using namespace rewright;

constexpr std::size_t kCountIncludePad = 4;
enum CountIncludePad { kYes, kNo };

class AveragePool2d final : public OperatorOf<AveragePool2d> {
 public:
  static OperatorInfo describe() {
    std::vector<ParamSpec> params = Pooling::specs();
    params.push_back({.name = "count_include_pad", .kind = ParamKind::kChoice, .choices = {"yes", "no"}});
    return {.name = "pool2d_avg",
            .summary = "Average pooling over height and width",
            .params = std::move(params),
            .multilinear = true,
            .onnx = {"AveragePool"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const Pooling pooling, Pooling::read("pool2d_avg", params));
    return pooling.shape("pool2d_avg", in[0], where);
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const Pooling pooling = *Pooling::read("pool2d_avg", params);
    const auto x = a.in(0).grouped(2, 1, 1);
    const auto y = a.out(0).grouped(2, 1, 1);
    const auto rows = a.windows(pooling.axis(0, x.size(1)), y.size(1));
    const auto columns = a.windows(pooling.axis(1, x.size(2)), y.size(2));
    const bool whole = params.choice(kCountIncludePad) == kYes;
    y.is("n i j", [&](auto n, auto i, auto j) {
      const auto window = over(rows(i), columns(j));
      const auto sum = a.sum("s t", window, [&](auto s, auto t) { return x(n, s.position, t.position); });
      return whole ? a.quotient(sum, pooling.kernel[0] * pooling.kernel[1]) : a.quotient(sum, a.count(window));
    });
  }

  /// Over Field and Real, with the taps of every row and column found once.
  template <class Scalar>
  requires(std::is_same_v<Scalar, Field> || std::is_same_v<Scalar, Real>) static void kernel(const Params& params,
                                                                                             Inputs<Scalar> in,
                                                                                             Outputs<Scalar> out) {
    const Shape &x = in[0].shape(), &y = out[0].shape();
    const Pooling pooling = *Pooling::read("pool2d_avg", params);
    const auto all_rows = all_taps(pooling.axis(0, x[2]), y[2]), all_columns = all_taps(pooling.axis(1, x[3]), y[3]);
    const bool whole = params.choice(kCountIncludePad) == kYes;
    Quotients<Scalar> quotients;
    Scalar* to = out[0].data();
    for (std::int64_t plane = 0; plane < y[0] * y[1]; ++plane) {
      for (const WindowTaps& rows : all_rows) {
        for (const WindowTaps& columns : all_columns) {
          const Scalar* corner = in[0].data() + (plane * x[2] + rows.position) * x[3] + columns.position;
          Scalar sum{};
          for (std::int64_t s = 0; s < rows.count(); ++s) {
            for (std::int64_t t = 0; t < columns.count(); ++t) sum += corner[s * x[3] + t];
          }
          const std::int64_t taps = whole ? pooling.kernel[0] * pooling.kernel[1] : rows.count() * columns.count();
          *to++ = quotients(sum, taps);
        }
      }
    }
  }
  /// Those of output positions 0 .. outputs - 1.
  static std::vector<WindowTaps> all_taps(const WindowAxis& axis, std::int64_t outputs) {
    std::vector<WindowTaps> all;
    all.reserve(static_cast<std::size_t>(outputs));
    for (std::int64_t output = 0; output < outputs; ++output) all.push_back(axis.taps(output));
    return all;
  }

  /// Without padding both ways of counting are the same: `yes` then.
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
    const auto pads = pooling.window.explicit_pads(pooling.kernel[0], pooling.kernel[1]);
    const bool padded = std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
    std::vector<NamedParam> params = named_params(pooling);
    const CountIncludePad count = padded && node.integer("count_include_pad", 0) == 0 ? kNo : kYes;
    params.push_back({"count_include_pad", std::int64_t{count}});
    REWRIGHT_TRY(Params values, make_params("pool2d_avg", info().params, params));
    return graph.apply(*this, std::move(values), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    REWRIGHT_TRY(const Pooling pooling, Pooling::read("pool2d_avg", params));
    auto attributes = onnx_attributes(pooling.window, pooling.kernel[0], pooling.kernel[1]);
    attributes["count_include_pad"] = std::int64_t{params.choice(kCountIncludePad) == kYes};
    return writer.emit("AveragePool", {in[0]}, std::move(attributes));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.pool2d_avg", "1.0.0", "Average pooling") { registry.add(make_operator<AveragePool2d>()); }
