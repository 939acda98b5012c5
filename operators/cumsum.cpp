/// Cumulative sum: y[.., i, ..] = sum of x[.., k, ..] over the k that are not behind i along `axis`; `exclusive`:
/// those before i; `reverse`: from the end.
///
/// Shapes  x (any of rank 1 or more) -> y (the same).
/// Errors  kShape if there is no such axis.
/// Source  ONNX operator CumSum, where the axis is known when the model is read.
/// Laws    axioms/sequence.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class CumSum final : public OperatorOf<CumSum> {
 public:
  static OperatorInfo describe() {
    return {.name = "cumsum",
            .summary = "Sums of all elements up to each along an axis",
            .params = {integer_param("axis", 0), choice_param("exclusive", {"no", "yes"}),
                       choice_param("reverse", {"no", "yes"})},
            .multilinear = true,
            .onnx = {"CumSum"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>&) {
    REWRIGHT_CHECK(checked_axis("cumsum", params.integer(0), in[0].rank()));
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0)), behind = a.in(0).rank() - axis - 1;
    const bool is_exclusive = params.choice(1) != 0, is_reverse = params.choice(2) != 0;
    const auto x = a.in(0).grouped(axis, 1, behind);
    const typename A::Size size = x.size(1);
    const auto sums = a.stage("sums", size + 1, x.extent(0), x.extent(2));
    sums.at(0).is("i j", [&](auto, auto) { return a.number(std::int64_t{0}); });
    a.serial("m", size, [&](auto m) {
      sums.at(m + 1).is("i j", [&](auto i, auto j) {
        if (is_reverse) return sums.read()(m, i, j) + x(i, size - 1 - m, j);
        return sums.read()(m, i, j) + x(i, m, j);
      });
    });
    a.out(0).grouped(axis, 1, behind).is("i m j", [&](auto i, auto m, auto j) {
      if (is_reverse) return sums.read()(is_exclusive ? size - 1 - m : size - m, i, j);
      return sums.read()(is_exclusive ? m : m + 1, i, j);
    });
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
