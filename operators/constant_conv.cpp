/// The convolution weight that changes nothing: w[o,i,s,t] = 1 where o mod I = i and (s, t) is the centre tap
/// (floor((KH - 1) / 2), floor((KW - 1) / 2)), else 0.
///
/// Shapes  -> [O,I,KH,KW] = sizes.
/// Errors  kShape unless there are four sizes, of which the last two are 1 or more.
/// Source  Jia et al., TASO (SOSP'19), table 2 (I_conv).
/// Laws    axioms/convolution.smt2: conv2d(x, constant_conv) = x for padding=same, stride 1, dilation 1 or odd kernels,
///         where sizes = [C, C/groups, KH, KW], for every number of groups.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ConstantConv final : ConstantOf<ConstantConv> {
  static OperatorInfo describe() {
    return constant_info("constant_conv", "The convolution weight that changes nothing");
  }
  template <class Dim>
  static Status check(const std::vector<Dim>& sizes, Constraints<Dim>& where) {
    return check_weight_sizes("constant_conv", sizes, where);
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto w = a.out(0).grouped(1, 1, 1, 1);
    const auto row = floor_divide(w.size(2) - 1, 2), column = floor_divide(w.size(3) - 1, 2);
    w.is("o i s t", [&](auto o, auto i, auto s, auto t) {
      return a.select(o % w.size(1) == i && s == row && t == column, a.number(1), a.number(0));
    });
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_conv", "1.0.0", "Identity convolution weight") {
  registry.add(make_operator<ConstantConv>());
}
