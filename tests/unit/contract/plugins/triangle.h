// The upper or the lower triangle of each matrix: y[i][j] = x[i][j] where j >= i (upper) or j <= i, else 0.
//
// Shapes  x (..., m, n) -> y of the same.
// ONNX    Trilu, whose attribute `upper` is 1 by default.
#pragma once

#include <rewright/kit/onnx_mapping.h>
#include <rewright/operator/operator.h>

namespace rewright::testing {

/// kForgetful: its reader takes every Trilu for the default one.
template <bool kForgetful>
struct Triangle final : OperatorOf<Triangle<kForgetful>> {
  static OperatorInfo describe() {
    return {.name = "triangle",
            .summary = "A triangle of each matrix",
            .params = {{.name = "side",
                        .kind = ParamKind::kChoice,
                        .default_value = std::int64_t{1},
                        .choices = {"lower", "upper"}}},
            .multilinear = true,
            .onnx = {"Trilu"}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    if (in[0].rank() < 2) return shape_error("its operand has rank {}, expected 2 or more", in[0].rank());
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const int batch = a.in(0).rank() - 2;
    const auto x = a.in(0).grouped(batch, 1, 1);
    const bool upper = params.integer(0) == 1;
    a.out(0).grouped(batch, 1, 1).is("b i j", [&](auto b, auto i, auto j) {
      return a.select(upper ? j >= i : j <= i, x(b, i, j), a.number(0));
    });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    if (node.has_input(1)) return unsupported("triangles beside the diagonal are not read");
    const std::int64_t side = kForgetful || node.integer("upper", 1) != 0 ? 1 : 0;
    return graph.apply(*this, Params({side}), in, node.name);
  }
};

}  // namespace rewright::testing
