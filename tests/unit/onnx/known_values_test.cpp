// What is computed of integers, booleans and a few numbers before the run: what ONNX Runtime computes, or nothing.
#include "onnx/known_values.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "onnx/proto.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

using ::testing::HasSubstr;

/// A node in protobuf's text form with what it takes; its outputs are a, b, ...
struct Case {
  std::string node;
  std::vector<std::string> operands;  ///< TensorProtos in text form, named p, q, r, s, t in this order; "" none.
  int opset = 17;
};

::onnx::TensorProto tensor(const std::string& text) {
  ::onnx::TensorProto tensor;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &tensor)) << text;
  return tensor;
}

::onnx::NodeProto node_of(const Case& given) {
  ::onnx::NodeProto node;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(given.node, &node)) << given.node;
  for (std::size_t i = 0; i < given.operands.size(); ++i)
    node.add_input(given.operands[i].empty() ? "" : std::string(1, static_cast<char>('p' + i)));
  if (node.output_size() == 0) node.add_output("a");
  return node;
}

Result<std::vector<ConstantData>> evaluate(const Case& given) {
  std::vector<model::KnownOperand> operands;
  for (const std::string& text : given.operands) {
    operands.emplace_back();
    if (text.empty()) continue;
    auto value = model::read_tensor(tensor(text), "");
    if (!value) return value.error();
    operands.back() = {value->type, std::make_shared<const ConstantData>(*std::move(value))};
  }
  return model::evaluate_known(node_of(given), given.opset, operands);
}

const std::string kDims = "data_type: 7 dims: 3 int64_data: [2, 3, 4]";
const std::string kMatrix = "data_type: 7 dims: [2, 3] int64_data: [1, -2, 3, 4, 5, -6]";
const std::string kColumn = "data_type: 7 dims: [2, 1] int64_data: [2, -3]";
const std::string kNumbers = "data_type: 1 dims: 4 float_data: [0.1, -2.5, 3.5, 7]";
const std::string kTruths = "data_type: 9 dims: 3 int32_data: [1, 0, 1]";
std::string list(const std::string& values) {
  return "data_type: 7 dims: " + std::to_string(1 + std::ranges::count(values, ',')) + " int64_data: [" + values + "]";
}
std::string scalar(const std::string& value) { return "data_type: 7 int64_data: " + value; }

class KnownValues : public ::testing::TestWithParam<Case> {};

