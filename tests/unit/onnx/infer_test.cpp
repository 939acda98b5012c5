// Types of tensors: at every opset, behind shapes that the model computes, behind graphs in nodes.
#include "onnx/infer.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "support.h"

namespace rewright::onnx_test {
namespace {

/// A graph in protobuf's text form, imported.
Result<ImportedModel> import_text(const std::string& graph, int opset, const ImportOptions& options = {}) {
  Model model = make_model(opset);
  model.mutable_graph()->Clear();
  model.mutable_graph()->set_name("g");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(graph, model.mutable_graph())) << graph;
  return import(model, options);
}

std::string shape_text(const std::vector<std::int64_t>& dims) {
  std::string text = "type { tensor_type { elem_type: 1 shape { ";
  for (const std::int64_t dim : dims)
    text += dim < 0 ? "dim { dim_param: 'n' } " : fmt::format("dim {{ dim_value: {} }} ", dim);
  return text + "} } }";
}

std::string x_of(const std::vector<std::int64_t>& dims) { return "input { name: 'x' " + shape_text(dims) + " }"; }
const std::string kOutput = "output { name: 'y' type { tensor_type { elem_type: 1 } } }";
std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 dims: {} int64_data: [{}] }}", name, values.size(),
                     fmt::join(values, ", "));
}

/// The type of the model's output y, as text.
std::string type_of_output(const Result<ImportedModel>& model) {
  if (!model) return model.error().message;
  const TensorType& type = model->graph.type(model->graph.outputs().front());
  if (type.element == ElementType::kUnknown) return "unknown";
  return fmt::format("{}", type.shape);
}

struct Typed {
  std::string nodes;
  std::vector<int> opsets;
  std::string shape;
};
class TypesOfNodes : public ::testing::TestWithParam<Typed> {};

TEST_P(TypesOfNodes, AreKnownAtEveryOpset) {
  for (const int opset : GetParam().opsets)
    EXPECT_EQ(type_of_output(import_text(x_of({2, 4, 8, 8}) + GetParam().nodes + kOutput, opset)), GetParam().shape)
        << "opset " << opset;
}

INSTANTIATE_TEST_SUITE_P(
    Operators, TypesOfNodes,
    ::testing::Values(
        Typed{"initializer { name: 's' data_type: 1 dims: 4 float_data: [1, 1, 2, 2] } node { op_type: 'Resize' input: "
              "['x', '', 's'] output: 'y' }",
              {13, 17, 18, 19, 20, 24},
              "(2, 4, 16, 16)"},
        Typed{"initializer { name: 's' data_type: 1 dims: 4 float_data: [1, 1, 2, 2] } node { op_type: 'Resize' input: "
              "['x', '', 's'] output: 'y' "
              "attribute { name: 'antialias' type: INT i: 1 } attribute { name: 'mode' type: STRING s: 'linear' } }",
              {18, 21},
              "(2, 4, 16, 16)"},
        Typed{integers("p", {0, 0, 1, 1, 0, 0, 1, 1}) + "node { op_type: 'Pad' input: ['x', 'p'] output: 'y' }",
              {11, 13, 17, 18, 24},
              "(2, 4, 10, 10)"},
        Typed{
            "node { op_type: 'ReduceMean' input: 'x' output: 'y' attribute { name: 'axes' type: INTS ints: [2, 3] } }",
            {7, 13, 17},
            "(2, 4, 1, 1)"},
        Typed{integers("a", {2, 3}) + "node { op_type: 'ReduceMean' input: ['x', 'a'] output: 'y' }",
              {18, 20, 24},
              "(2, 4, 1, 1)"},
        Typed{"node { op_type: 'Split' input: 'x' output: ['y', 'z'] attribute { name: 'axis' type: INT i: 1 } "
              "attribute { name: 'num_outputs' type: INT i: 2 } }",
              {18, 21, 24},
              "(2, 2, 8, 8)"},
        Typed{"node { op_type: 'Cast' input: 'x' output: 'h' attribute { name: 'to' type: INT i: 10 } } node { "
              "op_type: 'Cast' input: 'h' output: 'y' "
              "attribute { name: 'to' type: INT i: 1 } }",
              {7, 13, 18, 19, 24},
              "(2, 4, 8, 8)"},
        Typed{"node { op_type: 'Gelu' input: 'x' output: 'y' }", {20, 24}, "(2, 4, 8, 8)"},
        Typed{"node { op_type: 'GreaterOrEqual' input: ['x', 'x'] output: 'b' } node { op_type: 'Cast' input: 'b' "
              "output: 'y' attribute { name: 'to' "
              "type: INT i: 1 } }",
              {12, 15, 16, 20},
              "(2, 4, 8, 8)"},
        // Shapes that the model computes.
        Typed{"node { op_type: 'Shape' input: 'x' output: 's' } " + integers("i", {0}) + integers("m", {-1}) +
                  "node { op_type: 'Gather' input: ['s', 'i'] output: 'g' } node { op_type: 'Concat' input: ['g', 'm'] "
                  "output: 'c' attribute { name: "
                  "'axis' type: INT i: 0 } } node { op_type: 'Reshape' input: ['x', 'c'] output: 'y' }",
              {7, 9, 11, 12, 13, 17, 18, 20, 24},
              "(2, 256)"},
        // A condition of what is known: the branch that is taken; else what both agree on.
        Typed{"node { op_type: 'Shape' input: 'x' output: 's' } node { op_type: 'Size' input: 's' output: 'k' } "
              "initializer { name: 'f' data_type: 7 "
              "int64_data: 4 } node { op_type: 'Equal' input: ['k', 'f'] output: 'c' } node { op_type: 'If' input: 'c' "
              "output: 'y' attribute { name: "
              "'then_branch' type: GRAPH g { name: 't' node { op_type: 'Transpose' input: 'x' output: 'q' } output { "
              "name: 'q' } } } attribute { name: "
              "'else_branch' type: GRAPH g { name: 'e' node { op_type: 'Flatten' input: 'x' output: 'q' } output { "
              "name: 'q' } } } }",
              {11, 17, 20},
              "(8, 8, 4, 2)"}));

