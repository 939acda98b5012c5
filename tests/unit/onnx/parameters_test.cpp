// Real parameters keep their meaning through ONNX: what is written reads back as the same number, and what was rounded
// to the model's type reads as the number that it was rounded from.
#include <rewright/kit/onnx_mapping.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "support.h"

namespace rewright::onnx_test {
namespace {

/// The real parameters of a graph of one application, written and read back.
struct RoundTrip {
  std::vector<double> before;
  std::vector<double> after;
};

std::vector<double> reals_of(const Graph& graph) {
  std::vector<double> found;
  for (const Node& node : graph.nodes()) {
    if (!node.application()) continue;
    for (const ParamValue& value : node.application()->params.values())
      if (const auto* real = std::get_if<double>(&value)) found.push_back(*real);
  }
  return found;
}

RoundTrip through_onnx(ElementType type, const std::string& op, const std::vector<NamedParam>& params) {
  GraphBuilder builder(&registry());
  std::vector<Port> in = {*builder.input("x", {Shape{1, 2, 4, 4}, type})};
  for (int i = 1; i < registry().find<Operator>(op)->info().min_arity; ++i)
    in.push_back(*builder.input(fmt::format("w{}", i), {op == "layer_norm" ? Shape{4} : Shape{2}, type}));
  const Operator& what = *registry().find<Operator>(op);
  const auto values = make_params(op, what.info().params, params);
  if (!values) fail(values.error().message);
  const auto y = builder.apply(what, *values, in);
  if (!y) fail(y.error().message);
  builder.output(y->front(), "y");
  const Graph graph = builder.finish();
  const auto written = export_model(graph);
  if (!written) fail(written.error().message);
  const auto read = import_model(bytes_of(*written), registry());
  if (!read) fail(read.error().message);
  return {reals_of(graph), reals_of(read->graph)};
}

TEST(RealParameters, AreReadBackAsTheSameNumbers) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
    for (const double number : {1.0 / 6, 2.0 / 3, 0.25, 0.1, 3.0}) {
      const std::vector<std::pair<std::string, std::vector<NamedParam>>> applications = {
          {"leaky_relu", {{"alpha", number}}},
          {"elu", {{"alpha", number}}},
          {"elu", {{"alpha", -number}, {"gamma", number}}},
          {"hard_sigmoid", {{"alpha", number}, {"beta", number}}},
          {"clip", {{"low", -number}, {"high", number}}},
          {"pad",
           {{"before", std::vector<std::int64_t>{0, 0, 1, 0}},
            {"after", std::vector<std::int64_t>{0, 0, 0, 2}},
            {"value", number}}},
          {"layer_norm", {{"axis", std::int64_t{3}}, {"epsilon", number}}},
          {"batch_norm", {{"epsilon", number}}},
      };
      for (const auto& [op, params] : applications) {
        const auto [before, after] = through_onnx(type, op, params);
        EXPECT_EQ(before, after) << op << ", " << number << ", element type " << static_cast<int>(type);
      }
    }
  }
}

TEST(RealParameters, AreTriedForEveryOperatorThatHasThem) {
  std::vector<std::string> names;
  for (const Operator* op : registry().all<Operator>())
    if (std::ranges::any_of(op->info().params, [](const auto& spec) { return spec.kind == ParamKind::kReal; }))
      names.push_back(op->name());
  EXPECT_THAT(names, testing::UnorderedElementsAre("leaky_relu", "elu", "hard_sigmoid", "clip", "pad", "layer_norm",
                                                   "batch_norm", "group_norm"));
}

TEST(RealParameters, OfAModelAreTheNumbersThatWereRounded) {
  constexpr double kGreatestFloat = std::numeric_limits<float>::max();
  EXPECT_EQ(meant_number(ElementType::kFloat32, 1.0F / 6), 1.0 / 6);
  EXPECT_EQ(meant_number(ElementType::kFloat32, kGreatestFloat), kGreatestFloat);
  EXPECT_EQ(meant_number(ElementType::kFloat64, double{0.1F}), double{0.1F}) << "a double is what it is";
  EXPECT_EQ(meant_number(ElementType::kFloat16, 0.0999755859375), 0.1);
  EXPECT_EQ(meant_number(ElementType::kFloat16, 0.1666259765625), 1.0 / 6);
  EXPECT_EQ(meant_number(ElementType::kFloat16, -65504), -65504) << "the least of all is a bound";
  EXPECT_EQ(meant_number(ElementType::kFloat16, 0x3p-24), 0x3p-24) << "subnormal";
  EXPECT_EQ(meant_number(ElementType::kFloat16, 49984), 50000);
  EXPECT_EQ(meant_number(ElementType::kBFloat16, 0.10009765625), 0.1);
  EXPECT_EQ(meant_number(ElementType::kBFloat16, 0.1669921875), 1.0 / 6);
  EXPECT_EQ(meant_number(ElementType::kInt64, 7), 7);
}

/// x through one activation with this alpha, in float32.
std::vector<double> alpha_of(const char* type, std::optional<float> alpha) {
  Model model = make_model();
  add_input(model, "x", {2, 3});
  add_output(model, "y", {2, 3});
  auto& node = add_node(model, type, {"x"}, {"y"});
  if (alpha) {
    auto& attribute = *node.add_attribute();
    attribute.set_name("alpha");
    attribute.set_type(::onnx::AttributeProto::FLOAT);
    attribute.set_f(*alpha);
  }
  const auto imported = import(model);
  if (!imported) fail(imported.error().message);
  return reals_of(imported->graph);
}

TEST(RealParameters, AreTheSameWhetherADefaultIsWrittenOrLeftOut) {
  EXPECT_EQ(alpha_of("Selu", 1.67326319217681884765625F), alpha_of("Selu", std::nullopt));
  EXPECT_EQ(alpha_of("HardSigmoid", 0.2F), alpha_of("HardSigmoid", std::nullopt));
  EXPECT_EQ(alpha_of("HardSigmoid", 0.16666667F), (std::vector<double>{1.0 / 6, 0.5}));
  EXPECT_EQ(alpha_of("HardSwish", std::nullopt), (std::vector<double>{1.0 / 6, 0.5}));
}

}  // namespace
}  // namespace rewright::onnx_test
