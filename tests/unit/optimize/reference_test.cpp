// Evaluation in exact and in a model's own arithmetic.
#include "optimize/reference.h"

#include <rewright/tensor/real_product.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "onnx/proto.h"
#include "optimize/input_source.h"
#include "support/operators.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using testing::loaded;

ReferenceInputs one_input(const TensorType& type, const std::vector<double>& values) {
  std::vector<Real> numbers;
  for (const double value : values) numbers.push_back({value});
  return {{"x", tensor_of(type, numbers)}};
}

double first_output(const Graph& graph, const ReferenceInputs& inputs, Arithmetic arithmetic) {
  Reference reference(nullptr, "", nullptr);
  const auto run = reference.evaluate(graph, inputs, arithmetic);
  if (!run) fail(run.error().message);
  return run->outputs.front().numbers.front().value;
}

/// x in float16; first squared or scaled by 1e-4, then scaled by 1e-4.
Graph two_steps(bool squares) {
  GraphBuilder builder(&loaded());
  const TensorType type{Shape{1}, ElementType::kFloat16};
  const Port x = *builder.input("x", type);
  const Port small = builder.constant({{Shape{}, type.element}, 1e-4});
  const Port first = *builder.apply1(squares ? "ewmul" : "smul", {}, {x, squares ? x : small});
  builder.output(*builder.apply1("smul", {}, {first, small}));
  return builder.finish();
}

TEST(Reference, RoundsEachTensorInTheModelsOwnArithmeticAlone) {
  const ReferenceInputs inputs = one_input({Shape{1}, ElementType::kFloat16}, {1});
  EXPECT_NEAR(first_output(two_steps(false), inputs, Arithmetic::kExact), 1e-8, 1e-11);
  EXPECT_EQ(first_output(two_steps(false), inputs, Arithmetic::kOwn), 0) << "the least float16 is 6e-8";
}

TEST(Reference, OverflowsInTheModelsOwnArithmeticAlone) {
  const ReferenceInputs inputs = one_input({Shape{1}, ElementType::kFloat16}, {1000});
  EXPECT_NEAR(first_output(two_steps(true), inputs, Arithmetic::kExact), 100, 0.1);
  EXPECT_TRUE(std::isinf(first_output(two_steps(true), inputs, Arithmetic::kOwn)));
}

TEST(Reference, NamesWhatKeepsAnOutputFromBeingComputed) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", {Shape{1}});
  const Port mystery = builder.opaque({"Mystery", ""}, {x}, {{Shape{1}, ElementType::kFloat32}})[0];
  builder.output(*builder.apply1("relu", {}, {mystery}));
  builder.output(*builder.apply1("relu", {}, {x}));
  Reference reference(nullptr, "", nullptr);
  const auto run = reference.evaluate(builder.finish(), one_input({Shape{1}}, {2}), Arithmetic::kExact);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_FALSE(run->outputs[0].is_there());
  EXPECT_TRUE(run->outputs[1].is_there());
  EXPECT_THAT(run->trouble, HasSubstr("'Mystery'"));
}

class NodesInRuntime : public ::testing::Test {
 protected:
  static std::string model_without_nodes() {
    model::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    return model.SerializeAsString();
  }
  /// One input "x" into one node.
  static Graph graph_of(const model::NodeProto& node, const TensorType& in, const TensorType& out) {
    GraphBuilder builder;
    builder.output(builder.opaque({node.op_type(), node.SerializeAsString()}, {*builder.input("x", in)}, {out})[0]);
    return builder.finish();
  }
  static model::NodeProto node_of(const char* type) {
    model::NodeProto node;
    node.set_op_type(type);
    node.add_input("some");
    node.add_output("other");
    return node;
  }
  ReferenceRun run(const Graph& graph, const ReferenceInputs& inputs, Arithmetic arithmetic) {
    Reference reference(loaded().find<Runtime>("onnxruntime"), "", nullptr);
    if (const auto status = reference.set_model(model_without_nodes()); !status) fail(status.error().message);
    auto run = reference.evaluate(graph, inputs, arithmetic);
    if (!run) fail(run.error().message);
    return *std::move(run);
  }
};

TEST_F(NodesInRuntime, ComputeInDoublePrecisionWhereTheRuntimeDoes) {
  const TensorType type{Shape{1}};
  const Graph graph = graph_of(node_of("Reciprocal"), type, type);
  const ReferenceRun exact = run(graph, one_input(type, {3}), Arithmetic::kExact);
  EXPECT_EQ(exact.outputs[0].numbers[0].value, 1.0 / 3);
  EXPECT_EQ(exact.outputs[0].type, type) << "what the model says of it stays";
  EXPECT_EQ(run(graph, one_input(type, {3}), Arithmetic::kOwn).outputs[0].numbers[0].value,
            static_cast<double>(1.0f / 3));
}

