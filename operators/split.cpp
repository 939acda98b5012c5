/// Consecutive parts of a tensor along an axis.
///
/// Shapes  x [.., n1 + n2 + .., ..] -> [.., n1, ..], [.., n2, ..], .., where `sizes` are n1, n2, ..
/// Errors  kShape unless 0 <= axis < rank, there are two sizes or more and they add up to the axis.
/// Source  ONNX operator Split.
/// Laws    axioms/layout.smt2: undoes concat.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/kit/param_specs.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

constexpr std::int64_t kMaxPart = std::int64_t{1} << 40;  // No tensor is larger; sums of such parts do not overflow.

class Split final : public OperatorOf<Split> {
 public:
  static OperatorInfo describe() {
    return {.name = "split",
            .summary = "Consecutive parts along an axis",
            .params = {integer_param("axis", 0), required_param("sizes", ParamKind::kSizes)},
            .multilinear = true,
            .onnx = {"Split"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const std::int64_t axis = params.integer(0);
    const std::vector<Dim>& sizes = params.sizes(1);
    if (axis < 0 || axis >= in[0].rank()) {
      return shape_error("split: axis {} of an operand of rank {}, expected 0 <= axis < rank", axis, in[0].rank());
    }
    if (sizes.size() < 2) return shape_error("split: {} part sizes, expected two or more", sizes.size());
    Shapes<Dim> out(sizes.size(), in[0]);
    Dim sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (const std::int64_t size = known(sizes[i]).value_or(0); size > kMaxPart || size < -kMaxPart)
        return shape_error("split: part size {}, expected 0 to 2^40", size);
      where.at_least(sizes[i], Dim(0), "part size");
      sum = sum + sizes[i];
      out[i][static_cast<int>(axis)] = part(in[0][static_cast<int>(axis)], sizes, i);
    }
    where.equal(sum, in[0][static_cast<int>(axis)], "sum of the part sizes, against the size of the axis");
    return out;
  }

  /// The size of part i. Where the operand was joined of these very parts, it remembers their own cuts.
  template <class Dim>
  static Dim part(const Dim& whole, const std::vector<Dim>& sizes, std::size_t i) {
    if constexpr (requires { whole.cut(); }) {
      if (const auto* cut = whole.cut(); cut != nullptr && sizes.size() == 2) {
        const Dim& joined = i == 0 ? cut->first : cut->second;
        if (joined - sizes[i] == Dim(0)) return joined;
      }
    }
    return sizes[i];
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0));
    typename A::Size first = 0;
    for (std::size_t k = 0; k < a.outputs(); ++k) {
      const auto size = a.out(k).size(axis);
      a.out(k).is(a.view(0).part(axis, first, size));
      first = first + size;
    }
  }

  /// Sizes: input 1 (opset 13 and later), the attribute before; else equal parts, the last of which may be smaller from
  /// opset 18 on.
  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const std::vector<Port> in, node.operands(1));
    const Shape& shape = graph.shape(in[0]);
    REWRIGHT_TRY(const std::int64_t axis, axis_from_front(node.integer("axis", 0), shape.rank()));
    REWRIGHT_TRY(std::vector<std::int64_t> sizes, listed(node, "split", 1, {}));
    if (sizes.empty()) {
      const std::int64_t parts = static_cast<std::int64_t>(node.output_count), size = shape[static_cast<int>(axis)];
      if (parts == 0 || (node.opset < 18 && size % parts != 0)) {
        return unsupported("Split {}: {} does not fall into {} equal parts", node.name, size, parts);
      }
      const std::int64_t length = (size + parts - 1) / parts;
      for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<std::int64_t>(size - i * length, 0, length));
    }
    if (sizes.size() != node.output_count) return unsupported("Split: sizes and outputs differ");
    if (sizes.size() == 1) return in;
    return graph.apply(*this, Params({axis, SizeList<std::int64_t>{sizes}}), in, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    const std::vector<std::int64_t>& sizes = params.sizes(1);
    return writer.emit("Split", {in[0], writer.integers(sizes)}, {{"axis", params.integer(0)}}, sizes.size());
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.split", "1.0.0", "Consecutive parts along an axis") { registry.add(make_operator<Split>()); }
