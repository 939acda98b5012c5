// Two operators of a person's own, with parameters side by side that no operator of this tree has; a room whose tests
// want them has them as its plugin own_operators.
#pragma once

#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/plugin/registry.h>

#include <memory>
#include <string>

namespace rewright::test {

/// y = by * x, in a tensor of shape `sizes`: sizes and a number with a fraction.
struct Resized final : OperatorOf<Resized> {
  static OperatorInfo describe() {
    return {.name = "resized",
            .summary = "by * x, in another shape",
            .params = {{.name = "sizes", .kind = ParamKind::kSizes, .required = true},
                       {.name = "by", .kind = ParamKind::kReal, .default_value = 1.0}},
            .multilinear = true};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    BasicShape<Dim> out(params.sizes(0));
    Dim before(1), after(1);
    for (const Dim& dim : in[0].dims()) before = before * dim;
    for (const Dim& dim : out.dims()) after = after * dim;
    where.equal(before, after, "numbers of elements before and after");
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const auto x = a.in(0);
    const auto by = a.number(params.real(1));
    a.out(0).is("i", [&](auto i) { return by * x.in_order(i); });
  }
};

/// y = by * (x0 + x1) or by * x0 * x1: two operands that may be exchanged, and every other kind of parameter.
struct Blend final : OperatorOf<Blend> {
  static OperatorInfo describe() {
    return {.name = "blend",
            .summary = "by times a sum or a product",
            .min_arity = 2,
            .max_arity = 2,
            .params = {{.name = "by", .kind = ParamKind::kReal, .default_value = 1.0},
                       {.name = "mode", .kind = ParamKind::kChoice, .choices = {"sum", "product"}},
                       {.name = "marks", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{}}},
            .commutative = true};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[0].rank() != in[1].rank()) return make_error(ErrorCode::kShape, "blend: the operands' ranks differ");
    for (int axis = 0; axis < in[0].rank(); ++axis) where.equal(in[0][axis], in[1][axis], "sizes of both operands");
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params& params) {
    const auto x = a.in(0), y = a.in(1);
    const auto by = a.number(params.real(0));
    const bool adds = params.integer(1) == 0;
    a.out(0).is("i", [&](auto i) { return by * (adds ? x(i) + y(i) : x(i) * y(i)); });
  }
};

inline void add_own_operators(Registry& registry) {
  registry.add<Operator>(std::make_unique<Resized>());
  registry.add<Operator>(std::make_unique<Blend>());
}

/// The operators of this tree and those of the plugin `file`.
inline Registry load_own_operators(const std::string& file) {
  Registry registry;
  if (auto status = registry.load_default(); !status) fail(status.error().message);
  if (auto status = registry.load(file); !status) fail(status.error().message);
  return registry;
}

}  // namespace rewright::test
