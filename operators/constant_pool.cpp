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
  static OperatorInfo describe() { return constant_info("constant_pool", "The convolution weight that averages"); }
  template <class Dim>
  static Status check(const std::vector<Dim>& sizes, Constraints<Dim>& where) {
    return check_weight_sizes("constant_pool", sizes, where);
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto w = a.out(0).grouped(1, 1, 1, 1);
    const auto share = a.quotient(a.number(1), w.size(2) * w.size(3));
    w.is("o i s t", [&](auto o, auto i, auto, auto) { return a.select(o % w.size(1) == i, share, a.number(0)); });
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_pool", "1.0.0", "Averaging weight") { registry.add(make_operator<ConstantPool>()); }
