// Families of operators that differ in one formula: a function of one element, of two of equal shape or with
// broadcasting, of all elements along some axes; constants. A member gives describe() and that formula, value().
#pragma once

#include <rewright/kit/onnx_activations.h>
#include <rewright/kit/param_specs.h>
#include <rewright/operator/operator.h>
#include <rewright/tensor/strides.h>

#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

/// y[i] = value<Value>(params, x[i]), where Value is a scalar algebra or, where the definition is written down, values
/// as data: both have from_integer, from_double, + - * /, max, minimum, relu, magnitude and call.
///
/// ONNX  as OnnxNodeOf; types behind the first of info().onnx may be formulas of onnx_activations.h.
template <class Self>
class UnaryOf : public OnnxNodeOf<Self> {
 public:
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return Self::template value<typename A::Value>(params, x(i)); });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    const auto& types = this->info().onnx;
    const bool is_first = types.empty() || node.type == types[0];
    const OnnxActivation formula = is_first ? nullptr : onnx_activation(node.type);
    if (formula == nullptr) return OnnxNodeOf<Self>::from_onnx(node, graph);
    REWRIGHT_TRY(const auto in, node.operands(1));
    return single(formula(OnnxFormula(graph), node, in[0]));
  }
};

/// y[i] = kFunction(x[i]).
template <class Self, Function kFunction>
class FunctionOf : public UnaryOf<Self> {
 public:
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    return call(kFunction, x);
  }
};

/// What members of ElementwiseOf have in common.
[[nodiscard]] inline OperatorInfo elementwise_info(OperatorInfo info) {
  info.min_arity = info.max_arity = 2;
  return info;
}

/// c[i] = value(a[i], b[i]), a and b of equal shape.
///
/// ONNX  as OnnxNodeOf.
template <class Self>
class ElementwiseOf : public OnnxNodeOf<Self> {
 public:
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[0].rank() != in[1].rank())
      return shape_error("{}: ranks {} and {} differ", Self::describe().name, in[0].rank(), in[1].rank());
    BasicShape<Dim> out;
    for (int axis = 0; axis < in[0].rank(); ++axis) {
      where.equal(in[0][axis], in[1][axis], "sizes along an axis");
      out.append(same(in[0][axis], in[1][axis]));
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0), y = a.in(1);
    a.out(0).is("i", [&](auto i) { return Self::template value<typename A::Value>(x(i), y(i)); });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    if (graph.shape(in[0]) != graph.shape(in[1])) return unsupported("{} does not broadcast", this->name());
    return graph.apply(*this, Params{}, in, node.name);
  }
};

/// What a member of ConstantOf is described by.
[[nodiscard]] inline OperatorInfo constant_info(std::string name, std::string summary) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .min_arity = 0,
          .max_arity = 0,
          .params = {required_param("sizes", ParamKind::kSizes)}};
}

/// A tensor of the shape `sizes` without operands. define() in Self says what is in it, check() which sizes there may
/// be.
///
/// ONNX  an initialiser.
template <class Self>
class ConstantOf : public OperatorOf<Self> {
 public:
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim>, Constraints<Dim>& where) {
    REWRIGHT_CHECK(Self::check(params.sizes(0), where));
    return Shapes<Dim>{BasicShape<Dim>(params.sizes(0))};
  }

  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string>, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    Tensor<Real> y{Shape(params.sizes(0))};
    this->evaluate(params, Inputs<Real>{}, std::array{y.view()});
    return std::vector{writer.constant(constant_of(y))};
  }
};

/// What a weight of convolutions asks of its sizes [O,I,KH,KW].
template <class Dim>
Status check_weight_sizes(std::string_view name, const std::vector<Dim>& sizes, Constraints<Dim>& where) {
  if (sizes.size() != 4) return shape_error("{}: {} sizes, expected 4 (O, I, KH, KW)", name, sizes.size());
  for (std::size_t axis = 0; axis < 4; ++axis) where.at_least(sizes[axis], Dim(axis < 2 ? 0 : 1), "size");
  return {};
}

/// What members of BroadcastOf, and others that use broadcast_shape, have in common.
[[nodiscard]] inline OperatorInfo broadcast_info(OperatorInfo info) {
  info.min_arity = info.max_arity = 2;
  info.params = {integers_param("stretch_left", {}), integers_param("stretch_right", {})};
  return info;
}

