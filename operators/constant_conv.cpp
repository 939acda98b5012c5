/// The convolution weight that changes nothing: w[o,i,s,t] = 1 where o mod I = i and (s, t) is the centre tap
/// (floor((KH - 1) / 2), floor((KW - 1) / 2)), else 0.
///
/// Shapes  -> [O,I,KH,KW] = sizes.
/// Errors  kShape unless there are four sizes, of which the last two are 1 or more.
/// Source  Jia et al., TASO (SOSP'19), table 2 (I_conv).
/// Laws    axioms/convolution.smt2: conv2d(x, constant_conv) = x for padding=same, stride 1, dilation 1 or odd kernels,
///         where sizes = [C, C/groups, KH, KW], for every number of groups.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class ConstantConv final : public OperatorOf<ConstantConv> {
 public:
  static OperatorInfo describe() {
    return {.name = "constant_conv",
            .summary = "The convolution weight that changes nothing",
            .min_arity = 0,
            .max_arity = 0,
            .params = {{.name = "sizes", .kind = ParamKind::kSizes, .required = true}}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim>, Constraints<Dim>& where) {
    const std::vector<Dim>& sizes = params.sizes(0);
    if (sizes.size() != 4) return shape_error("constant_conv: {} sizes, expected 4 (O, I, KH, KW)", sizes.size());
    for (std::size_t axis = 0; axis < 4; ++axis) where.at_least(sizes[axis], Dim(axis < 2 ? 0 : 1), "size");
    return Shapes<Dim>{BasicShape<Dim>(sizes)};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar>, Outputs<Scalar> out) {
    const TensorView<Scalar>& w = out[0];
    const std::int64_t row = (w.size(2) - 1) / 2, column = (w.size(3) - 1) / 2;
    std::int64_t at = 0;
    for_each_index(w.shape(), [&](std::span<const std::int64_t> i) {
      const bool one = i[0] % w.size(1) == i[1] && i[2] == row && i[3] == column;
      w[at++] = one ? Scalar::from_integer(1) : Scalar{};
    });
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

REWRIGHT_PLUGIN("operator.constant_conv", "1.0.0", "Identity convolution weight") {
  registry.add(make_operator<ConstantConv>());
}
