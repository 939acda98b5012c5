/// Cumulative sum: y[.., i, ..] = sum of x[.., k, ..] over the k that are not behind i along `axis`; `exclusive`:
/// those before i; `reverse`: from the end.
///
/// Shapes  x (any of rank 1 or more) -> y (the same).
/// Errors  kShape if there is no such axis.
/// Source  ONNX operator CumSum, where the axis is known when the model is read.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class CumSum final : public OperatorOf<CumSum> {
 public:
  static OperatorInfo describe() {
    return {.name = "cumsum",
            .summary = "Sums of all elements up to each along an axis",
            .params = {{.name = "axis", .default_value = std::int64_t{0}},
                       {.name = "exclusive",
                        .kind = ParamKind::kChoice,
                        .default_value = std::int64_t{0},
                        .choices = {"no", "yes"}},
                       {.name = "reverse",
                        .kind = ParamKind::kChoice,
                        .default_value = std::int64_t{0},
                        .choices = {"no", "yes"}}},
            .multilinear = true,
            .onnx = {"CumSum"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    const std::int64_t axis = params.integer(0);
    if (axis < 0 || axis >= in[0].rank())
      return shape_error("cumsum: there is no axis {} in a tensor of rank {}", axis, in[0].rank());
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0)), behind = a.in(0).rank() - axis - 1;
    const bool is_exclusive = params.choice(1) != 0, is_reverse = params.choice(2) != 0;
    const auto x = a.in(0).grouped(axis, 1, behind);
    const auto zero = a.number(std::int64_t{0});
    a.out(0).grouped(axis, 1, behind).is("i m j", [&](auto i, auto m, auto j) {
      return a.sum("k", over(x.size(1)), [&](auto k) {
        const auto counts = is_exclusive ? (is_reverse ? m < k : k < m) : (is_reverse ? m <= k : k <= m);
        return a.select(counts, x(i, k, j), zero);
      });
    });
  }
  /// The same in one pass: the work is that of the axis, not of its square.
  template <class Scalar>
  static void kernel(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) {
    const auto axis = static_cast<std::size_t>(params.integer(0));
    const bool is_exclusive = params.choice(1) != 0, is_reverse = params.choice(2) != 0;
    const std::int64_t size = in[0].size(static_cast<int>(axis)), stride = strides_of(in[0].shape())[axis];
    for (std::int64_t row = 0; size > 0 && row < in[0].elements() / size; ++row) {
      const std::int64_t first = row / stride * stride * size + row % stride;
      Scalar sum{};
      for (std::int64_t k = 0; k < size; ++k) {
        const auto at = static_cast<std::size_t>(first + (is_reverse ? size - 1 - k : k) * stride);
        const Scalar& x = in[0].data()[at];
        if (is_exclusive) out[0].data()[at] = sum;
        sum += x;
        if (!is_exclusive) out[0].data()[at] = sum;
      }
    }
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(2));
    REWRIGHT_TRY(const auto given, node.constant_integers(1));
    if (given.size() != 1) return unsupported("CumSum along {} axes", given.size());
    REWRIGHT_TRY(const auto axis, axis_from_front(given[0], graph.shape(in[0]).rank()));
    const std::int64_t exclusive = node.integer("exclusive", 0) != 0, reverse = node.integer("reverse", 0) != 0;
    return graph.apply(*this, Params({axis, exclusive, reverse}), {in[0]}, node.name);
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    const std::array axis = {params.integer(0)};
    return writer.emit("CumSum", {in[0], writer.integers(axis)},
                       {{"exclusive", params.integer(1)}, {"reverse", params.integer(2)}});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.cumsum", "1.0.0", "Cumulative sums") { registry.add(make_operator<CumSum>()); }
