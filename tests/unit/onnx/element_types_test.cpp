// Bounds and attributes by the element type of the node that has them: what is read, written and computed in float64
// and float16 models, at the ends of the range too.
#include <rewright/onnx/onnx.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "numbers.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

using testing::ElementsAre;
using Tensor = ::onnx::TensorProto;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add_number(Model& model, const std::string& name, int element, double value) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(element);
  const auto bytes = encode(static_cast<ElementType>(element), std::span(&value, 1));
  tensor.set_raw_data(bytes.data(), bytes.size());
}

void set_real(::onnx::NodeProto& node, const std::string& name, float value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

/// What the model gives for these values of its input x.
std::vector<double> results(const Model& model, int element, const std::vector<double>& x) {
  const TensorType type{Shape{static_cast<std::int64_t>(x.size())}, static_cast<ElementType>(element)};
  const std::vector<RuntimeTensor> inputs = {{"x", type, encode(type.element, x)}};
  const auto outputs = run(model.SerializeAsString(), inputs);
  if (!outputs) fail(outputs.error().message);
  return *to_reals({outputs->front().type, outputs->front().bytes});
}

// --- Clip ------------------------------------------------------------------------------------------------------------

struct Bounds {
  const char* name;
  int element;
  std::optional<double> low, high;
  std::vector<std::string> written;  ///< Nodes.
};

Model clip(const Bounds& bounds, std::int64_t size) {
  Model model = make_model();
  add_input(model, "x", {size}, bounds.element);
  add_output(model, "y", {size}, bounds.element);
  auto& node = add_node(model, "Clip", {"x"}, {"y"});
  node.add_input(bounds.low ? "low" : "");
  if (bounds.low) add_number(model, "low", bounds.element, *bounds.low);
  if (bounds.high) {
    node.add_input("high");
    add_number(model, "high", bounds.element, *bounds.high);
  }
  return model;
}

class Clips : public testing::TestWithParam<Bounds> {};

TEST_P(Clips, KeepTheirBoundsInTheirOwnType) {
  REQUIRE_RUNTIME();
  const std::vector<double> x = {0,    1,     -1,   6.5,   -6.5, 1e4,   -1e4,  6e4,    -6e4,      1e30,      -1e30,
                                 1e38, -1e38, 1e49, -1e49, 1e60, -1e60, 1e308, -1e308, kInfinity, -kInfinity};
  const Model model = clip(GetParam(), static_cast<std::int64_t>(x.size()));
  const Model result = round_trip(model);
  EXPECT_THAT(results(result, GetParam().element, x), testing::ElementsAreArray(results(model, GetParam().element, x)));
  std::vector<std::string> types;
  for (const auto& node : result.graph().node()) types.push_back(node.op_type());
  EXPECT_EQ(types, GetParam().written);
}

constexpr double kGreatestFloat = std::numeric_limits<float>::max();

INSTANTIATE_TEST_SUITE_P(
    ElementTypes, Clips,
    testing::Values(Bounds{"FarBoundsOfDoubles", Tensor::DOUBLE, -1e50, 1e50, {"Clip"}},
                    Bounds{"GreatestFloatOfDoubles", Tensor::DOUBLE, -kGreatestFloat, kGreatestFloat, {"Clip"}},
                    Bounds{"OneFarBoundOfDoubles", Tensor::DOUBLE, std::nullopt, 1e50, {"Clip"}},
                    Bounds{"GreatestDouble", Tensor::DOUBLE, -1, std::numeric_limits<double>::max(), {"Clip"}},
                    Bounds{"GreatestFloat", Tensor::FLOAT, -kGreatestFloat, 6, {"Clip"}},
                    Bounds{"NoBound", Tensor::FLOAT, std::nullopt, std::nullopt, {"Clip"}},
                    Bounds{"GreatestHalf", Tensor::FLOAT16, -1, 65504, {"Clip"}},
                    Bounds{"HalfBelowTheGreatest", Tensor::FLOAT16, -50000, 50000, {"Clip"}},
                    Bounds{"InfiniteAbove", Tensor::FLOAT, 0, kInfinity, {"Max"}},
                    Bounds{"InfiniteBelow", Tensor::FLOAT, -kInfinity, 6, {"Min"}},
                    Bounds{"InfiniteOnBothSides", Tensor::FLOAT, -kInfinity, kInfinity, {"Identity"}},
                    Bounds{"InfiniteAboveAndNoneBelow", Tensor::FLOAT, std::nullopt, kInfinity, {"Clip"}},
                    Bounds{"InfiniteInDoubles", Tensor::DOUBLE, -1e50, kInfinity, {"Max"}}),
    [](const auto& info) { return info.param.name; });

// --- attributes ------------------------------------------------------------------------------------------------------

/// The real parameters of the only application of a model.
std::vector<double> parameters(const Model& model) {
  const auto imported = import(model);
  if (!imported) fail(imported.error().message);
  std::vector<double> found;
  for (const Node& node : imported->graph.nodes()) {
    if (!node.application()) continue;
    for (const ParamValue& value : node.application()->params.values())
      if (const auto* real = std::get_if<double>(&value)) found.push_back(*real);
  }
  return found;
}

Model activation(const char* type, int element, std::optional<float> alpha) {
  Model model = make_model();
  add_input(model, "x", {2, 3}, element);
  add_output(model, "y", {2, 3}, element);
  auto& node = add_node(model, type, {"x"}, {"y"});
  if (alpha) set_real(node, "alpha", *alpha);
  return model;
}

TEST(Attributes, AreTheNumberThatWasMeantButInDoublesTheFloatItself) {
  const double held = 0.1F;
  EXPECT_THAT(parameters(activation("LeakyRelu", Tensor::FLOAT, 0.1F)), ElementsAre(0.1));
  EXPECT_THAT(parameters(activation("LeakyRelu", Tensor::DOUBLE, 0.1F)), ElementsAre(held));
  EXPECT_THAT(parameters(activation("LeakyRelu", Tensor::FLOAT, std::nullopt)), ElementsAre(0.01));
  EXPECT_THAT(parameters(activation("LeakyRelu", Tensor::DOUBLE, std::nullopt)), ElementsAre(double{0.01F}))
      << "the default, too";
  EXPECT_THAT(parameters(activation("HardSwish", Tensor::DOUBLE, std::nullopt)), ElementsAre(double{1.0F / 6}, 0.5));
}

Model normalisation(int element, std::optional<float> epsilon) {
  Model model = make_model();
  add_input(model, "x", {1, 1, 2, 2}, element);
  add_output(model, "y", {1, 1, 2, 2}, element);
  for (const char* name : {"scale", "bias", "mean", "variance"}) {
    add_number(model, name, element, name == std::string("scale") ? 1 : 0);
    model.mutable_graph()->mutable_initializer()->rbegin()->add_dims(1);
  }
  auto& node = add_node(model, "BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
  if (epsilon) set_real(node, "epsilon", *epsilon);
  return model;
}

TEST(Attributes, OfNormalisationsAreFloatsInDoubles) {
  EXPECT_THAT(parameters(normalisation(Tensor::FLOAT, std::nullopt)), ElementsAre(1e-5));
  for (const auto epsilon : {std::optional<float>(), std::optional(1e-5F)})
    EXPECT_THAT(parameters(normalisation(Tensor::DOUBLE, epsilon)), ElementsAre(double{1e-5F}));
}

Model product(int element, float alpha, float beta, double bias) {
  Model model = make_model();
  add_input(model, "x", {1, 1}, element);
  add_output(model, "y", {1, 1}, element);
  add_number(model, "w", element, 3), add_number(model, "c", element, bias);
  for (auto& weight : *model.mutable_graph()->mutable_initializer()) weight.add_dims(1), weight.add_dims(1);
  auto& node = add_node(model, "Gemm", {"x", "w", "c"}, {"y"});
  set_real(node, "alpha", alpha), set_real(node, "beta", beta);
  return model;
}

TEST(Attributes, OfGemmAreFactorsOfTheFloatsOwnValue) {
  const auto imported = import(product(Tensor::DOUBLE, 0.1F, 1, 0));
  ASSERT_TRUE(imported) << imported.error().message;
  const bool found = std::ranges::any_of(imported->graph.nodes(), [](const Node& node) {
    const auto* number = node.constant() ? std::get_if<double>(&node.constant()->value) : nullptr;
    return number != nullptr && *number == double{0.1F};
  });
  EXPECT_TRUE(found);
}

TEST(Attributes, OfGemmThatAreZeroLeaveOutWhatTheyMultiply) {
  REQUIRE_RUNTIME();
  const Model model = product(Tensor::FLOAT, 1, 0, kInfinity);
  EXPECT_EQ(difference(model, round_trip(model)), "") << "0 * inf is not added";
  const auto carried = import(product(Tensor::FLOAT, 0, 1, 2));
  ASSERT_TRUE(carried) << carried.error().message;
  ASSERT_EQ(carried->carried.size(), 1u);
  EXPECT_EQ(carried->carried[0].reason, "Gemm: alpha is 0");
}

TEST(Attributes, OfEluKeepItElu) {
  const Model written = round_trip(activation("Elu", Tensor::FLOAT, 0.5F));
  ASSERT_EQ(written.graph().node_size(), 1);
  EXPECT_EQ(written.graph().node(0).op_type(), "Elu");
  EXPECT_EQ(written.graph().node(0).attribute(0).f(), 0.5F);
}

// --- two types in one model ------------------------------------------------------------------------------------------

/// Half precision between casts from and to single precision, as converters write it.
TEST(ElementTypes, OfOneModelMayDiffer) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "x", {4});
  add_output(model, "y", {4});
  set(add_node(model, "Cast", {"x"}, {"h"}), "to", std::int64_t{Tensor::FLOAT16});
  add_number(model, "low", Tensor::FLOAT16, -50000), add_number(model, "high", Tensor::FLOAT16, 50000);
  add_node(model, "Clip", {"h", "low", "high"}, {"clipped"});
  add_number(model, "factor", Tensor::FLOAT16, 0.25);
  add_node(model, "Mul", {"clipped", "factor"}, {"scaled"});
  set(add_node(model, "Cast", {"scaled"}, {"s"}), "to", std::int64_t{Tensor::FLOAT});
  add_number(model, "half", Tensor::FLOAT, 0.5);
  add_node(model, "Mul", {"s", "half"}, {"y"});
  const Model result = round_trip(model);
  EXPECT_EQ(difference(model, result, 0), "");
  std::vector<int> types;
  for (const auto& tensor : result.graph().initializer()) types.push_back(tensor.data_type());
  EXPECT_EQ(std::ranges::count(types, Tensor::FLOAT16), 3);
  EXPECT_EQ(std::ranges::count(types, Tensor::FLOAT), 1);
}

}  // namespace
}  // namespace rewright::onnx_test
