/// The square of each element: y[i] = x[i]^2.
///
/// Shapes  x of any shape -> y of the same.
/// Errors  none beyond the arity.
/// Laws    @name@.smt2: a product of a tensor with itself.
#include <rewright/kit/onnx_mapping.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class @Name@ final : public OperatorOf<@Name@> {
 public:
  static OperatorInfo describe() { return {.name = "@name@", .summary = "The square of each element"}; }

  // Over sizes: numbers, sizes with cuts and symbols alike. What must hold for the operands goes to `where`.
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& /*where*/) {
    return Shapes<Dim>{in[0]};
  }

  // The meaning at an index, once: what is computed over a prime field, exact rationals, double precision and symbolic
  // terms, and written down for loops and code.
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x(i) * x(i); });
  }

  // How it is written to ONNX, so that optimised models run everywhere.
  Result<std::vector<std::string>> to_onnx(const Params&, std::span<const std::string> in, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return writer.emit("Mul", {in[0], in[0]});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.@name@", "0.1.0", "The square of each element") { registry.add(make_operator<@Name@>()); }
