/// Slice: along each of `axes`, y takes `sizes` elements of x from `starts` on, every `steps`-th.
///
/// Shapes  x (any) -> y, as x but for y.axes[i] = sizes[i].
/// Errors  kShape unless the four lists have one length > 0, the axes exist and ascend, no step is 0, and
///         0 <= start, start + (size - 1) * step < x.axis for steps > 0 (the other way round for steps < 0).
/// Source  ONNX operator Slice, whose ends, negative positions and clamping are resolved on import.
/// Laws    axioms/reshape.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

#include <limits>

namespace {
using namespace rewright;

class Slice final : public OperatorOf<Slice> {
 public:
  static OperatorInfo describe() {
    return {.name = "slice",
            .summary = "Every n-th element along axes",
            .params = {integers_param("axes", {0}), sizes_param("starts", {0}),
                       required_param("sizes", ParamKind::kSizes), integers_param("steps", {1})},
            .multilinear = true,
            .onnx = {"Slice"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const auto &axes = params.integers(0), &steps = params.integers(3);
    const auto &starts = params.sizes(1), &sizes = params.sizes(2);
    if (starts.size() != axes.size() || sizes.size() != axes.size() || steps.size() != axes.size())
      return shape_error("slice: {} axes, {} starts, {} sizes, {} steps", axes.size(), starts.size(), sizes.size(),
                         steps.size());
    BasicShape<Dim> out = in[0];
    if (axes.empty()) return shape_error("slice: no axis is named");
    if (!are_axes(axes, out.rank()))
      return shape_error("slice: [{}] must be axes of a tensor of rank {}, ascending", fmt::join(axes, ", "),
                         out.rank());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      for (const std::int64_t number : {known(starts[i]).value_or(0), known(sizes[i]).value_or(0), steps[i]}) {
        if (number < -kFar || number > kFar) return shape_error("slice: {} lies beyond any tensor", number);
      }
      if (steps[i] == 0) return shape_error("slice: a step of 0");
      const int axis = static_cast<int>(axes[i]);
      if (std::abs(known(sizes[i]).value_or(0)) > kFar / std::abs(steps[i]) + 1)
        return shape_error("slice: {} steps of {} lead beyond any tensor", *known(sizes[i]), steps[i]);
      const Dim last = starts[i] + (sizes[i] - Dim(1)) * Dim(steps[i]);
      where.at_least(sizes[i], Dim(0), "a size");
      where.at_least(steps[i] > 0 ? starts[i] : last, Dim(0), "the first position taken");
      where.at_least(in[0][axis], (steps[i] > 0 ? last : starts[i]) + Dim(1), "the size and the last position taken");
      out[axis] = sizes[i];
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    typename A::View x = a.view(0);
    for (std::size_t k = 0; k < params.integers(0).size(); ++k) {
      const int axis = static_cast<int>(params.integers(0)[k]);
      x = x.sliced(axis, a.sizes(1)[k], params.integers(3)[k], a.out(0).size(axis));
    }
    a.out(0).is(x);
  }

  /// Starts, ends and axes are attributes before opset 10 and inputs after.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    const Shape x = graph.shape(in[0]);
    REWRIGHT_TRY(const auto starts, listed(node, "starts", 1, {}));
    REWRIGHT_TRY(const auto ends, listed(node, "ends", 2, {}));
    REWRIGHT_TRY(auto along, listed(node, "axes", 3, other_axes(static_cast<int>(starts.size()), {})));
    REWRIGHT_TRY(auto steps, listed(node, "steps", 4, std::vector<std::int64_t>(starts.size(), 1)));
    REWRIGHT_TRY(along, axes_from_front(std::move(along), x.rank()));
    if (ends.size() != starts.size() || along.size() != starts.size() || steps.size() != starts.size() ||
        contains(steps, 0))
      return unsupported("Slice: starts, ends, axes and steps do not fit");
    std::vector<std::int64_t> sliced, taken_steps;
    SizeList<std::int64_t> first, sizes;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const auto i = static_cast<std::size_t>(std::ranges::find(along, axis) - along.begin());
      if (i == along.size()) continue;
      const std::int64_t step = std::clamp(steps[i], -kFar, kFar);
      const std::int64_t start = clamped(starts[i], x[axis], step), end = clamped(ends[i], x[axis], step);
      const std::int64_t size =
          std::max<std::int64_t>(0, step > 0 ? -floor_divide(start - end, step) : -floor_divide(end - start, -step));
      if (size == x[axis] && step == 1) continue;
      sliced.push_back(axis);
      first.values.push_back(size == 0 ? 0 : start);
      sizes.values.push_back(size);
      taken_steps.push_back(size < 2 ? 1 : step);
    }
    if (sliced.empty()) return in;
    Params params({std::move(sliced), std::move(first), std::move(sizes), std::move(taken_steps)});
    return graph.apply(*this, std::move(params), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    std::vector<std::int64_t> ends;
    for (std::size_t i = 0; i < params.integers(0).size(); ++i) {
      const std::int64_t end = params.sizes(1)[i] + params.sizes(2)[i] * params.integers(3)[i];
      ends.push_back(end < 0 ? std::numeric_limits<std::int64_t>::min() : end);
    }
    return writer.emit("Slice", {in[0], writer.integers(params.sizes(1)), writer.integers(ends),
                                 writer.integers(params.integers(0)), writer.integers(params.integers(3))});
  }

 private:
  /// ONNX's position, counted from the end if negative, brought into the range that it clamps to.
  static std::int64_t clamped(std::int64_t position, std::int64_t dim, std::int64_t step) {
    if (position < 0) position = std::max(position, -dim - 1) + dim;
    return step > 0 ? std::clamp<std::int64_t>(position, 0, dim) : std::clamp<std::int64_t>(position, -1, dim - 1);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.slice", "1.0.0", "Every n-th element along axes") { registry.add(make_operator<Slice>()); }