const std::string kBody =
    "name: 'b' input { name: 'i' type { tensor_type { elem_type: 7 shape {} } } } input { name: 'c' type { tensor_type "
    "{ elem_type: 9 shape {} } } } "
    "input { name: 'v' } node { op_type: 'Identity' input: 'c' output: 'd' } ";

std::string loop(const std::string& step, const std::string& trips = "m") {
  return "initializer { name: 'm' data_type: 7 int64_data: 3 } initializer { name: 'go' data_type: 9 int32_data: 1 } "
         "node { op_type: 'Loop' input: ['" +
         trips + "', 'go', 'x'] output: 'y' attribute { name: 'body' type: GRAPH g { " + kBody + step +
         " output { name: 'd' } output { name: 'w' } } } }";
}

// What one node was answered serves nodes that are alike in all that types depend on, and no others.
TEST(AnswersOfInference, OfNodesAlikeAreThoseOfTheirOwnOperands) {
  const auto unsqueezed = [](const std::string& tensor, int axis, const std::string& other) {
    return fmt::format(
               "node {{ op_type: 'Relu' input: 'x' output: '{0}' name: '{0}' }} node {{ op_type: 'Unsqueeze' input: "
               "['{0}', "
               "'{1}'] output: '{2}' }} node {{ op_type: 'Relu' "
               "input: '{2}' output: 'y' }}",
               tensor, "i", other) +
           integers("i", {axis});
  };
  for (const int size : {3, 5}) {
    EXPECT_EQ(type_of_output(import_text(x_of({size}) + unsqueezed("a", 0, "b") + kOutput, 17)),
              fmt::format("(1, {})", size));
    EXPECT_EQ(type_of_output(import_text(x_of({size}) + unsqueezed("b", 1, "a") + kOutput, 17)),
              fmt::format("({}, 1)", size));
  }
  // An operand that is used twice is not two operands.
  const std::string square = "node { op_type: 'MatMul' input: ['x', 'x'] output: 'y' }";
  EXPECT_EQ(type_of_output(import_text(x_of({4, 4}) + square + kOutput, 17)), "(4, 4)");
  const std::string two =
      "input { name: 'z' " + shape_text({4, 6}) + " } node { op_type: 'MatMul' input: ['x', 'z'] output: 'y' }";
  EXPECT_EQ(type_of_output(import_text(x_of({4, 4}) + two + kOutput, 17)), "(4, 6)");
}