/// The shape that two operands are broadcast to. Shapes are aligned at their last axes, the operand of lower rank is
/// repeated along the leading ones, and the axes of the result that stretch_left (stretch_right), the first (second)
/// parameter, names are those along which the left (right) operand has size 1 and is repeated. Sizes along every other
/// axis are equal.
///
/// ONNX broadcasts wherever it meets a 1. Naming these axes keeps the shape rule the same for numbers and for symbolic
/// sizes: x (2, 3) + y (1, 3) = y + x, but what is proved of x and y of one shape, concat(x, y) + concat(y, x) =
/// concat(x + y, y + x) say, does not hold for these, and must not match them.
template <class Dim>
Result<BasicShape<Dim>> broadcast_shape(const BasicParams<Dim>& params, const BasicShape<Dim>& left,
                                        const BasicShape<Dim>& right, Constraints<Dim>& where) {
  const int rank = std::max(left.rank(), right.rank());
  const int skip_left = rank - left.rank(), skip_right = rank - right.rank();
  for (std::size_t side = 0; side < 2; ++side) {
    const auto& axes = params.integers(side);
    if (!are_axes(axes, rank) || (!axes.empty() && axes[0] < std::max(skip_left, skip_right)))
      return shape_error("[{}] must be axes that both operands have, ascending", fmt::join(axes, ", "));
  }
  BasicShape<Dim> out;
  for (int axis = 0; axis < rank; ++axis) {
    const bool stretch_left = contains(params.integers(0), axis), stretch_right = contains(params.integers(1), axis);
    if (stretch_left && stretch_right) return shape_error("axis {} is stretched on both sides", axis);
    if (stretch_left) where.equal(left[axis - skip_left], Dim(1), "a stretched size");
    if (stretch_right) where.equal(right[axis - skip_right], Dim(1), "a stretched size");
    if (axis < skip_left || stretch_left) {
      out.append(right[axis - skip_right]);
    } else if (axis < skip_right || stretch_right) {
      out.append(left[axis - skip_left]);
    } else {
      where.equal(left[axis - skip_left], right[axis - skip_right], "sizes along an axis that is not stretched");
      out.append(same(left[axis - skip_left], right[axis - skip_right]));
    }
  }
  return out;
}

/// The parameters under which operands of these shapes are broadcast as ONNX does it.
[[nodiscard]] inline Params stretches(const Shape& left, const Shape& right) {
  const int rank = std::max(left.rank(), right.rank());
  std::vector<std::int64_t> stretch_left, stretch_right;
  for (int axis = rank - std::min(left.rank(), right.rank()); axis < rank; ++axis) {
    const std::int64_t m = left[axis - rank + left.rank()], n = right[axis - rank + right.rank()];
    if (m != n && m == 1) stretch_left.push_back(axis);
    if (m != n && m != 1) stretch_right.push_back(axis);
  }
  return Params({std::move(stretch_left), std::move(stretch_right)});
}

/// c[i] = value(a[i], b[i]), a and b broadcast as broadcast_shape says.
///
/// ONNX  as OnnxNodeOf.
template <class Self>
class BroadcastOf : public OnnxNodeOf<Self> {
 public:
  /// The operator that has operands of equal shapes in place of this one, if there is one.
  static constexpr std::string_view kOfEqualShapes = {};

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(auto out, broadcast_shape(params, in[0], in[1], where));
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    using Value = typename A::Value;
    const auto left = a.view(0).repeated(a.out(0), params.integers(0));
    const auto right = a.view(1).repeated(a.out(0), params.integers(1));
    a.out(0).from(left, right).is([](const Value& x, const Value& y) { return Self::template value<Value>(x, y); });
  }

  /// One application with the axes to stretch read off the shapes.
  [[nodiscard]] Result<Port> combine(GraphBuilder& graph, Port a, Port b, std::string name_hint = {}) const {
    if (!Self::kOfEqualShapes.empty() && graph.shape(a) == graph.shape(b))
      return graph.apply1(Self::kOfEqualShapes, {}, {a, b});
    REWRIGHT_TRY(const auto ports,
                 graph.apply(*this, stretches(graph.shape(a), graph.shape(b)), {a, b}, std::move(name_hint)));
    return ports[0];
  }
  /// Variadic ONNX types are combined from the left.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(auto in, node.operands(node.inputs.size()));
    if (in.empty()) return unsupported("{} has no input", node.type);
    if (!Self::kOfEqualShapes.empty() && node.type == this->info().onnx[0] && in.size() == 2 &&
        graph.shape(in[0]) == graph.shape(in[1]))
      return unsupported("equal shapes are {}'s", Self::kOfEqualShapes);
    for (std::size_t i = 1; i < in.size(); ++i) {
      REWRIGHT_TRY(in[i], broadcast_operand(node, graph, i));
      REWRIGHT_TRY(in[0], combine(graph, in[0], in[i], node.name));
    }
    return std::vector{in[0]};
  }
};

