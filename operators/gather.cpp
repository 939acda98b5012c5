/// Gather: y takes, along `axis`, the slices of x at `indices`, in this order.
///
/// Shapes  x (any of rank 1 or more) -> y, as x but for y.axis = number of indices.
/// Errors  kShape if there is no such axis, an index is negative or not below x.axis.
/// Source  ONNX operator Gather, where the indices are known when the model is read; indices of rank other than 1 are
///         flattened and the result reshaped. Resize and Upsample become, along each axis, a gather ("nearest") or a
///         sum of gathers times weights ("linear", "cubic"): <rewright/kit/resampling.h>.
/// Laws    axioms/reshape.smt2.
#include <rewright/kit/families.h>
#include <rewright/kit/resampling.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Gather final : public OperatorOf<Gather> {
 public:
  static OperatorInfo describe() {
    return {.name = "gather",
            .summary = "Slices at given places along an axis",
            .params = {integer_param("axis", 0), required_param("indices", ParamKind::kInts)},
            .multilinear = true,
            .onnx = {"Gather", "Resize", "Upsample"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const int axis, checked_axis("gather", params.integer(0), in[0].rank()));
    std::int64_t greatest = -1;
    for (const std::int64_t index : params.integers(1)) {
      if (index < 0 || index > kFar) return shape_error("gather: index {}, expected 0 or more and at most 2^41", index);
      greatest = std::max(greatest, index);
    }
    BasicShape<Dim> out = in[0];
    where.at_least(in[0][axis], Dim(greatest) + Dim(1), "the size and the greatest index");
    out[axis] = Dim(static_cast<std::int64_t>(params.integers(1).size()));
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0)), behind = a.in(0).rank() - axis - 1;
    const auto x = a.in(0).grouped(axis, 1, behind);
    a.out(0).grouped(axis, 1, behind).is("i k j", [&](auto i, auto k, auto j) {
      return x(i, a.table(params.integers(1), k), j);
    });
  }
  /// The same by whole slices.
  template <class Scalar>
  static void kernel(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) {
    const auto axis = static_cast<std::size_t>(params.integer(0));
    const std::int64_t stride = strides_of(in[0].shape())[axis], size = in[0].size(static_cast<int>(axis));
    Scalar* to = out[0].data();
    for (std::int64_t first = 0; first < in[0].elements(); first += stride * size) {
      for (const std::int64_t index : params.integers(1))
        to = std::copy_n(in[0].data() + first + index * stride, stride, to);
    }
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    if (node.type != "Gather") return resized(node, graph);
    REWRIGHT_TRY(const auto in, node.operands(2));
    const Shape x = graph.shape(in[0]);
    REWRIGHT_TRY(auto indices, node.constant_integers(1));
    REWRIGHT_TRY(const auto axis, axis_from_front(node.integer("axis", 0), x.rank()));
    const std::int64_t size = x[static_cast<int>(axis)];
    for (std::int64_t& index : indices) index += index < 0 ? size : 0;
    REWRIGHT_TRY(const auto flat, graph.apply(*this, Params({axis, std::move(indices)}), {in[0]}, node.name));
    Shape shape;
    for (int i = 0; i < x.rank(); ++i) {
      if (i != axis) shape.append(x[i]);
      if (i == axis) {
        for (const std::int64_t length : node.constants[1]->type.shape) shape.append(length);
      }
    }
    return single(reshaped(graph, flat[0], shape));
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    return writer.emit("Gather", {in[0], writer.integers(params.integers(1))}, {{"axis", params.integer(0)}});
  }

 private:
  Result<std::vector<Port>> resized(const OnnxNode& node, GraphBuilder& graph) const {
    REWRIGHT_TRY(const auto in, node.operands(1));
    Port y = in[0];
    REWRIGHT_TRY(const Resampling resampling, Resampling::read(node, graph.shape(y)));
    for (int axis = 0; axis < graph.shape(y).rank(); ++axis) {
      const std::vector<ResamplingTap> taps = resampling.taps(axis);
      if (taps.size() == 1) {
        REWRIGHT_TRY(y, gathered(graph, y, axis, taps[0].indices));
      } else if (!taps.empty()) {
        REWRIGHT_TRY(y, mixed(graph, y, axis, taps));
      }
    }
    return std::vector{y};
  }
  Result<Port> gathered(GraphBuilder& graph, Port x, int axis, const std::vector<std::int64_t>& indices) const {
    REWRIGHT_TRY(const auto y, graph.apply(*this, Params({std::int64_t{axis}, indices}), {x}));
    return y[0];
  }
  /// The sum of what the taps see, times their weights.
  Result<Port> mixed(GraphBuilder& graph, Port x, int axis, std::span<const ResamplingTap> taps) const {
    std::optional<Port> sum;
    for (const ResamplingTap& tap : taps) {
      REWRIGHT_TRY(const Port seen, gathered(graph, x, axis, tap.indices));
      Shape along{static_cast<std::int64_t>(tap.weights.size())};
      while (along.rank() < graph.shape(x).rank() - axis) along.append(1);
      REWRIGHT_TRY(const Port factor, weights_like(graph, x, along, tap.weights));
      std::vector<std::int64_t> stretched;
      for (int i = axis + 1; i < graph.shape(x).rank(); ++i)
        if (graph.shape(x)[i] != 1) stretched.push_back(i);
      REWRIGHT_TRY(const Port part, graph.apply1("broadcast_mul", {{"stretch_right", stretched}}, {seen, factor}));
      REWRIGHT_TRY(sum, sum ? graph.apply1("ewadd", {}, {*sum, part}) : part);
    }
    return *sum;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.gather", "1.0.0", "Slices at given places") { registry.add(make_operator<Gather>()); }
