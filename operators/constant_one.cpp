/// A tensor of ones.
///
/// Shapes  -> sizes, of any rank up to 8.
/// Errors  kShape for more sizes.
/// Source  Jia et al., TASO (SOSP'19), table 2 (C_ewmul).
/// Laws    axioms/elementwise.smt2: neutral for ewmul.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class ConstantOne final : public OperatorOf<ConstantOne> {
 public:
  static OperatorInfo describe() {
    return {.name = "constant_one",
            .summary = "Ones",
            .min_arity = 0,
            .max_arity = 0,
            .params = {{.name = "sizes", .kind = ParamKind::kSizes, .required = true}}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim>, Constraints<Dim>& where) {
    const std::vector<Dim>& sizes = params.sizes(0);
    if (sizes.size() > kMaxRank)
      return shape_error("constant_one: {} sizes, expected {} at most", sizes.size(), kMaxRank);
    for (const Dim& size : sizes) where.at_least(size, Dim(0), "size");
    return Shapes<Dim>{BasicShape<Dim>(sizes)};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar>, Outputs<Scalar> out) {
    for (Scalar& value : out[0].values()) value = Scalar::from_integer(1);
  }

  static double flops(const Params&, std::span<const Shape>) { return 0; }

  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string>, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return std::vector{writer.constant({{Shape(params.sizes(0))}, 1.0})};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_one", "1.0.0", "Ones") { registry.add(make_operator<ConstantOne>()); }
