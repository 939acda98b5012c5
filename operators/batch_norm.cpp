/// Batch normalisation at inference: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, per channel.
///
/// Shapes  x [N, C, ...], scale [C], bias [C], mean [C], variance [C] -> y (as x).
/// Errors  kShape unless x has rank 2 or more and the others are vectors of its size along axis 1.
/// Source  Ioffe & Szegedy, Batch Normalization (ICML'15), algorithm 2; ONNX operator BatchNormalization.
/// Laws    axioms/normalisation.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class BatchNorm final : public OnnxNodeOf<BatchNorm> {
 public:
  static OperatorInfo describe() {
    return {.name = "batch_norm",
            .summary = "Batch normalisation at inference",
            .min_arity = 5,
            .max_arity = 5,
            .params = {real_param("epsilon", 1e-5)},
            .uses_functions = true,
            .onnx = {"BatchNormalization"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[0].rank() < 2) return shape_error("batch_norm: x has rank {}, expected 2 or more", in[0].rank());
    for (std::size_t i = 1; i < 5; ++i) {
      if (in[i].rank() != 1) return shape_error("batch_norm: operand {} has rank {}, expected 1", i, in[i].rank());
      where.equal(in[0][1], in[i][0], "sizes of x along axis 1 and of the vectors");
    }
    return Shapes<Dim>{in[0]};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int rest = a.in(0).rank() - 2;
    const auto x = a.in(0).grouped(1, 1, rest);
    const auto scale = a.in(1), bias = a.in(2), mean = a.in(3), variance = a.in(4);
    const auto epsilon = a.number(params.real(0));
    const auto deviation =
        a.stage("deviation", x.extent(1)).is("c", [&](auto c) { return call(Function::kSqrt, variance(c) + epsilon); });
    a.out(0).grouped(1, 1, rest).is("n c i", [&](auto n, auto c, auto i) {
      return (x(n, c, i) - mean(c)) / deviation(c) * scale(c) + bias(c);
    });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(5));
    const bool training = node.integer("training_mode", 0) != 0 || node.output_count > 1 ||
                          (node.opset < 7 && node.integer("is_test", 0) == 0);
    if (training) return unsupported("BatchNormalization in training mode");
    if (node.opset < 9 && node.integer("spatial", 1) == 0)
      return unsupported("BatchNormalization with statistics per element");
    REWRIGHT_TRY(auto params, params_from_attributes(info(), node));
    return graph.apply(*this, std::move(params), in, node.name);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.batch_norm", "1.0.0", "Batch normalisation at inference") {
  registry.add(make_operator<BatchNorm>());
}