TEST_F(NodesInRuntime, ComputeInTheirOwnTypeWhereTheRuntimeHasNoOther) {
  const TensorType type{Shape{1}};
  const Graph graph = graph_of(node_of("Elu"), type, type);
  EXPECT_NEAR(run(graph, one_input(type, {-1}), Arithmetic::kExact).outputs[0].numbers[0].value, std::expm1(-1), 1e-6);
}

TEST_F(NodesInRuntime, KeepExactNumbersThroughCasts) {
  model::NodeProto cast = node_of("Cast");
  auto& to = *cast.add_attribute();
  to.set_name("to");
  to.set_type(model::AttributeProto::INT);
  to.set_i(static_cast<int>(ElementType::kFloat16));
  const Graph graph = graph_of(cast, {Shape{1}}, {Shape{1}, ElementType::kFloat16});
  const ReferenceInputs inputs = one_input({Shape{1}}, {1.0f + 0x1p-20f});
  EXPECT_EQ(run(graph, inputs, Arithmetic::kExact).outputs[0].numbers[0].value, 1 + 0x1p-20);
  EXPECT_EQ(run(graph, inputs, Arithmetic::kOwn).outputs[0].numbers[0].value, 1);
}

TEST_F(NodesInRuntime, GiveIntegersAsTheyAre) {
  const Graph graph = graph_of(node_of("Shape"), {Shape{3, 5}}, {Shape{2}, ElementType::kInt64});
  const ReferenceRun made = run(graph, one_input({Shape{3, 5}}, std::vector<double>(15)), Arithmetic::kExact);
  EXPECT_THAT(numbers_of(made.outputs[0]), ::testing::ElementsAre(Real{3}, Real{5}));
}

// --- products over Real ----------------------------------------------------------------------------------------

std::vector<Real> random_numbers(std::int64_t count, std::uint64_t seed) {
  RandomBits random(seed);
  std::vector<Real> numbers(static_cast<std::size_t>(count));
  for (Real& number : numbers) number.value = 2 * uniform_number(random) - 1;
  return numbers;
}

TEST(RealProduct, AddsWhatItsDefinitionSays) {
  for (const auto& [m, k, n] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {6, 256, 16}, {7, 300, 33}, {13, 5, 530}, {1, 70, 519}, {2, 700, 21}}) {
    const auto a = random_numbers(m * k, 1), b = random_numbers(k * n, 2);
    auto c = random_numbers(m * n, 3);
    const auto before = c;
    add_product({a.data(), m, k, k}, {b.data(), k, n, n}, {c.data(), m, n, n});
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = before[static_cast<std::size_t>(i * n + j)].value;
        for (std::int64_t q = 0; q < k; ++q)
          sum += a[static_cast<std::size_t>(i * k + q)].value * b[static_cast<std::size_t>(q * n + j)].value;
        EXPECT_NEAR(c[static_cast<std::size_t>(i * n + j)].value, sum, 1e-12);
      }
    }
  }
}

/// Over Real as products of matrices, over Exact by the meaning: small whole numbers are exact in both.
TEST(RealProduct, IsWhatConvolutionsAndProductsMean) {
  const char* const graphs[] = {
      "x = input (2, 6, 9, 8)\nw = input (8, 3, 3, 2)\ny = conv2d[strides=[2, 1], pads=[1, 0, 2, 1], padding=explicit, "
      "groups=2, dilations=[1, 2]](x, w)\noutput y\n",
      "x = input (1, 5, 4, 4)\nw = input (6, 5, 1, 1)\ny = conv2d[activation=relu](x, w)\noutput y\n",
      "x = input (2, 7, 5)\nw = input (2, 5, 9)\ny = matmul(x, w)\noutput y\n",
      "x = input (3, 2, 4)\nw = input (4, 6)\ny = broadcast_matmul(x, w)\noutput y\n"};
  for (const char* text : graphs) {
    const auto graph = parse_graph(text, loaded());
    ASSERT_TRUE(graph) << graph.error().message;
    std::vector<Tensor<Real>> real;
    std::vector<Tensor<Exact>> exact;
    RandomBits random(5);
    for (const NodeId id : graph->inputs()) {
      const Shape& shape = graph->node(id).outputs[0].shape;
      real.emplace_back(shape);
      exact.emplace_back(shape);
      for (std::size_t k = 0; k < real.back().values().size(); ++k) {
        const auto number = static_cast<std::int64_t>(random() % 17) - 8;
        real.back().values()[k] = Real::from_integer(number);
        exact.back().values()[k] = Exact::from_integer(number);
      }
    }
    const auto fast = evaluate<Real>(*graph, real);
    const auto meant = evaluate<Exact>(*graph, exact);
    ASSERT_TRUE(fast && meant);
    for (std::size_t k = 0; k < (*fast)[0].values().size(); ++k)
      EXPECT_EQ(Exact::from_integer(static_cast<std::int64_t>((*fast)[0].values()[k].value)), (*meant)[0].values()[k])
          << text << k;
  }
}

}  // namespace
}  // namespace rewright
