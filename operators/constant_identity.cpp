/// The identity matrix, in each batch: a[..,i,j] = 1 where i = j, else 0.
///
/// Shapes  -> [..,N,N] = sizes, of rank 2, 3 or 4.
/// Errors  kShape unless there are two to four sizes, of which the last two are equal.
/// Source  Jia et al., TASO (SOSP'19), table 2 (I_matmul).
/// Laws    axioms/linear_algebra.smt2: neutral for matmul, on both sides.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ConstantIdentity final : ConstantOf<ConstantIdentity> {
  static OperatorInfo describe() { return constant_info("constant_identity", "Identity matrix"); }
  template <class Dim>
  static Status check(const std::vector<Dim>& sizes, Constraints<Dim>& where) {
    const std::size_t rank = sizes.size();
    if (rank < 2 || rank > 4) return shape_error("constant_identity: {} sizes, expected 2 to 4", rank);
    for (const Dim& size : sizes) where.at_least(size, Dim(0), "size");
    where.equal(sizes[rank - 2], sizes[rank - 1], "sizes of the matrix");
    return {};
  }
  template <class A>
  static void define(A& a, const Params&) {
    a.out(0).grouped(a.out(0).rank() - 2, 1, 1).is("b i j", [&](auto, auto i, auto j) {
      return a.select(i == j, a.number(1), a.number(0));
    });
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_identity", "1.0.0", "Identity matrix") {
  registry.add(make_operator<ConstantIdentity>());
}
