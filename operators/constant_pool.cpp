/// The convolution weight that averages: w[o,i,s,t] = 1 / (KH * KW) where o mod I = i, else 0.
///
/// Shapes  -> [O,I,KH,KW] = sizes.
/// Errors  kShape unless there are four sizes, of which the last two are 1 or more.
/// Source  Jia et al., TASO (SOSP'19), table 2 (C_pool).
/// Laws    axioms/convolution.smt2: conv2d(x, constant_pool) = pool2d_avg(x) with count_include_pad=yes, where sizes =
///         [C, C/groups, KH, KW],
/// for
///         every number of groups: dense and depthwise convolutions alike.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class ConstantPool final : public OperatorOf<ConstantPool> {
 public:
  static OperatorInfo describe() {
    return {.name = "constant_pool",
            .summary = "The convolution weight that averages",
            .min_arity = 0,
            .max_arity = 0,
            .params = {{.name = "sizes", .kind = ParamKind::kSizes, .required = true}}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim>, Constraints<Dim>& where) {
    const std::vector<Dim>& sizes = params.sizes(0);
    if (sizes.size() != 4) return shape_error("constant_pool: {} sizes, expected 4 (O, I, KH, KW)", sizes.size());
    for (std::size_t axis = 0; axis < 4; ++axis) where.at_least(sizes[axis], Dim(axis < 2 ? 0 : 1), "size");
    return Shapes<Dim>{BasicShape<Dim>(sizes)};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar>, Outputs<Scalar> out) {
    const TensorView<Scalar>& w = out[0];
    const Scalar share = Scalar::from_integer(1) / Scalar::from_integer(w.size(2) * w.size(3));
    std::int64_t at = 0;
    for_each_index(w.shape(),
                   [&](std::span<const std::int64_t> i) { w[at++] = i[0] % w.size(1) == i[1] ? share : Scalar{}; });
  }

  static double flops(const Params&, std::span<const Shape>) { return 0; }

  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string>, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    Tensor<Real> w{Shape(params.sizes(0))};
    apply<Real>(params, {}, std::array{w.view()});
    return std::vector{writer.constant(constant_of(w))};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_pool", "1.0.0", "Averaging weight") { registry.add(make_operator<ConstantPool>()); }
