/// The identity matrix, in each batch: a[..,i,j] = 1 where i = j, else 0.
///
/// Shapes  -> [..,N,N] = sizes, of rank 2, 3 or 4.
/// Errors  kShape unless there are two to four sizes, of which the last two are equal.
/// Source  Jia et al., TASO (SOSP'19), table 2 (I_matmul).
/// Laws    axioms/linear_algebra.smt2: neutral for matmul, on both sides.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class ConstantIdentity final : public OperatorOf<ConstantIdentity> {
 public:
  static OperatorInfo describe() {
    return {.name = "constant_identity",
            .summary = "Identity matrix",
            .min_arity = 0,
            .max_arity = 0,
            .params = {{.name = "sizes", .kind = ParamKind::kSizes, .required = true}}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim>, Constraints<Dim>& where) {
    const std::vector<Dim>& sizes = params.sizes(0);
    const std::size_t rank = sizes.size();
    if (rank < 2 || rank > 4) return shape_error("constant_identity: {} sizes, expected 2 to 4", rank);
    for (const Dim& size : sizes) where.at_least(size, Dim(0), "size");
    where.equal(sizes[rank - 2], sizes[rank - 1], "sizes of the matrix");
    return Shapes<Dim>{BasicShape<Dim>(sizes)};
  }

  template <class Scalar>
  static void apply(const Params&, Inputs<Scalar>, Outputs<Scalar> out) {
    const std::int64_t n = out[0].size(out[0].rank() - 1);
    for (std::int64_t at = 0; at < out[0].elements(); ++at) {
      out[0][at] = Scalar::from_integer(at / n % n == at % n ? 1 : 0);
    }
  }

  static double flops(const Params&, std::span<const Shape>) { return 0; }

  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string>, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    Tensor<Real> a{Shape(params.sizes(0))};
    apply<Real>(params, {}, std::array{a.view()});
    return std::vector{writer.constant(constant_of(a))};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_identity", "1.0.0", "Identity matrix") {
  registry.add(make_operator<ConstantIdentity>());
}
