/// Padding: y is x with `before` elements put before and `after` behind it, along each axis, all equal to `value`.
///
/// Shapes  x (any) -> y, y.i = before[i] + x.i + after[i].
/// Errors  kShape if x is a scalar, or unless before and after have one number >= 0 per axis.
/// Source  ONNX operator Pad, mode "constant"; the modes "reflect", "edge" and "wrap" are a gather along each axis.
///         Negative pads, which cut, are taken in these alone.
/// Laws    axioms/reshape.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Pad final : public OperatorOf<Pad> {
 public:
  static OperatorInfo describe() {
    return {.name = "pad",
            .summary = "Puts a constant around a tensor",
            .params = {required_param("before", ParamKind::kInts), required_param("after", ParamKind::kInts),
                       real_param("value", 0.0)},
            .onnx = {"Pad"}};
  }
  [[nodiscard]] Traits traits(const Params& params) const override { return {.multilinear = params.real(2) == 0}; }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    BasicShape<Dim> out = in[0];
    if (out.rank() == 0) return shape_error("pad: a scalar has no axis to pad");
    for (std::size_t side = 0; side < 2; ++side) {
      const auto& pads = params.integers(side);
      if (pads.size() != in[0].dims().size() ||
          std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0 || pad > kFar; }))
        return shape_error("pad: [{}] must be one number >= 0 and not above 2^41 for each of {} axes",
                           fmt::join(pads, ", "), out.rank());
      for (int axis = 0; axis < out.rank(); ++axis) {
        if (pads[static_cast<std::size_t>(axis)] > 0) out[axis] = out[axis] + Dim(pads[static_cast<std::size_t>(axis)]);
      }
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    a.out(0).is(a.padded(a.view(0), params.integers(0), a.number(params.real(2))));
  }

  /// Pads and value are attributes before opset 11 and inputs after; opset 18 adds axes.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    const auto rank = graph.shape(in[0]).dims().size();
    REWRIGHT_TRY(const auto pads, listed(node, node.opset < 2 ? "paddings" : "pads", 1, {}));
    REWRIGHT_TRY(auto along, listed(node, "axes", 3, other_axes(static_cast<int>(rank), {})));
    REWRIGHT_TRY(along, axes_from_front(std::move(along), static_cast<int>(rank)));
    const auto value = node.has_input(2) ? known_number(node, 2) : std::optional(node.real("value", 0));
    if (pads.size() != 2 * along.size() || !value) return unsupported("Pad: pads or value are not known");
    std::vector<std::int64_t> before(rank, 0), after(rank, 0);
    for (std::size_t i = 0; i < along.size(); ++i) {
      before[static_cast<std::size_t>(along[i])] = pads[i];
      after[static_cast<std::size_t>(along[i])] = pads[i + along.size()];
    }
    if (const std::string mode = node.text("mode", "constant"); mode != "constant")
      return gathered(mode, graph, in[0], before, after);
    if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0; })) return unsupported("Pad: negative pads");
    return graph.apply(*this, Params({before, after, *value}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    std::vector<std::int64_t> pads = params.integers(0);
    pads.insert(pads.end(), params.integers(1).begin(), params.integers(1).end());
    std::vector<std::string> operands = {in[0], writer.integers(pads)};
    if (params.real(2) != 0) operands.push_back(writer.constant({{}, params.real(2)}));
    return writer.emit("Pad", operands);
  }

 private:
  /// Where in 0 .. size - 1 the element at a position outside comes from.
  static std::int64_t source(std::string_view mode, std::int64_t position, std::int64_t size) {
    if (mode == "edge") return std::clamp<std::int64_t>(position, 0, size - 1);
    const std::int64_t period = mode == "wrap" ? size : std::max<std::int64_t>(2 * (size - 1), 1);
    const std::int64_t within = position - floor_divide(position, period) * period;
    return within < size ? within : period - within;
  }
  static Result<std::vector<Port>> gathered(const std::string& mode, GraphBuilder& graph, Port x,
                                            std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
    if (mode != "edge" && mode != "reflect" && mode != "wrap") return unsupported("Pad: mode {}", mode);
    for (std::size_t axis = 0; axis < before.size(); ++axis) {
      if (before[axis] == 0 && after[axis] == 0) continue;
      const std::int64_t size = graph.shape(x)[static_cast<int>(axis)], far = kMostGathered - size;
      if (size < 1 || far < 0 || std::max(before[axis], after[axis]) > far / 2 || before[axis] + size + after[axis] < 0)
        return unsupported("Pad: mode {} of a size of {}", mode, size);
      if (mode != "edge" && std::max(before[axis], after[axis]) > (mode == "wrap" ? size : size - 1))
        return unsupported("Pad: mode {} by more than a size of {} has", mode, size);
      std::vector<std::int64_t> indices;
      for (std::int64_t at = -before[axis]; at < size + after[axis]; ++at) indices.push_back(source(mode, at, size));
      REWRIGHT_TRY(x, graph.apply1("gather", {{"axis", static_cast<std::int64_t>(axis)}, {"indices", indices}}, {x}));
    }
    return std::vector{x};
  }
  static constexpr std::int64_t kMostGathered = 1 << 20;
};
}  // namespace

REWRIGHT_PLUGIN("operator.pad", "1.0.0", "Puts a constant around a tensor") { registry.add(make_operator<Pad>()); }
