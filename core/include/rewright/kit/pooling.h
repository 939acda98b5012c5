// Pools over windows of [N, C, H, W] (window.h): y[n,c,i,j] is a reduction of the taps (s, t) of a kernel that lie
// inside x, x[n, c, i*stride_h - top + s, j*stride_w - left + t].
#pragma once

#include <rewright/kit/onnx_window.h>
#include <rewright/kit/window.h>
#include <rewright/operator/operator.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// The window of a pool: it has a kernel of its own, no dilation, and never lies in the padding alone.
struct Pooling {
  std::array<std::int64_t, 2> kernel = {1, 1};
  Window window;
  bool counts_padding = true;  ///< In the size of the window, for averages.

  /// `kernel`, Window::specs() and `more`.
  [[nodiscard]] static std::vector<ParamSpec> specs(const std::vector<ParamSpec>& more = {}) {
    std::vector<ParamSpec> specs = Window::specs(more);
    specs.insert(specs.begin(), required_param("kernel", ParamKind::kInts));
    return specs;
  }
  /// For averages, the parameter after those.
  [[nodiscard]] static ParamSpec counting() { return choice_param("count_include_pad", {"yes", "no"}); }

  /// Reads those parameters, which are an operator's first ones. Errors: kShape.
  template <class Dim>
  [[nodiscard]] static Result<Pooling> read(std::string_view op, const BasicParams<Dim>& params) {
    Pooling pooling;
    REWRIGHT_CHECK(Window::copy(op, "kernel", params.integers(0), 1, pooling.kernel));
    REWRIGHT_TRY(pooling.window, Window::read(op, params, 1));
    pooling.counts_padding = params.size() < 5 || params.choice(4) == 0;
    if (!pooling.never_empty()) {
      return shape_error("{}: pads [{}] are not all smaller than the kernel [{}]", op,
                         fmt::join(pooling.window.pads, ", "), fmt::join(pooling.kernel, ", "));
    }
    return pooling;
  }
  /// Whether every window meets the input.
  [[nodiscard]] bool never_empty() const {
    const auto& pads = window.pads;
    return std::max(pads[0], pads[2]) < kernel[0] && std::max(pads[1], pads[3]) < kernel[1];
  }

  /// [N,C,H,W] -> [N,C,H',W'].
  template <class Dim>
  [[nodiscard]] Result<std::vector<BasicShape<Dim>>> shape(std::string_view op, const BasicShape<Dim>& in,
                                                           Constraints<Dim>& where) const {
    if (in.rank() != 4) return shape_error("{}: the operand has rank {}, expected 4 (N, C, H, W)", op, in.rank());
    BasicShape<Dim> out = in;
    for (int a = 0; a < 2; ++a) {
      if (window.padding == Padding::kExplicit) where.at_least(in[2 + a], Dim(1), "input size");
      out[2 + a] = window.output_size(a, in[2 + a], Dim(kernel[static_cast<std::size_t>(a)]), where);
    }
    return std::vector<BasicShape<Dim>>{out};
  }

  template <class Dim>
  [[nodiscard]] BasicWindowAxis<Dim> axis(int axis, const Dim& size) const {
    return window.axis(axis, size, Dim(kernel[static_cast<std::size_t>(axis)]));
  }
};

/// The pooling of a MaxPool or AveragePool of `shape`. Errors: kUnsupported.
[[nodiscard]] inline Result<Pooling> pooling_from_onnx(const OnnxNode& node, const Shape& shape) {
  const auto refuse = [&node](std::string_view reason) {
    return unsupported("{} {}: {}", node.type, node.name, reason);
  };
  Pooling pooling;
  if (shape.rank() != 4) return refuse("only tensors of rank 4 (N, C, H, W) are handled");
  if (node.output_count != 1) return refuse("the second output (indices) is not handled");
  if (!Window::copy(node.type, "kernel_shape", node.integers("kernel_shape", {}), 1, pooling.kernel)) {
    return refuse("kernel_shape is not two integers of at least 1");
  }
  REWRIGHT_TRY(pooling.window, window_from_onnx(node, {shape[2], shape[3]}, pooling.kernel));
  if (pooling.window.dilations != std::array<std::int64_t, 2>{1, 1}) return refuse("dilations are not handled");
  if (!pooling.never_empty()) return refuse("pads as large as the kernel are not handled");
  for (int a = 0; node.integer("ceil_mode", 0) != 0 && a < 2; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const std::int64_t k = pooling.kernel[axis], zeros = pooling.window.before(a, k) + pooling.window.after(a, k);
    if ((shape[2 + a] + zeros - k) % pooling.window.strides[axis] != 0) {
      return refuse("ceil_mode is not handled where it gives another size than floor");
    }
  }
  return pooling;
}

/// A pool of the name kName; value(a, pooling, taps, x) in Self reduces x(s, t) over `taps`.
///
/// Shapes  x [N,C,H,W] -> [N,C,H',W'].
/// Errors  kShape unless the rank is 4, the kernel fits the padded input and explicit pads are smaller than the kernel.
/// ONNX    the first type of info().onnx, on [N,C,H,W], and on [N,C,L] as on images of height 1.
template <class Self>
class PoolOf : public OperatorOf<Self> {
 public:
  /// Of parameters that shape() has taken.
  [[nodiscard]] static Pooling pooling(const Params& params) { return *Pooling::read(Self::kName, params); }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const Pooling pooling, Pooling::read(Self::kName, params));
    return pooling.shape(Self::kName, in[0], where);
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const Pooling pooling = PoolOf::pooling(params);
    const auto x = a.in(0).grouped(2, 1, 1);
    const auto y = a.out(0).grouped(2, 1, 1);
    const auto rows = a.windows(pooling.axis(0, x.size(1)), y.size(1));
    const auto columns = a.windows(pooling.axis(1, x.size(2)), y.size(2));
    y.is("n i j", [&](auto n, auto i, auto j) {
      return Self::value(a, pooling, over(rows(i), columns(j)),
                         [&](auto s, auto t) { return x(n, s.position, t.position); });
    });
  }

  /// Without padding both ways of counting are the same: `yes` then.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(1));
    if (graph.shape(in[0]).rank() == 3)
      return read_on_images(node, graph, 1, [&](const OnnxNode& images) { return from_onnx(images, graph); });
    REWRIGHT_TRY(const Pooling pooling, pooling_from_onnx(node, graph.shape(in[0])));
    std::vector<NamedParam> params = named_params(pooling.window);
    params.push_back({"kernel", list_of(pooling.kernel)});
    if (counts()) {
      const auto pads = pooling.window.explicit_pads(pooling.kernel[0], pooling.kernel[1]);
      const bool padded = std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
      params.push_back({"count_include_pad", std::int64_t{padded && node.integer("count_include_pad", 0) == 0}});
    }
    REWRIGHT_TRY(Params values, make_params(Self::kName, this->info().params, params));
    return graph.apply(*this, std::move(values), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    REWRIGHT_TRY(const Pooling pooling, Pooling::read(Self::kName, params));
    auto attributes = onnx_attributes(pooling.window, pooling.kernel[0], pooling.kernel[1]);
    if (counts()) attributes["count_include_pad"] = std::int64_t{pooling.counts_padding};
    return writer.emit(this->info().onnx[0], {in[0]}, std::move(attributes));
  }

 private:
  [[nodiscard]] bool counts() const { return this->info().params.size() > Pooling::specs().size(); }
};

}  // namespace rewright