TEST_P(KnownValues, AreWhatOnnxRuntimeComputes) {
  REQUIRE_RUNTIME();
  const auto known = evaluate(GetParam());
  ASSERT_TRUE(known) << known.error().message;
  Model model = make_model(GetParam().opset);
  auto& graph = *model.mutable_graph();
  *graph.add_node() = node_of(GetParam());
  for (std::size_t i = 0; i < GetParam().operands.size(); ++i) {
    if (GetParam().operands[i].empty()) continue;
    *graph.add_initializer() = tensor(GetParam().operands[i]);
    graph.mutable_initializer(graph.initializer_size() - 1)->set_name(std::string(1, static_cast<char>('p' + i)));
  }
  for (const std::string& name : graph.node(0).output()) graph.add_output()->set_name(name);
  const auto ran = run(model.SerializeAsString(), {});
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_EQ(ran->size(), known->size());
  for (std::size_t i = 0; i < ran->size(); ++i) {
    EXPECT_EQ((*ran)[i].type, (*known)[i].type);
    EXPECT_EQ((*ran)[i].bytes, std::get<std::vector<std::byte>>((*known)[i].value)) << "output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, KnownValues,
    ::testing::Values(
        Case{"op_type: 'Shape'", {kMatrix}},
        Case{"op_type: 'Shape' attribute { name: 'start' type: INT i: -1 }", {kMatrix}},
        Case{"op_type: 'Shape' attribute { name: 'end' type: INT i: 1 }", {kMatrix}},
        Case{"op_type: 'Size'", {kMatrix}},
        Case{"op_type: 'Cast' attribute { name: 'to' type: INT i: 1 }", {list("16777217, 3, -9007199254740993")}},
        Case{"op_type: 'Cast' attribute { name: 'to' type: INT i: 7 }", {kNumbers}},
        Case{"op_type: 'Cast' attribute { name: 'to' type: INT i: 9 }", {kMatrix}},
        Case{"op_type: 'Range'", {scalar("2"), scalar("11"), scalar("4")}},
        Case{"op_type: 'Range'", {scalar("5"), scalar("-4"), scalar("-3")}},
        Case{"op_type: 'Gather' attribute { name: 'axis' type: INT i: 1 }", {kMatrix, list("-1, 0")}},
        Case{"op_type: 'Gather'", {kDims, scalar("2")}},
        Case{"op_type: 'Concat' attribute { name: 'axis' type: INT i: -1 }", {kMatrix, kColumn, kMatrix}},
        Case{"op_type: 'Slice' attribute { name: 'starts' type: INTS ints: 1 } attribute { name: 'ends' type: INTS "
             "ints: "
             "9223372036854775807 } attribute { name: 'axes' type: INTS ints: 0 }",
             {kDims},
             9},
        Case{"op_type: 'Slice'",
             {kMatrix, list("-1, 0"), list("-9223372036854775808, 9223372036854775807"), list("1, 0"), list("-2, 1")}},
        Case{"op_type: 'Slice'", {kDims, list("2"), list("1")}}, Case{"op_type: 'Unsqueeze'", {kDims, list("0, -1")}},
        Case{"op_type: 'Unsqueeze' attribute { name: 'axes' type: INTS ints: 0 }", {kDims}, 11},
        Case{"op_type: 'Squeeze'", {kColumn, list("1")}}, Case{"op_type: 'Squeeze'", {kColumn}},
        Case{"op_type: 'Reshape'", {kMatrix, list("0, -1, 1")}}, Case{"op_type: 'Expand'", {kColumn, list("3, 1, 2")}},
        Case{"op_type: 'Transpose'", {kMatrix}},
        Case{"op_type: 'Split' output: 'a' output: 'b' attribute { name: 'axis' type: INT i: 1 }",
             {kMatrix, list("1, 2")}},
        Case{"op_type: 'Where'", {kTruths, kMatrix, scalar("9")}}, Case{"op_type: 'Add'", {kMatrix, kColumn}},
        Case{"op_type: 'Sub'", {kMatrix, kColumn}}, Case{"op_type: 'Mul'", {kMatrix, kColumn}},
        Case{"op_type: 'Div'", {kMatrix, kColumn}}, Case{"op_type: 'Mod'", {kMatrix, kColumn}},
        Case{"op_type: 'Mod' attribute { name: 'fmod' type: INT i: 1 }", {kMatrix, kColumn}},
        Case{"op_type: 'Min'", {kMatrix, scalar("2"), kColumn}}, Case{"op_type: 'Max'", {kMatrix, scalar("2")}},
        Case{"op_type: 'Div'", {kNumbers, "data_type: 1 float_data: 3"}}, Case{"op_type: 'Mul'", {kNumbers, kNumbers}},
        Case{"op_type: 'Add'", {kNumbers, "data_type: 1 float_data: 1e-7"}},
        Case{"op_type: 'Equal'", {kMatrix, kColumn}}, Case{"op_type: 'Less'", {kMatrix, kColumn}},
        Case{"op_type: 'GreaterOrEqual'", {kMatrix, kColumn}}, Case{"op_type: 'Greater'", {kNumbers, kNumbers}},
        Case{"op_type: 'And'", {kTruths, "data_type: 9 int32_data: 1"}}, Case{"op_type: 'Or'", {kTruths, kTruths}},
        Case{"op_type: 'Xor'", {kTruths, "data_type: 9 int32_data: 1"}}, Case{"op_type: 'Not'", {kTruths}},
        Case{"op_type: 'Neg'", {kMatrix}}, Case{"op_type: 'Abs'", {kMatrix}}, Case{"op_type: 'Floor'", {kNumbers}},
        Case{"op_type: 'Ceil'", {kNumbers}}, Case{"op_type: 'Round'", {kNumbers}},
        Case{"op_type: 'ReduceProd'", {kMatrix}}, Case{"op_type: 'ReduceSum'", {kMatrix, list("1")}},
        Case{"op_type: 'ReduceMax' attribute { name: 'axes' type: INTS ints: -1 } attribute { name: 'keepdims' type: "
             "INT i: 0 }",
             {kMatrix}},
        Case{"op_type: 'ReduceMin' attribute { name: 'keepdims' type: INT i: 0 }", {kMatrix}},
        Case{"op_type: 'ConstantOfShape' attribute { name: 'value' type: TENSOR t { data_type: 7 dims: 1 int64_data: "
             "-5 } }",
             {list("2, 3")}},
        Case{"op_type: 'ConstantOfShape'", {list("2")}}, Case{"op_type: 'Identity'", {kNumbers}}));

struct Refusal {
  Case given;
  ErrorCode code;
  std::string sentence;
};
class NotKnown : public ::testing::TestWithParam<Refusal> {};

TEST_P(NotKnown, SaysWhy) {
  const auto known = evaluate(GetParam().given);
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().code, GetParam().code) << known.error().message;
  EXPECT_THAT(known.error().message, HasSubstr(GetParam().sentence));
}

