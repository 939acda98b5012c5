/// Negation: B[i] = -A[i].
///
/// Shapes  A of any shape -> B of the same.
/// Errors  none beyond the arity.
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct Negate final : OperatorOf<Negate> {
  static OperatorInfo describe() { return {.name = "negate", .summary = "-A", .multilinear = true}; }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }

  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return a.number(0) - x(i); });
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.negate", "1.0.0", "Negation") { registry.add<Operator>(make_operator<Negate>()); }
