/// Softmax: y = e^x / sum of e^x along `axis`; log_softmax: y = x - ln(sum of e^x along `axis`).
///
/// Shapes  x (any of rank 1 or more) -> y (the same).
/// Errors  kShape if there is no such axis or its size is 0.
/// Source  ONNX operators Softmax and LogSoftmax. The greatest element is subtracted first, so that no e^x overflows.
///         Before opset 13 ONNX normalises over `axis` and all that follow: these are flattened into one.
/// Laws    axioms/normalisation.smt2: softmax(x + c) = softmax(x), which is seen over the prime field while values stay
/// small.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

template <bool kLogarithm>
class SoftmaxOf final : public OnnxNodeOf<SoftmaxOf<kLogarithm>> {
 public:
  static OperatorInfo describe() {
    return {.name = kLogarithm ? "log_softmax" : "softmax",
            .summary = kLogarithm ? "Logarithm of softmax along an axis" : "Softmax along an axis",
            .params = {integer_param("axis", 0)},
            .uses_order = true,
            .uses_functions = true,
            .onnx = {kLogarithm ? "LogSoftmax" : "Softmax"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    REWRIGHT_TRY(const int axis, checked_axis("softmax", params.integer(0), in[0].rank()));
    where.at_least(in[0][axis], Dim(1), "the size along the axis");
    return Shapes<Dim>{in[0]};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int axis = static_cast<int>(params.integer(0)), behind = a.in(0).rank() - axis - 1;
    const auto x = a.in(0).grouped(axis, 1, behind);
    const auto along = over(x.extent(1));
    const auto greatest = a.stage("greatest", x.extent(0), x.extent(2)).is("i j", [&](auto i, auto j) {
      return a.greatest("k", along, [&](auto k) { return x(i, k, j); });
    });
    const auto sum = a.stage("total", x.extent(0), x.extent(2)).is("i j", [&](auto i, auto j) {
      return a.sum("k", along, [&](auto k) { return call(Function::kExp, x(i, k, j) - greatest(i, j)); });
    });
    a.out(0).grouped(axis, 1, behind).is("i k j", [&](auto i, auto k, auto j) {
      return normalised(x(i, k, j) - greatest(i, j), sum(i, j));
    });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    const Shape shape = graph.shape(in[0]);
    const bool flattens = node.opset < 13;
    REWRIGHT_TRY(const auto axis, axis_from_front(node.integer("axis", flattens ? 1 : -1), shape.rank()));
    if (!flattens || axis + 1 == shape.rank()) return graph.apply(*this, Params({axis}), in, node.name);
    const auto middle = shape.begin() + axis;
    Shape flat(std::vector<std::int64_t>(shape.begin(), middle));
    flat.append(Shape(std::vector<std::int64_t>(middle, shape.end())).elements());
    REWRIGHT_TRY(const Port x, reshaped(graph, in[0], flat));
    REWRIGHT_TRY(const auto y, graph.apply(*this, Params({axis}), {x}, node.name));
    return single(reshaped(graph, y[0], shape));
  }

 private:
  template <class Scalar>
  static Scalar normalised(const Scalar& x, const Scalar& sum) {
    return kLogarithm ? x - call(Function::kLog, sum) : call(Function::kExp, x) / sum;
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.softmax", "1.0.0", "Softmax along an axis, and its logarithm") {
  registry.add(make_operator<SoftmaxOf<false>>());
  registry.add(make_operator<SoftmaxOf<true>>());
}
