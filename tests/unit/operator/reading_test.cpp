// Operators that read an ONNX node of theirs where no operator that takes more does.
#include <rewright/graph/graph.h>
#include <rewright/onnx/onnx.h>

#include <gmock/gmock.h>

#include <algorithm>

#include "support/operators.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using testing::loaded;
using testing::operator_named;

struct Operand {
  Shape shape;
  std::shared_ptr<const ConstantData> constant = {};
};

Operand constant(const Shape& shape, double value) {
  return {shape, std::make_shared<ConstantData>(ConstantData{{shape, ElementType::kFloat32}, value})};
}

/// The graph that the operator makes of a node with these operands, or the refusal.
Result<Graph> read(const char* op, const char* type, const std::vector<Operand>& operands) {
  GraphBuilder builder(&loaded());
  OnnxNode node;
  node.type = type;
  node.opset = 17;
  for (const Operand& operand : operands) {
    const InputKind kind = operand.constant ? InputKind::kWeight : InputKind::kData;
    node.inputs.emplace_back(*builder.input(fmt::format("x{}", node.inputs.size()),
                                            {operand.shape, ElementType::kFloat32}, kind, operand.constant));
    node.constants.push_back(operand.constant);
  }
  node.output_count = 1;
  REWRIGHT_TRY(const std::vector<Port> ports, operator_named(op).from_onnx(node, builder));
  for (const Port& port : ports) builder.output(port);
  return builder.finish();
}
std::string text_or_refusal(const Result<Graph>& graph) { return graph ? to_text(*graph) : graph.error().message; }

TEST(Reading, MatmulTakesBatchesOfEqualSizes) {
  EXPECT_THAT(text_or_refusal(read("matmul", "MatMul", {{Shape{2, 3}}, {Shape{3, 4}}})), HasSubstr("matmul(x0, x1)"));
  EXPECT_THAT(text_or_refusal(read("matmul", "MatMul", {{Shape{5, 2, 3}}, {Shape{5, 3, 4}}})),
              HasSubstr("matmul(x0, x1)"));
  constexpr const char* kRefusal = "matmul takes two tensors of rank 2 to 4 with equal batch sizes";
  EXPECT_EQ(text_or_refusal(read("matmul", "MatMul", {{Shape{5, 2, 3}}, {Shape{1, 3, 4}}})), kRefusal);
  EXPECT_EQ(text_or_refusal(read("matmul", "MatMul", {{Shape{5, 2, 3}}, {Shape{3, 4}}})), kRefusal);
  EXPECT_EQ(text_or_refusal(read("matmul", "MatMul", {{Shape{3}}, {Shape{3}}})), kRefusal);
}

TEST(Reading, SmulTakesAScalarOnEitherSide) {
  EXPECT_THAT(text_or_refusal(read("smul", "Mul", {{Shape{2, 3}}, {Shape{}}})), HasSubstr("smul(x0, x1)"));
  EXPECT_THAT(text_or_refusal(read("smul", "Mul", {{Shape{}}, {Shape{2, 3}}})), HasSubstr("smul(x1, x0)"));
}

TEST(Reading, SmulMakesAScalarOfAConstantOfOneElement) {
  for (const bool first : {false, true}) {
    std::vector<Operand> operands = {{Shape{2, 3}}, constant(Shape{1, 1}, 2.5)};
    if (first) std::swap(operands[0], operands[1]);
    const auto graph = read("smul", "Mul", operands);
    ASSERT_TRUE(graph) << graph.error().message;
    const Node& product = graph->node(graph->outputs()[0].node);
    ASSERT_TRUE(product.applies("smul"));
    EXPECT_EQ(graph->shape(graph->outputs()[0]), (Shape{2, 3}));
    const Node& factor = graph->node(product.inputs[1].node);
    EXPECT_EQ(factor.outputs[0].shape, Shape{});
    ASSERT_NE(factor.constant(), nullptr);
    EXPECT_EQ(*to_reals(*factor.constant()), std::vector<double>{2.5});
  }
}

TEST(Reading, SmulLeavesWhatHasNoScalar) {
  constexpr const char* kRefusal = "smul needs a scalar or a constant of one element";
  EXPECT_EQ(text_or_refusal(read("smul", "Mul", {{Shape{2, 3}}, {Shape{1, 1}}})), kRefusal) << "not a constant";
  EXPECT_EQ(text_or_refusal(read("smul", "Mul", {{Shape{2, 3}}, constant(Shape{1, 3}, 2)})), kRefusal);
  EXPECT_EQ(text_or_refusal(read("smul", "Mul", {{Shape{3}}, constant(Shape{1, 1}, 2)})), kRefusal)
      << "the product has rank 2";
}

}  // namespace
}  // namespace rewright
