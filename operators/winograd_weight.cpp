/// Filters of three by three taps, as Winograd's convolution multiplies them:
///   u[a, b, 0, 0, c, o] = sum over s, t of G[a][s] * G[b][t] * w[o, c, s, t]
/// where G is that of <rewright/kit/winograd.h>.
///
/// Shapes  w [O,C,3,3] -> [m+2,m+2,1,1,C,O]
/// Errors  kShape unless m is 2 or 4, the rank is 4, and a filter has three by three taps.
/// Source  Lavin & Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
/// Laws    axioms/algorithms.smt2.
#include <rewright/kit/winograd.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/definition.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class WinogradWeight final : public OperatorOf<WinogradWeight> {
 public:
  static OperatorInfo describe() {
    return {.name = "winograd_weight",
            .summary = "Filters, transformed for Winograd's convolution",
            .params = {integer_param("outputs", 4)},
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const auto matrices, WinogradMatrices::of("winograd_weight", params.integer(0)));
    const BasicShape<Dim>& w = in[0];
    if (w.rank() != 4) return shape_error("winograd_weight: the weight has rank {}, expected 4 (O, C, 3, 3)", w.rank());
    for (const int axis : {2, 3}) where.equal(w[axis], Dim(WinogradMatrices::kTaps), "taps of a filter");
    return Shapes<Dim>{{Dim(matrices.size()), Dim(matrices.size()), Dim(1), Dim(1), w[1], w[0]}};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const auto matrices = *WinogradMatrices::of("winograd_weight", params.integer(0));
    const std::int64_t size = matrices.size();
    const auto w = a.in(0).grouped(1, 1, 1, 1);
    const auto u = a.out(0).grouped(1, 1, 1, 1, 1, 1);
    const auto one = typename A::Size(1);
    for (std::int64_t r = 0; r < size; ++r) {
      for (std::int64_t column = 0; column < size; ++column) {
        u.at(r).at(column).is("p q c o", [&](auto, auto, auto c, auto o) {
          const auto sum = winograd_sum(a, matrices.weight(r), [&](std::int64_t s) {
            return winograd_sum(a, matrices.weight(column), [&](std::int64_t t) { return w(o, c, s, t); });
          });
          return a.quotient(sum, one * (matrices.weight_divisor(r) * matrices.weight_divisor(column)));
        });
      }
    }
  }

  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    const auto matrices = *WinogradMatrices::of("winograd_weight", params.integer(0));
    const std::int64_t size = matrices.size();
    const Tensor<Real> g = winograd_blocks(
        1, size, 0, WinogradMatrices::kTaps, [&](std::int64_t a) { return matrices.weight(a); },
        [&](std::int64_t a) { return matrices.weight_divisor(a); });
    const auto rows = writer.emit("MatMul", {writer.constant(constant_of(g)), in[0]});
    const auto both = writer.emit("MatMul", {rows[0], writer.constant(constant_of(turned(g)))});
    const auto order = writer.emit("Transpose", {both[0]}, {{"perm", std::vector<std::int64_t>{2, 3, 1, 0}}});
    return writer.emit(
        "Reshape",
        {order[0], writer.integers(std::vector<std::int64_t>{size, size, 1, 1, shapes[0][1], shapes[0][0]})});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.winograd_weight", "1.0.0", "Filters for Winograd's convolution") {
  registry.add(make_operator<WinogradWeight>());
}
