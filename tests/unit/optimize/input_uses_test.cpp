// What a model's inputs are fed when nobody says: by their uses, names, types and shapes.
#include "optimize/input_uses.h"

#include <rewright/onnx/onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "onnx/proto.h"
#include "optimize/random_inputs.h"
#include "support/operators.h"

namespace rewright {
namespace {

using Kind = InputSource::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A graph whose input goes, with the constant beside it, into one node of that type.
Graph used_by(const char* type, ElementType element, std::size_t operand, const ConstantData& beside,
              const char* name = "input") {
  model::NodeProto node;
  node.set_op_type(type);
  node.add_input("a");
  node.add_input("b");
  node.add_output("c");
  GraphBuilder builder;
  const Port input = *builder.input(name, {Shape{4}, element});
  const Port other = builder.constant(beside, "other");
  std::vector<Port> operands = {input, other};
  if (operand == 1) std::swap(operands[0], operands[1]);
  builder.output(builder.opaque({type, node.SerializeAsString()}, operands, {{Shape{4}, ElementType::kFloat32}})[0]);
  return builder.finish();
}

InputSource source_of(const Graph& graph, int trial = 0) { return plausible_inputs(graph, trial).begin()->second; }

InputSource named(const char* name, ElementType element, const Shape& shape, int trial = 0) {
  GraphBuilder builder;
  const Port input = *builder.input(name, {shape, element});
  builder.output(builder.opaque({"Mystery", ""}, {input}, {{shape, ElementType::kFloat32}})[0]);
  return source_of(builder.finish(), trial);
}

TEST(PlausibleInputs, AreIndicesWithinTheAxisThatTheyChooseFrom) {
  const InputSource source =
      source_of(used_by("Gather", ElementType::kInt64, 1, {{Shape{30, 8}, ElementType::kFloat32}, 0.5}));
  EXPECT_EQ(source.kind, Kind::kIntegers);
  EXPECT_EQ(source.low, 0);
  EXPECT_EQ(source.high, 29);
}

TEST(PlausibleInputs, AreWhatTheyAreComparedWith) {
  const InputSource source =
      source_of(used_by("Equal", ElementType::kInt64, 0, {{Shape{}, ElementType::kInt64}, 16000.0}));
  EXPECT_EQ(source.kind, Kind::kChoices);
  EXPECT_THAT(source.numbers, ElementsAre(16000));
}

TEST(PlausibleInputs, AreNoZerosWhereTheyDivide) {
  EXPECT_EQ(source_of(used_by("Div", ElementType::kInt32, 1, {{Shape{4}, ElementType::kInt32}, 7.0})).low, 1);
}

TEST(PlausibleInputs, AreMostlyOnesInMasksAndBothTruthValuesInConditions) {
  EXPECT_EQ(named("attention_mask", ElementType::kInt64, {2, 8}).kind, Kind::kChoices);
  const InputSource condition = named("flag", ElementType::kBool, {1});
  EXPECT_EQ(condition.kind, Kind::kIntegers);
  EXPECT_EQ(condition.high, 1);
}

TEST(PlausibleInputs, AreImagesInZeroToOneAndThenNormal) {
  EXPECT_EQ(named("x", ElementType::kFloat32, {1, 3, 32, 32}).kind, Kind::kUniform);
  EXPECT_EQ(named("x", ElementType::kFloat32, {1, 3, 32, 32}, 1).kind, Kind::kNormal);
  EXPECT_EQ(named("x", ElementType::kUint8, {1, 32, 32, 3}).high, 255);
  EXPECT_EQ(named("x", ElementType::kFloat32, {1, 64}).kind, Kind::kNormal);
  EXPECT_EQ(named("x", ElementType::kFloat32, {1, 64}, 1).kind, Kind::kUniform);
}

TEST(PlausibleInputs, AreLengthsUpToThatOfTheSequencesBesideThem) {
  GraphBuilder builder;
  const Port x = *builder.input("x", {Shape{2, 50, 3}});
  const Port lengths = *builder.input("lengths", {Shape{2}, ElementType::kInt32});
  builder.output(builder.opaque({"Mystery", ""}, {x, lengths}, {{Shape{2}, ElementType::kFloat32}})[0]);
  const InputSource source = plausible_inputs(builder.finish(), 0).at("lengths");
  EXPECT_EQ(source.low, 1);
  EXPECT_EQ(source.high, 50);
}

TEST(PlausibleInputs, AreNotDrawnWhereThereAreNoNumbers) {
  GraphBuilder builder;
  const Port text = *builder.input("text", {Shape{1}, ElementType::kString});
  builder.output(text);
  const Graph graph = builder.finish();
  EXPECT_TRUE(plausible_inputs(graph, 0).empty());
  EXPECT_EQ(why_not_drawn(graph.node(graph.inputs()[0])), "input 'text' is of strings, which are not drawn");
  EXPECT_THAT(random_inputs(graph, 1).error().message, HasSubstr("'text'"));
  EXPECT_TRUE(random_inputs(graph, 1, {}, {.leave_out = true})->empty());
}

TEST(InputSources, AreReadFromText) {
  const auto source = *read_distribution("uniform(-2,3.5)");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->kind, Kind::kUniform);
  EXPECT_EQ(source->low, -2);
  EXPECT_EQ(source->high, 3.5);
  EXPECT_EQ((*read_distribution("normal(0, 2)"))->kind, Kind::kNormal);
  EXPECT_EQ((*read_distribution("integers(1,6)"))->high, 6);
  EXPECT_FALSE(*read_distribution("1,2"));
  for (const char* wrong :
       {"uniform(1)", "uniform(3,2)", "normal(0,-1)", "integers(1,2", "integers(1,2)x", "normal(a,b)"})
    EXPECT_THAT(read_distribution(wrong).error().message, HasSubstr(wrong)) << wrong;
}

TEST(InputSources, DrawWhatTheySay) {
  RandomBits random(1);
  const TensorType type{Shape{1000}};
  for (const double number : draw({Kind::kIntegers, 1, 6, {}}, type, random)) {
    EXPECT_EQ(number, std::floor(number));
    EXPECT_TRUE(1 <= number && number <= 6) << number;
  }
  double sum = 0, squares = 0;
  for (const double number : draw({Kind::kNormal, 5, 2, {}}, type, random)) sum += number, squares += number * number;
  EXPECT_NEAR(sum / 1000, 5, 0.3);
  EXPECT_NEAR(squares / 1000 - 25, 4, 3);
  EXPECT_THAT(draw({Kind::kNumbers, 0, 1, {7, 8}}, {Shape{3}}, random), ElementsAre(7, 8, 7));
}

TEST(RandomInputs, AreScaledWhereTheyHaveAFraction) {
  GraphBuilder builder;
  const Port x = *builder.input("x", {Shape{4}}), n = *builder.input("n", {Shape{4}, ElementType::kInt64});
  builder.output(builder.opaque({"Mystery", ""}, {x, n}, {{Shape{2}, ElementType::kFloat32}})[0]);
  const Graph graph = builder.finish();
  const auto once = *random_inputs(graph, 1), large = *random_inputs(graph, 1, {}, {.scale = 1024});
  const auto first = [](const RuntimeTensor& tensor) { return to_reals({tensor.type, tensor.bytes})->front(); };
  EXPECT_FLOAT_EQ(first(large[0]), 1024 * first(once[0]));
  EXPECT_EQ(large[1].bytes, once[1].bytes);
}

}  // namespace
}  // namespace rewright