TEST(TypesOfLoops, AreThoseThatTheBodyKeeps) {
  const std::string keeps = loop("node { op_type: 'Relu' input: 'v' output: 'w' }");
  const std::string grows =
      loop("node { op_type: 'Concat' input: ['v', 'v'] output: 'w' attribute { name: 'axis' type: INT i: 0 } }");
  for (const int opset : {11, 17, 20}) {
    EXPECT_EQ(type_of_output(import_text(x_of({2, 3}) + keeps + kOutput, opset)), "(2, 3)");
    EXPECT_EQ(type_of_output(import_text(x_of({2, 3}) + grows + kOutput, opset)), "unknown") << "each round doubles it";
  }
}

TEST(TypesOfLoops, WithoutAnEndAreCarried) {
  const auto model =
      import_text(x_of({2, 3}) + loop("node { op_type: 'Relu' input: 'v' output: 'w' }", "") + kOutput, 17);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->carried.size(), 1u);
}

TEST(TypesOfScans, HaveTheAxisThatWasCut) {
  const std::string scan =
      "node { op_type: 'Scan' input: ['s', 'x'] output: ['t', 'y'] attribute { name: 'num_scan_inputs' type: INT i: 1 "
      "} attribute { name: 'body' type: "
      "GRAPH g { name: 'b' input { name: 'a' } input { name: 'e' } node { op_type: 'Add' input: ['a', 'e'] output: 'w' "
      "} node { op_type: 'Identity' "
      "input: 'w' output: 'o' } output { name: 'w' } output { name: 'o' } } } } initializer { name: 's' data_type: 1 "
      "dims: 3 float_data: [0, 0, 0] }";
  for (const int opset : {9, 17, 20})
    EXPECT_EQ(type_of_output(import_text(x_of({5, 3}) + scan + kOutput, opset)), "(5, 3)");
}

TEST(TypesOfBranches, ThatDifferAreNotGuessed) {
  const std::string branches =
      "input { name: 'c' type { tensor_type { elem_type: 9 shape {} } } } node { op_type: 'If' input: 'c' output: 'y' "
      "attribute { name: 'then_branch' "
      "type: GRAPH g { name: 't' node { op_type: 'Transpose' input: 'x' output: 'q' } output { name: 'q' } } } "
      "attribute { name: 'else_branch' type: "
      "GRAPH g { name: 'e' node { op_type: 'Relu' input: 'x' output: 'q' } output { name: 'q' } } } }";
  EXPECT_EQ(type_of_output(import_text(x_of({2, 3}) + branches + kOutput, 17)), "unknown");
  EXPECT_EQ(type_of_output(import_text(x_of({3, 3}) + branches + kOutput, 17)), "(3, 3)");
}

TEST(TypesOfTensors, BehindAnOverflowAreNotGuessed) {
  const auto model = import_text(x_of({2, 3}) + integers("a", {4611686018427387904}) + integers("b", {4}) +
                                     "node { op_type: 'Mul' input: ['a', 'b'] output: 'c' } node { op_type: 'Reshape' "
                                     "input: ['x', 'c'] output: 'y' }" +
                                     kOutput,
                                 11);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->carried.size(), 2u);
  EXPECT_EQ(model->carried[0].reason, "Mul: Mul of 4611686018427387904 and 4 passes 64 bits");
  EXPECT_EQ(type_of_output(model), "unknown");
}

TEST(TypesOfTensors, OfOneModelOfEveryOpsetLeaveNoneUnknown) {
  const std::string chain =
      "node { op_type: 'Shape' input: 'x' output: 's' } node { op_type: 'Cast' input: 's' output: 'f' attribute { "
      "name: 'to' type: INT i: 1 } } "
      "node { op_type: 'Cast' input: 'f' output: 'k' attribute { name: 'to' type: INT i: 7 } } node { op_type: "
      "'Expand' input: ['x', 'k'] output: 'y' }";
  for (int opset = 8; opset <= 24; ++opset) {
    ImportOptions options;
    options.dimensions["n"] = 2;
    const auto model = import_text(x_of({-1, 3}) + chain + kOutput, opset, options);
    EXPECT_EQ(type_of_output(model), "(2, 3)") << "opset " << opset;
  }
}

}  // namespace
}  // namespace rewright::onnx_test
