/// Group normalisation: y = (x - mean) / sqrt(variance + epsilon) * scale[c] + bias[c], the mean and the variance being
/// those of the elements of one batch and one group of neighbouring channels.
///
/// Shapes  x [N, C, ...], scale [C], bias [C] -> y (as x).
/// Errors  kShape unless x has rank 3 or more, groups divides C, which is not 0, and scale and bias fit.
/// Source  Wu & He, Group Normalization (ECCV'18); ONNX operators InstanceNormalization, which has a group a channel,
///         and GroupNormalization, whose scale and bias are one a group before opset 21.
/// Laws    axioms/decoder.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class GroupNorm final : public OperatorOf<GroupNorm> {
 public:
  static OperatorInfo describe() {
    return {.name = "group_norm",
            .summary = "Normalisation over groups of channels",
            .min_arity = 3,
            .max_arity = 3,
            .params = {required_param("groups", ParamKind::kInt), real_param("epsilon", 1e-5)},
            .uses_functions = true,
            .onnx = {"InstanceNormalization", "GroupNormalization"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    const std::int64_t groups = params.integer(0);
    if (in[0].rank() < 3) return shape_error("group_norm: x has rank {}, expected 3 or more", in[0].rank());
    if (groups < 1 || groups > kFar) return shape_error("group_norm: groups is {}, expected 1 or more", groups);
    for (std::size_t i = 1; i < 3; ++i) {
      if (in[i].rank() != 1) return shape_error("group_norm: operand {} has rank {}, expected 1", i, in[i].rank());
      where.equal(in[0][1], in[i][0], "sizes of x along axis 1 and of the vectors");
    }
    where.divides(groups, in[0][1], "groups, against the channels");
    for (int axis = 1; axis < in[0].rank(); ++axis) where.at_least(in[0][axis], Dim(1), "a normalised size");
    return Shapes<Dim>{in[0]};
  }

  template <class A>
  static void define(A& a, const Params& params) {
    const int rest = a.in(0).rank() - 2;
    const auto x = a.in(0).grouped(1, 1, rest);
    const auto scale = a.in(1), bias = a.in(2);
    const typename A::Size groups = params.integer(0), channels = floor_divide(x.size(1), params.integer(0));
    const auto all = over(channels, x.extent(2));
    const auto count = a.count(all);
    const auto mean = a.stage("mean", x.extent(0), groups).is("n g", [&](auto n, auto g) {
      return a.quotient(a.sum("c i", all, [&](auto c, auto i) { return x(n, g * channels + c, i); }), count);
    });
    const auto epsilon = a.number(params.real(1));
    const auto deviation = a.stage("deviation", x.extent(0), groups).is("n g", [&](auto n, auto g) {
      const auto squares = a.sum("c i", all, [&](auto c, auto i) {
        const auto centred = x(n, g * channels + c, i) - mean(n, g);
        return centred * centred;
      });
      return call(Function::kSqrt, a.quotient(squares, count) + epsilon);
    });
    a.out(0).grouped(1, 1, rest).is("n c i", [&](auto n, auto c, auto i) {
      return (x(n, c, i) - mean(n, c / channels)) / deviation(n, c / channels) * scale(c) + bias(c);
    });
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(auto in, node.operands(3));
    const Shape x = graph.shape(in[0]);
    if (x.rank() < 3) return unsupported("{} of rank {}", node.type, x.rank());
    const std::int64_t groups = node.type == "GroupNormalization" ? node.integer("num_groups", 0) : x[1];
    if (groups < 1 || x[1] % groups != 0) return unsupported("{}: {} groups of {}", node.type, groups, x);
    if (node.integer("stash_type", 1) != 1) return unsupported("{} that stashes another type", node.type);
    const bool is_by_group = node.type == "GroupNormalization" && node.opset < 21;
    for (std::size_t i = 1; is_by_group && i < 3; ++i) {
      std::vector<std::int64_t> group_of;
      for (std::int64_t c = 0; c < x[1]; ++c) group_of.push_back(c / (x[1] / groups));
      REWRIGHT_TRY(in[i], graph.apply1("gather", {{"axis", std::int64_t{0}}, {"indices", group_of}}, {in[i]}));
    }
    return graph.apply(*this, Params({groups, node.real("epsilon", 1e-5)}), in, node.name);
  }
  /// Each group is normalised as one channel; scale and bias come after.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    const Shape& x = shapes[0];
    const std::int64_t groups = params.integer(0);
    const std::map<std::string, OnnxAttribute> epsilon = {{"epsilon", params.real(1)}};
    if (groups == x[1]) return writer.emit("InstanceNormalization", {in.begin(), in.end()}, epsilon);
    const auto filled = [&](double number) {
      return writer.constant({{Shape{groups}, ElementType::kFloat64}, number});
    };
    const auto as = [&](const std::string& tensor, const Shape& shape) {
      return writer.emit("Reshape", {tensor, writer.integers(shape.dims())}, {{"allowzero", std::int64_t{1}}})[0];
    };
    const std::int64_t each = x.elements() == 0 ? 0 : x.elements() / x[0] / groups;
    const std::string apart = as(in[0], {x[0], groups, each});
    const auto even = writer.emit("InstanceNormalization", {apart, filled(1), filled(0)}, epsilon);
    Shape by_channel{x[1]};
    while (by_channel.rank() < x.rank() - 1) by_channel.append(1);
    const auto scaled = writer.emit("Mul", {as(even[0], x), as(in[1], by_channel)});
    return writer.emit("Add", {scaled[0], as(in[2], by_channel)});
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.group_norm", "1.0.0", "Normalisation over groups of channels") {
  registry.add(make_operator<GroupNorm>());
}
