// Families of operators that differ in one formula: a function of one element, of two with broadcasting, of all
// elements along some axes. A member gives describe() and that formula, value().
#pragma once

#include <rewright/onnx_mapping.h>
#include <rewright/operator.h>
#include <rewright/strides.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// y[i] = value(params, x[i]).
///
/// ONNX  the first type of info().onnx, its attributes being the real parameters of the same names.
template <class Self>
class UnaryOf : public OperatorOf<Self> {
 public:
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class Scalar>
  static void apply(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) {
    const std::int64_t count = in[0].elements();
    for (std::int64_t i = 0; i < count; ++i) out[0][i] = Self::template value<Scalar>(params, in[0][i]);
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(Params params, params_from_attributes(this->info(), node));
    return graph.apply(*this, std::move(params), {*node.inputs[0]}, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    return writer.emit(this->info().onnx[0], {in[0]}, attributes_from_params(this->info(), params));
  }
};

/// The parameters of BroadcastOf.
[[nodiscard]] inline std::vector<ParamSpec> stretch_params() {
  return {{.name = "stretch_left", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{}},
          {.name = "stretch_right", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{}}};
}

/// c[i] = value(a[i], b[i]) after broadcasting: shapes are aligned at their last axes, the operand of lower rank is
/// repeated along the leading ones, and the axes of the result that stretch_left (stretch_right) names are those
/// along which the left (right) operand has size 1 and is repeated. Sizes along every other axis are equal.
///
/// ONNX broadcasts wherever it meets a 1. Naming these axes keeps the shape rule the same for numbers and symbolic
/// sizes: a rule found where sizes were equal never fires where one of them is 1 (x + y = y + x + 0 * x, say, holds
/// for x and y of one shape and not for x (2, 3), y (1, 3) with the roles turned round).
template <class Self>
class BroadcastOf : public OperatorOf<Self> {
 public:
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const int rank = std::max(in[0].rank(), in[1].rank());
    BasicShape<Dim> out;
    for (int axis = 0; axis < rank; ++axis) {
      const int left = axis - rank + in[0].rank(), right = axis - rank + in[1].rank();
      if (left >= 0 && contains(params.integers(0), axis)) where.equal(in[0][left], Dim(1), "a stretched size");
      if (right >= 0 && contains(params.integers(1), axis)) where.equal(in[1][right], Dim(1), "a stretched size");
      if (left < 0 || contains(params.integers(0), axis)) {
        out.append(right < 0 ? in[0][left] : in[1][right]);
      } else if (right < 0 || contains(params.integers(1), axis)) {
        out.append(in[0][left]);
      } else {
        where.equal(in[0][left], in[1][right], "sizes along an axis that is not stretched");
        out.append(same(in[0][left], in[1][right]));
      }
    }
    for (std::size_t side = 0; side < 2; ++side) {
      for (const std::int64_t axis : params.integers(side)) {
        if (axis < rank - in[side].rank() || axis >= rank)
          return shape_error("cannot stretch along axis {}: the operand has no such axis", axis);
      }
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    const auto left = repeated(in[0].shape(), out[0].shape()), right = repeated(in[1].shape(), out[0].shape());
    for (std::size_t i = 0; i < left.size(); ++i)
      out[0].data()[i] = Self::template value<Scalar>(in[0][left[i]], in[1][right[i]]);
  }

  /// One application with numpy's broadcasting, the axes to stretch being read off the shapes.
  [[nodiscard]] Result<Port> combine(GraphBuilder& graph, Port a, Port b, std::string name_hint = {}) const {
    const Shape &left = graph.shape(a), &right = graph.shape(b);
    const int rank = std::max(left.rank(), right.rank());
    std::vector<std::int64_t> stretch_left, stretch_right;
    for (int axis = rank - std::min(left.rank(), right.rank()); axis < rank; ++axis) {
      const std::int64_t m = left[axis - rank + left.rank()], n = right[axis - rank + right.rank()];
      if (m != n && m == 1) stretch_left.push_back(axis);
      if (m != n && m != 1) stretch_right.push_back(axis);
    }
    REWRIGHT_TRY(auto ports, graph.apply(*this, Params({stretch_left, stretch_right}), {a, b}, std::move(name_hint)));
    return ports[0];
  }