/// What members of ReduceOf have in common.
[[nodiscard]] inline OperatorInfo reduce_info(OperatorInfo info) {
  info.params = {integers_param("axes", {}), choice_param("keepdims", {"no", "yes"}, 1)};
  return info;
}

/// An ONNX type that is a reduction of before(x) and then after(y): operators of one operand, or ewmul, of x and x.
struct OnnxReduction {
  std::string_view type, before, after;
};

/// y = value(a, all x along `axes`), for each index of the other axes; the reduced axes stay, with size 1, if keepdims
/// is yes. kNeedsElements in Self: sizes along `axes` are at least 1.
///
/// ONNX  the first type of info().onnx, and what Self names of the following.
template <class Self>
class ReduceOf : public OperatorOf<Self> {
 public:
  static constexpr std::array<OnnxReduction, 0> kFormulas = {};
  /// The type that reduces all axes behind the first two.
  static constexpr std::string_view kGlobalPool = {};
  /// Up to opset 17, of all types ReduceSum alone: the others have an attribute.
  static constexpr bool kAxesAreAnInput = false;

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (!are_axes(params.integers(0), in[0].rank()))
      return shape_error("[{}] must be axes of a tensor of rank {}, ascending", fmt::join(params.integers(0), ", "),
                         in[0].rank());
    BasicShape<Dim> out;
    for (int axis = 0; axis < in[0].rank(); ++axis) {
      const bool reduced = contains(params.integers(0), axis);
      if (reduced && Self::kNeedsElements) where.at_least(in[0][axis], Dim(1), "a reduced size");
      if (!reduced) out.append(in[0][axis]);
      if (reduced && params.integer(1) != 0) out.append(Dim(1));
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const auto x = a.view(0).along(params.integers(0));
    a.out(0).is("i", [&](auto i) { return Self::value(a, x(i)); });
  }

  /// Axes are an attribute or, in newer opsets, an input.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    if (!Self::kGlobalPool.empty() && node.type == Self::kGlobalPool)
      return graph.apply(*this, Params({axes_of_global_pool(graph.shape(in[0])), std::int64_t{1}}), in, node.name);
    for (const OnnxReduction& formula : Self::kFormulas) {
      if (formula.type != node.type) continue;
      const OnnxFormula f(graph);
      const auto applied = [&](std::string_view op, Port x) -> Result<Port> {
        return op.empty() ? Result<Port>(x) : op == "ewmul" ? f.product(x, x) : f(op, x);
      };
      REWRIGHT_TRY(const Port x, applied(formula.before, in[0]));
      REWRIGHT_TRY(const Port y, reduce(node, graph, x));
      return single(applied(formula.after, y));
    }
    return single(reduce(node, graph, in[0]));
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    const auto& types = this->info().onnx;
    if (types.empty()) return Operator::to_onnx(params, in, shapes, writer);
    const std::vector<std::int64_t>& axes = params.integers(0);
    const OnnxAttribute keeps = params.integer(1);
    const bool is_global = shapes[0].rank() > 2 && params.integer(1) != 0 && axes == axes_of_global_pool(shapes[0]);
    if (!Self::kGlobalPool.empty() && is_global) return writer.emit(Self::kGlobalPool, {in[0]});
    if (axes.empty()) return writer.emit("Identity", {in[0]});
    if (Self::kAxesAreAnInput) return writer.emit(types[0], {in[0], writer.integers(axes)}, {{"keepdims", keeps}});
    return writer.emit(types[0], {in[0]}, {{"axes", axes}, {"keepdims", keeps}});
  }

 private:
  [[nodiscard]] static std::vector<std::int64_t> axes_of_global_pool(const Shape& x) {
    return other_axes(x.rank(), std::array<std::int64_t, 2>{0, 1});
  }
  /// One application along the axes that the node names.
  [[nodiscard]] Result<Port> reduce(const OnnxNode& node, GraphBuilder& graph, Port x) const {
    const int rank = graph.shape(x).rank();
    REWRIGHT_TRY(auto axes, listed(node, "axes", 1, {}));
    if (axes.empty() && node.integer("noop_with_empty_axes", 0) != 0) return x;
    if (axes.empty()) axes = other_axes(rank, {});
    REWRIGHT_TRY(axes, axes_from_front(std::move(axes), rank));
    std::sort(axes.begin(), axes.end());
    REWRIGHT_TRY(auto ports,
                 graph.apply(*this, Params({axes, std::int64_t{node.integer("keepdims", 1) != 0}}), {x}, node.name));
    return ports[0];
  }
};

}  // namespace rewright
