/// The convolution weight that averages: w[o,i,s,t] = 1 / (KH * KW) where o mod I = i, else 0.
///
/// Shapes  -> [O,I,KH,KW] = sizes.
/// Errors  kShape unless there are four sizes, of which the last two are 1 or more.
/// Source  Jia et al., TASO (SOSP'19), table 2 (C_pool).
/// Laws    axioms/convolution.smt2: conv2d(x, constant_pool) = pool2d_avg(x) with count_include_pad=yes, where sizes =
///         [C, C/groups, KH, KW], for every number of groups: dense and depthwise convolutions alike.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ConstantPool final : ConstantOf<ConstantPool> {
  static OperatorInfo describe() {
    return {.name = "constant_pool",
            .summary = "The convolution weight that averages",
            .min_arity = 0,
            .max_arity = 0,
            .params = constant_params()};
  }
  template <class Dim>
  static Status check(const std::vector<Dim>& sizes, Constraints<Dim>& where) {
    return check_weight_sizes("constant_pool", sizes, where);
  }
  template <class Scalar>
  static Scalar value(const Shape& w, std::span<const std::int64_t> i) {
    if (i[0] % w[1] != i[1]) return Scalar{};
    return Scalar::from_integer(1) / Scalar::from_integer(w[2] * w[3]);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_pool", "1.0.0", "Averaging weight") { registry.add(make_operator<ConstantPool>()); }