const std::string kLarge = scalar("4611686018427387904");
INSTANTIATE_TEST_SUITE_P(
    Nodes, NotKnown,
    ::testing::Values(
        Refusal{{"op_type: 'Mul'", {kLarge, scalar("4")}},
                ErrorCode::kShape,
                "Mul: Mul of 4611686018427387904 and 4 passes 64 bits"},
        Refusal{{"op_type: 'Add'", {kLarge, kLarge}}, ErrorCode::kShape, "passes 64 bits"},
        Refusal{{"op_type: 'Sub'", {scalar("-9223372036854775807"), scalar("2")}}, ErrorCode::kShape, "passes 64 bits"},
        Refusal{{"op_type: 'Neg'", {scalar("-9223372036854775808")}}, ErrorCode::kShape, "passes 64 bits"},
        Refusal{
            {"op_type: 'Div'", {scalar("-9223372036854775808"), scalar("-1")}}, ErrorCode::kShape, "passes 64 bits"},
        Refusal{{"op_type: 'Div'", {scalar("1"), scalar("0")}}, ErrorCode::kShape, "divides 1 by 0"},
        Refusal{{"op_type: 'ReduceProd'", {list("4611686018427387904, 4")}}, ErrorCode::kShape, "passes 64 bits"},
        Refusal{{"op_type: 'Cast' attribute { name: 'to' type: INT i: 6 }", {kLarge}},
                ErrorCode::kShape,
                "out of the range of its element type"},
        Refusal{{"op_type: 'Range'", {scalar("0"), scalar("5"), scalar("0")}}, ErrorCode::kShape, "its step is 0"},
        Refusal{{"op_type: 'Range'", {scalar("0"), kLarge, scalar("1")}}, ErrorCode::kShape, "its shape would be"},
        Refusal{{"op_type: 'Range'", {scalar("0"), scalar("100000"), scalar("1")}},
                ErrorCode::kUnsupported,
                "100000 elements"},
        Refusal{{"op_type: 'Gather'", {kDims, scalar("3")}}, ErrorCode::kShape, "axis 3 is none of rank 3"},
        Refusal{{"op_type: 'Reshape'", {kMatrix, list("4, -1")}}, ErrorCode::kShape, "does not fit"},
        Refusal{{"op_type: 'Reshape'", {kMatrix, list("-1, -1")}}, ErrorCode::kShape, "two sizes open"},
        Refusal{{"op_type: 'Add'", {kMatrix, list("1, 2")}}, ErrorCode::kShape, "do not fit"},
        Refusal{{"op_type: 'Squeeze'", {kMatrix, list("0")}}, ErrorCode::kShape, "has size 2"},
        Refusal{{"op_type: 'Slice'", {kDims, list("0"), list("3"), list("0"), list("0")}},
                ErrorCode::kShape,
                "its step is 0"},
        Refusal{{"op_type: 'ReduceProd'", {kNumbers}}, ErrorCode::kUnsupported, "order in which"},
        Refusal{{"op_type: 'ReduceSum'", {kNumbers}}, ErrorCode::kUnsupported, "order in which"},
        Refusal{{"op_type: 'Relu'", {kNumbers}}, ErrorCode::kUnsupported, "Relu is not computed before the run"},
        Refusal{{"op_type: 'Add'", {kMatrix, kMatrix}, 6}, ErrorCode::kUnsupported, "not computed before the run"}));

}  // namespace
}  // namespace rewright::onnx_test
