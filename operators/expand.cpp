/// Expansion: repeats x along `axes`, where its size is 1, until these sizes are `sizes`.
///
/// Shapes  x (any) -> y, as x but for y.axes[i] = sizes[i].
/// Errors  kShape unless `axes` and `sizes` have one length, the axes exist and ascend, and x has size 1 there.
/// Source  ONNX operator Expand; a rank that it raises, and Tile, are done with reshapes around it.
/// Laws    axioms/reshape.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Expand final : public OperatorOf<Expand> {
 public:
  static OperatorInfo describe() {
    return {.name = "expand",
            .summary = "Repeats along axes of size 1",
            .params = {integers_param("axes", {}), sizes_param("sizes", {})},
            .multilinear = true,
            .onnx = {"Expand", "Tile"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const auto& axes = params.integers(0);
    if (axes.size() != params.sizes(1).size())
      return shape_error("expand: {} axes and {} sizes", axes.size(), params.sizes(1).size());
    BasicShape<Dim> out = in[0];
    if (!are_axes(axes, out.rank()))
      return shape_error("expand: [{}] must be axes of a tensor of rank {}, ascending", fmt::join(axes, ", "),
                         out.rank());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      where.equal(in[0][static_cast<int>(axes[i])], Dim(1), "the size to repeat");
      out[static_cast<int>(axes[i])] = params.sizes(1)[i];
    }
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    a.out(0).is(a.view(0).repeated(a.out(0), params.integers(0)));
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    REWRIGHT_TRY(const auto wanted, node.constant_integers(1));
    const Shape from = graph.shape(in[0]);
    return single(node.type == "Tile" ? tiled(graph, in[0], from, wanted)
                                      : expanded(graph, in[0], from, Shape(wanted)));
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    Shape to = shapes[0];
    for (std::size_t i = 0; i < params.integers(0).size(); ++i)
      to[static_cast<int>(params.integers(0)[i])] = params.sizes(1)[i];
    return writer.emit("Expand", {in[0], writer.integers(to.dims())});
  }

 private:
  Result<Port> repeated(GraphBuilder& graph, Port x, const Shape& to) const {
    const Shape from = graph.shape(x);
    std::vector<std::int64_t> axes;
    SizeList<std::int64_t> sizes;
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (from[axis] == to[axis]) continue;
      axes.push_back(axis);
      sizes.values.push_back(to[axis]);
    }
    if (axes.empty()) return x;
    REWRIGHT_TRY(const auto ports, graph.apply(*this, Params({std::move(axes), std::move(sizes)}), {x}));
    return ports[0];
  }
  /// Numpy's broadcasting of x and `to`: a 1 in either takes the other's size.
  Result<Port> expanded(GraphBuilder& graph, Port x, Shape from, Shape to) const {
    const int rank = std::max(from.rank(), to.rank());
    from = raised(from, rank);
    to = raised(to, rank);
    for (int axis = 0; axis < rank; ++axis) to[axis] = to[axis] == 1 ? from[axis] : to[axis];
    REWRIGHT_TRY(const Port same_rank, reshaped(graph, x, from));
    return repeated(graph, same_rank, to);
  }
  /// Each axis of size d repeated r times is an axis (r, d), of which the first is expanded.
  Result<Port> tiled(GraphBuilder& graph, Port x, const Shape& from, std::span<const std::int64_t> repeats) const {
    if (repeats.size() != from.dims().size()) return shape_error("Tile: {} repeats for {}", repeats.size(), from);
    Shape split, joined, wide;
    for (int axis = 0; axis < from.rank(); ++axis) {
      const std::int64_t times = repeats[static_cast<std::size_t>(axis)];
      if (times < 0 || times > kFar / std::max<std::int64_t>(from[axis], 1))
        return shape_error("Tile: {} repeats along axis {} of {}", times, axis, from);
      if (times != 1) split.append(1), wide.append(times);
      split.append(from[axis]), wide.append(from[axis]), joined.append(from[axis] * times);
    }
    if (split.rank() > kMaxRank) return unsupported("Tile along so many axes");
    REWRIGHT_TRY(const Port parts, reshaped(graph, x, split));
    REWRIGHT_TRY(const Port copies, repeated(graph, parts, wide));
    return reshaped(graph, copies, joined);
  }
  static Shape raised(const Shape& shape, int rank) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(rank - shape.rank()), 1);
    sizes.insert(sizes.end(), shape.begin(), shape.end());
    return Shape(std::move(sizes));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.expand", "1.0.0", "Repeats along axes of size 1") { registry.add(make_operator<Expand>()); }
