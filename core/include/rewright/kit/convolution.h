// Convolutions of [N, C, H, W]: their sizes, their groups, and what conv2d and conv_transpose2d have in common.
#pragma once

#include <rewright/kit/onnx_window.h>
#include <rewright/operator/operator.h>
#include <rewright/tensor/strides.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// conv2d without activation, w being [O, C/groups, KH, KW]. Borrows the shapes.
struct Convolution {
  Window window;
  std::int64_t groups;
  const Shape &x, &w, &y;

  [[nodiscard]] WindowAxis axis(int axis) const { return window.axis(axis, x[2 + axis], w[2 + axis]); }
  [[nodiscard]] std::int64_t outputs_of_group() const { return w[0] / groups; }
};

/// Errors: kShape unless there can be `groups` groups of w.1 channels. Which sizes they divide goes to `where`
/// elsewhere.
template <class Dim>
[[nodiscard]] Status check_groups(std::string_view op, std::int64_t groups, const BasicShape<Dim>& w) {
  if (groups < 1 || groups > kMaxWindowParameter)
    return shape_error("{}: groups is {}, expected 1 or more", op, groups);
  if (known(w[1]).value_or(0) > kFar / groups)
    return shape_error("{}: {} groups of {} channels are more than any tensor has", op, groups, *known(w[1]));
  return {};
}

/// Errors: kShape unless both ranks are 4; `sizes` are those of w, for the message.
template <class Dim>
[[nodiscard]] Status check_convolution_ranks(std::string_view op, std::string_view sizes,
                                             std::span<const BasicShape<Dim>> in) {
  if (in[0].rank() == 4 && in[1].rank() == 4) return {};
  return shape_error("{}: ranks {} and {}, expected 4 (N, C, H, W) and 4 ({})", op, in[0].rank(), in[1].rank(), sizes);
}

/// A node on [N,C,H,W], and on [N,C,L] as on images of height 1, with a bias that becomes a bias_add.
/// `read_params(node, x, w)` gives the parameters, a Result, for operands of these shapes.
template <class ReadParams>
[[nodiscard]] Result<std::vector<Port>> read_convolution(const Operator& op, const OnnxNode& node, GraphBuilder& graph,
                                                         const ReadParams& read_params) {
  REWRIGHT_TRY(const std::vector<Port> in, node.operands(node.has_input(2) ? 3 : 2));
  const Shape x = graph.shape(in[0]), w = graph.shape(in[1]);
  if (x.rank() == 3 && w.rank() == 3) {
    return read_on_images(node, graph, 2,
                          [&](const OnnxNode& images) { return read_convolution(op, images, graph, read_params); });
  }
  if (x.rank() != 4 || w.rank() != 4) return unsupported("{} takes tensors of rank 4, and of rank 3", op.name());
  REWRIGHT_TRY(Params params, read_params(node, x, w));
  REWRIGHT_TRY(const std::vector<Port> y, graph.apply(op, std::move(params), {in[0], in[1]}, node.name));
  if (in.size() == 2) return y;
  return single(graph.apply1("bias_add", {{"axis", std::int64_t{1}}}, {y[0], in[2]}));
}

}  // namespace rewright
