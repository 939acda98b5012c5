/// The weight of a grouped convolution as that of one with fewer groups: `count` neighbouring groups become one, in
/// which each output channel has zeros for the input channels that were not its group's:
///   v[o, p*I + i, s, t] = w[o, i, s, t] for p = g mod count, else 0
/// where g = floor(o / (O / (count * groups))) is the group that output channel o was of.
///
/// Shapes  w [O,I,KH,KW] -> [O,count*I,KH,KW], for a convolution of `groups` groups.
/// Errors  kShape unless the rank is 4 and count * groups divides O.
/// Source  merge_gconv of TASO's rule files (Jia et al., SOSP'19), which leave open how many groups there are.
/// Laws    axioms/convolution.smt2: conv2d[groups=count*groups](x, w) = conv2d[groups=groups](x, merge_gconv(w)).
#include <rewright/kit/window.h>
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>
#include <rewright/tensor/strides.h>

#include <utility>

namespace {
using namespace rewright;

enum Param : std::size_t { kCount, kGroups };

class MergeGconv final : public OperatorOf<MergeGconv> {
 public:
  static OperatorInfo describe() {
    return {.name = "merge_gconv",
            .summary = "The weight of a grouped convolution for one with fewer groups",
            .params = {required_param("count", ParamKind::kInt), integer_param("groups", 1)},
            .multilinear = true};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const std::int64_t count = params.integer(kCount), groups = params.integer(kGroups);
    for (const auto& [name, value] : {std::pair("count", count), std::pair("groups", groups)})
      if (value < 1 || value > kMaxWindowParameter)
        return shape_error("merge_gconv: {} is {}, expected 1 or more", name, value);
    if (in[0].rank() != 4)
      return shape_error("merge_gconv: the weight has rank {}, expected 4 (O, I, KH, KW)", in[0].rank());
    if (count > kFar / groups || known(in[0][1]).value_or(0) > kFar / count)
      return shape_error("merge_gconv: {} times {} groups are more channels than any tensor has", count, groups);
    where.divides(count * groups, in[0][0], "count times groups, against the output channels");
    return Shapes<Dim>{{in[0][0], in[0][1] * Dim(count), in[0][2], in[0][3]}};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const std::int64_t count = params.integer(kCount), groups = params.integer(kGroups);
    const auto w = a.in(0).grouped(1, 1, 2);
    const auto outputs_of_group = floor_divide(w.size(0), count * groups), channels = w.size(1);
    a.out(0).grouped(1, 1, 2).is("o c s", [&](auto o, auto c, auto s) {
      return a.select(c / channels == o / outputs_of_group % count, w(o, c % channels, s), a.number(0));
    });
  }

  /// `count` copies side by side, times ones where they stay.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> in_shapes, OnnxWriter& writer) const override {
    const std::int64_t count = params.integer(kCount);
    const Shape& w = in_shapes[0];
    Tensor<Real> ones(Shape{w[0], w[1], 1, 1}), stays(Shape{w[0], count * w[1], 1, 1});
    for (Real& one : ones.values()) one = Real{1};
    const TensorView<const Real> from[] = {std::as_const(ones).view()};
    const TensorView<Real> to[] = {stays.view()};
    evaluate(params, from, to);
    const std::vector<std::string> copies(static_cast<std::size_t>(count), in[0]);
    const auto joined = count == 1 ? copies : writer.emit("Concat", copies, {{"axis", std::int64_t{1}}});
    return writer.emit("Mul", {joined[0], writer.constant(constant_of(stays))});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.merge_gconv", "1.0.0", "Fewer groups for a convolution's weight") {
  registry.add(make_operator<MergeGconv>());
}