  /// Variadic ONNX types are combined from the left.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    Port result = *node.inputs[0];
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      REWRIGHT_TRY(const Port operand, aligned(node, graph, *node.inputs[i]));
      REWRIGHT_TRY(result, combine(graph, result, operand, node.name));
    }
    return std::vector{result};
  }
  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return writer.emit(this->info().onnx[0], {in[0], in[1]});
  }

  /// The second operand as today's ONNX would have it: before opset 7, "axis" says where its first axis belongs.
  [[nodiscard]] static Result<Port> aligned(const OnnxNode& node, GraphBuilder& graph, Port operand) {
    if (node.opset >= 7 || node.integer("broadcast", 0) == 0 || !node.attributes.contains("axis")) return operand;
    const int rank = graph.shape(*node.inputs[0]).rank();
    REWRIGHT_TRY(const auto axis, axis_from_front(node.integer("axis", 0), rank));
    Shape shape = graph.shape(operand);
    while (shape.rank() + axis < rank) shape.append(1);
    return reshaped(graph, operand, shape);
  }

 private:
  static std::vector<std::int64_t> repeated(const Shape& operand, const Shape& out) {
    auto strides = strides_of(operand);
    for (int axis = 0; axis < operand.rank(); ++axis) {
      if (operand[axis] == 1) strides[static_cast<std::size_t>(axis)] = 0;
    }
    strides.insert(strides.begin(), static_cast<std::size_t>(out.rank() - operand.rank()), 0);
    return offsets(out.dims(), strides);
  }
};

/// What ReduceOf hands to value(): the elements that become one.
template <class Scalar>
struct Reduced {
  const Scalar* first;
  std::span<const std::int64_t> offsets;
  [[nodiscard]] std::size_t size() const { return offsets.size(); }
  [[nodiscard]] const Scalar& operator[](std::size_t i) const { return first[offsets[i]]; }
};

/// The parameters of ReduceOf.
[[nodiscard]] inline std::vector<ParamSpec> reduce_params() {
  return {{.name = "axes", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{}},
          {.name = "keepdims", .default_value = std::int64_t{1}}};
}

/// y = value(all x along `axes`), for each index of the other axes; the reduced axes stay, with size 1, if keepdims is
/// not 0. kNeedsElements in Self: sizes along `axes` are at least 1.
template <class Self>
class ReduceOf : public OperatorOf<Self> {
 public:
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    for (const std::int64_t axis : params.integers(0)) {
      if (axis < 0 || axis >= in[0].rank())
        return shape_error("there is no axis {} in a tensor of rank {}", axis, in[0].rank());
    }
    BasicShape<Dim> out;
    for (int axis = 0; axis < in[0].rank(); ++axis) {
      const bool reduced = contains(params.integers(0), axis);
      if (reduced && Self::kNeedsElements) where.at_least(in[0][axis], Dim(1), "a reduced size");
      if (!reduced) out.append(in[0][axis]);
      if (reduced && params.integer(1) != 0) out.append(Dim(1));
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class Scalar>
  static void apply(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) {
    const auto first = offsets_along(in[0].shape(), other_axes(in[0].rank(), params.integers(0)));
    const auto along = offsets_along(in[0].shape(), params.integers(0));
    for (std::size_t i = 0; i < first.size(); ++i)
      out[0].data()[i] = Self::template value<Scalar>(Reduced<Scalar>{in[0].data() + first[i], along});
  }
  static double flops(const Params&, std::span<const Shape> in) { return static_cast<double>(in[0].elements()); }

  /// One application as the ONNX node has it: axes as an attribute or, in newer opsets, as an input.
  [[nodiscard]] Result<Port> reduce(const OnnxNode& node, GraphBuilder& graph, Port x) const {
    const int rank = graph.shape(x).rank();
    REWRIGHT_TRY(auto given, listed(node, "axes", 1));
    if (!given || given->empty()) {
      if (node.integer("noop_with_empty_axes", 0) != 0) return x;
      given = other_axes(rank, {});
    }
    REWRIGHT_TRY(auto axes, axes_from_front(std::move(*given), rank));
    std::sort(axes.begin(), axes.end());
    REWRIGHT_TRY(auto ports, graph.apply(*this, Params({axes, node.integer("keepdims", 1)}), {x}, node.name));
    return ports[0];
  }
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const Port result, reduce(node, graph, *node.inputs[0]));
    return std::vector{result};
  }
  /// Axes as an attribute: every Reduce type up to opset 17 but ReduceSum.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    if (params.integers(0).empty()) return writer.emit("Identity", {in[0]});
    return writer.emit(this->info().onnx[0], {in[0]}, {{"axes", params.integers(0)}, {"keepdims", params.integer(1)}});
  }
  /// All axes behind the first two: what a global pool reduces.
  [[nodiscard]] static bool is_global_pool(const Params& params, const Shape& in) {
    return in.rank() > 2 && params.integer(1) != 0 &&
           params.integers(0) == other_axes(in.rank(), std::vector<std::int64_t>{0, 1});
  }
  [[nodiscard]] Result<std::vector<Port>> global_pool(const OnnxNode& node, GraphBuilder& graph) const {
    const Port x = *node.inputs[0];
    auto axes = other_axes(graph.shape(x).rank(), std::vector<std::int64_t>{0, 1});
    return graph.apply(*this, Params({std::move(axes), std::int64_t{1}}), {x}, node.name);
  }
};

}  // namespace rewright
