// Simplification: the nodes that go, the nodes that must stay, and that the rest computes the same at every size.
#include "onnx/simplify.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "support.h"

namespace rewright::onnx_test {
namespace {

using ::testing::ElementsAre;

Model model_of(const std::string& graph, int opset = 17) {
  Model model = make_model(opset);
  model.mutable_graph()->Clear();
  model.mutable_graph()->set_name("g");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(graph, model.mutable_graph())) << graph;
  return model;
}

std::string value(const std::string& kind, const std::string& name, const std::string& dims, int element = 1) {
  return fmt::format("{} {{ name: '{}' type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} }} }} ", kind, name,
                     element, dims);
}
const std::string kFixed = "dim { dim_value: 2 } dim { dim_value: 3 } dim { dim_value: 4 }";
const std::string kOpen = "dim { dim_param: 'n' } dim { dim_value: 3 } dim { dim_value: 4 }";
const std::string kAny = "dim { dim_param: 'a' } dim { dim_param: 'b' } dim { dim_param: 'c' }";

std::string node(const std::string& type, const std::string& inputs, const std::string& output,
                 const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' ";
  for (std::size_t at = 0; at <= inputs.size() && !inputs.empty();) {
    const std::size_t end = std::min(inputs.find(' ', at), inputs.size());
    text += "input: '" + inputs.substr(at, end - at) + "' ";
    at = end + 1;
  }
  return text + "output: '" + output + "' " + attributes + " } ";
}
std::string perm(const std::string& axes) { return "attribute { name: 'perm' type: INTS ints: [" + axes + "] }"; }
std::string to(int element) { return fmt::format("attribute {{ name: 'to' type: INT i: {} }}", element); }
std::string integers(const std::string& name, const std::string& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 dims: {} int64_data: [{}] }} ", name,
                     1 + std::ranges::count(values, ','), values);
}
std::string number(const std::string& name, const std::string& written, int element = 1) {
  return fmt::format("initializer {{ name: '{}' data_type: {} {}: {} }} ", name, element,
                     element == 1 ? "float_data" : "int64_data", written);
}

/// Types of the nodes that stay.
std::vector<std::string> left(const Model& model, const ImportOptions& options = {}, bool exact = true) {
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()), options,
                                         exact ? SimplifyLevel::kExact : SimplifyLevel::kWeights);
  EXPECT_TRUE(simplified) << simplified.error().message;
  if (!simplified) return {};
  const Model result = simplified->model.empty() ? model : parse(simplified->model);
  std::vector<std::string> types;
  for (const auto& node : result.graph().node()) types.push_back(node.op_type());
  return types;
}

struct Case {
  std::string name;
  std::string graph;
  std::vector<std::string> left;
  int opset = 17;
};
void PrintTo(const Case& given, std::ostream* out) { *out << given.name; }
class Simplification : public ::testing::TestWithParam<Case> {};

TEST_P(Simplification, LeavesWhatIsNeededAndComputesTheSame) {
  const Model model = model_of(GetParam().graph, GetParam().opset);
  EXPECT_EQ(left(model), GetParam().left);
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  if (simplified->model.empty()) return;
  const Model result = parse(simplified->model);
  ASSERT_EQ(result.graph().output_size(), model.graph().output_size());
  for (int i = 0; i < model.graph().output_size(); ++i)
    EXPECT_EQ(result.graph().output(i).SerializeAsString(), model.graph().output(i).SerializeAsString());
  REQUIRE_RUNTIME();
  const bool is_open = model.graph().input(0).type().tensor_type().shape().dim(0).has_dim_param();
  if (!is_open) {
    EXPECT_EQ(difference(model, result, 0), "");
    return;
  }
  for (const std::int64_t size : {1, 2, 5}) {  // At every size.
    const TensorType type{{size, 3, 4}, ElementType::kFloat32};
    const auto expected = run(model.SerializeAsString(), {random_tensor("x", type, 1)});
    const auto actual = run(simplified->model, {random_tensor("x", type, 1)});
    ASSERT_TRUE(expected) << expected.error().message;
    ASSERT_TRUE(actual) << actual.error().message;
    EXPECT_EQ(difference(*expected, *actual, 0), "") << size;
  }
}

const std::string kX = value("input", "x", kFixed), kOpenX = value("input", "x", kOpen);
const std::string kY = value("output", "y", kFixed), kAnyY = value("output", "y", kAny);
std::string branch(const std::string& name, const std::string& type) {
  return fmt::format(
      "attribute {{ name: '{}' type: GRAPH g {{ name: 'b' node {{ op_type: '{}' input: 'x' output: 'q' }} node {{ "
      "op_type: 'Exp' input: 'q' output: 'r' }} "
      "output {{ name: 'r' type {{ tensor_type {{ elem_type: 1 }} }} }} }} }} ",
      name, type);
}
const std::string kFlat = "dim { dim_param: 'a' } dim { dim_param: 'b' }";

INSTANTIATE_TEST_SUITE_P(
    Steps, Simplification,
    ::testing::Values(
        Case{"identity",
             kX + kY + node("Identity", "x", "a") + node("Relu", "a", "b") + node("Identity", "b", "y"),
             {"Relu"}},
        Case{"identity of an input that is an output", kX + kY + node("Identity", "x", "y"), {"Identity"}},
        Case{"dropout", kX + kY + node("Dropout", "x", "a") + node("Relu", "a", "y"), {"Relu"}},
        Case{"cast to the same", kX + kY + node("Cast", "x", "a", to(1)) + node("Relu", "a", "y"), {"Relu"}},
        Case{"casts that lose nothing",
             kX + kY + node("Cast", "x", "a", to(11)) + node("Cast", "a", "b", to(1)) + node("Relu", "b", "y"),
             {"Relu"}},
        Case{"casts that lose",
             kX + kY + node("Cast", "x", "a", to(10)) + node("Cast", "a", "b", to(1)) + node("Relu", "b", "y"),
             {"Cast", "Cast", "Relu"}},
        Case{"pad by 0",
             kX + kY + integers("p", "0, 0, 0, 0, 0, 0") + node("Pad", "x p", "a") + node("Relu", "a", "y"),
             {"Relu"}},
        Case{"pad by 1",
             kX + kAnyY + integers("p", "0, 0, 1, 0, 0, 0") + node("Pad", "x p", "a") + node("Relu", "a", "y"),
             {"Pad", "Relu"}},
        Case{"x*1", kX + kY + number("one", "1") + node("Mul", "one x", "a") + node("Relu", "a", "y"), {"Relu"}},
        Case{"x/1", kX + kY + number("one", "1") + node("Div", "x one", "a") + node("Relu", "a", "y"), {"Relu"}},
        Case{"1/x", kX + kY + number("one", "1") + node("Div", "one x", "a") + node("Relu", "a", "y"), {"Div", "Relu"}},
        Case{"x-0", kX + kY + number("zero", "0") + node("Sub", "x zero", "a") + node("Relu", "a", "y"), {"Relu"}},
        Case{"0-x",
             kX + kY + number("zero", "0") + node("Sub", "zero x", "a") + node("Relu", "a", "y"),
             {"Sub", "Relu"}},
        Case{"x+0 makes 0 of -0",
             kX + kY + number("zero", "0") + node("Add", "x zero", "a") + node("Relu", "a", "y"),
             {"Add", "Relu"}},
        Case{
            "x+(-0)", kX + kY + number("zero", "-0.0") + node("Add", "x zero", "a") + node("Relu", "a", "y"), {"Relu"}},
        Case{"x*1 that makes x larger",
             kX + value("output", "y", kAny) +
                 "initializer { name: 'one' data_type: 1 dims: [1, 1, 1, 1] float_data: 1 } " +
                 node("Mul", "x one", "a") + node("Squeeze", "a", "y"),
             {"Mul", "Squeeze"}},
        Case{"transposes that undo each other",
             kX + kY + node("Transpose", "x", "a", perm("2, 0, 1")) + node("Transpose", "a", "b", perm("1, 2, 0")) +
                 node("Relu", "b", "y"),
             {"Relu"}},
        Case{"transposes that make one",
             kX + kAnyY + node("Transpose", "x", "a", perm("2, 0, 1")) + node("Transpose", "a", "y", perm("2, 0, 1")),
             {"Transpose"}},
        Case{"transposes around functions",
             kX + kY + node("Transpose", "x", "a", perm("0, 2, 1")) + node("Sin", "a", "b") + number("two", "2") +
                 node("Mul", "b two", "c") + node("Transpose", "c", "y", perm("0, 2, 1")),
             {"Sin", "Mul"}},
        Case{"transposes around a sum by an axis",
             kX + kY + node("Transpose", "x", "a", perm("0, 2, 1")) +
                 "initializer { name: 'v' data_type: 1 dims: 3 float_data: [1, 2, 3] } " + node("Add", "a v", "b") +
                 node("Transpose", "b", "y", perm("0, 2, 1")),
             {"Transpose", "Add", "Transpose"}},
        Case{"transposes around a function of more than one reader",
             kX + kY + value("output", "z", kAny) + node("Transpose", "x", "a", perm("0, 2, 1")) +
                 node("Sin", "a", "z") + node("Transpose", "z", "y", perm("0, 2, 1")),
             {"Transpose", "Sin", "Transpose"}},
        Case{"reshapes",
             kX + value("output", "y", kFlat) + integers("s", "6, 4") + integers("t", "3, -1") +
                 node("Reshape", "x s", "a") + node("Reshape", "a t", "y"),
             {"Reshape"}},
        Case{"reshapes that copy a size",
             kX + value("output", "y", kFlat) + integers("s", "6, 4") + integers("t", "0, 4") +
                 node("Reshape", "x s", "a") + node("Reshape", "a t", "y"),
             {"Reshape"}},
        Case{"reshapes of open sizes",
             kOpenX + value("output", "y", kFlat) + integers("s", "-1, 4") + integers("t", "3, -1") +
                 node("Reshape", "x s", "a") + node("Reshape", "a t", "y"),
             {"Reshape"}},
        Case{"reshapes of open sizes that copy one",
             kOpenX + value("output", "y", kFlat) + integers("s", "-1, 4") + integers("t", "0, 4") +
                 node("Reshape", "x s", "a") + node("Reshape", "a t", "y"),
             {"Reshape", "Reshape"}},
        Case{"a shape that is known",
             kX + value("output", "y", kFlat) + node("Shape", "x", "s") + integers("i", "0") + integers("m", "-1") +
                 node("Gather", "s i", "g") + node("Concat", "g m", "c", "attribute { name: 'axis' type: INT i: 0 }") +
                 node("Reshape", "x c", "y"),
             {"Reshape"},
             11},
        Case{"a shape of open sizes",
             kOpenX + value("output", "y", kFlat) + node("Shape", "x", "s") + integers("i", "0") + integers("m", "-1") +
                 node("Gather", "s i", "g") + node("Concat", "g m", "c", "attribute { name: 'axis' type: INT i: 0 }") +
                 node("Reshape", "x c", "y"),
             {"Reshape"},
             11},
        Case{"a shape of open sizes of another tensor",
             kOpenX + value("output", "y", kFlat) +
                 node("ReduceSum", "x", "r", "attribute { name: 'axes' type: INTS ints: 1 }") +
                 node("Shape", "r", "s") + integers("i", "0") + integers("m", "-1") + node("Gather", "s i", "g") +
                 node("Concat", "g m", "c", "attribute { name: 'axis' type: INT i: 0 }") + node("Reshape", "x c", "y"),
             {"ReduceSum", "Shape", "Gather", "Concat", "Reshape"},
             11},
        Case{"a shape of open sizes at another place",
             kOpenX + value("output", "y", kFlat) + node("Shape", "x", "s") + integers("i", "0") + integers("m", "-1") +
                 node("Gather", "s i", "g") + node("Concat", "m g", "c", "attribute { name: 'axis' type: INT i: 0 }") +
                 node("Reshape", "x c", "y"),
             {"Shape", "Gather", "Concat", "Reshape"},
             11},
        Case{"a shape of open sizes that is its own, behind a function",
             kOpenX + kAnyY + node("Sin", "x", "b") + node("Shape", "x", "s") + node("Reshape", "b s", "y"),
             {"Sin"}},
        Case{"the part of open sizes that is known",
             kOpenX + kAnyY + node("Shape", "x", "s", "attribute { name: 'start' type: INT i: 1 }") +
                 node("Cast", "s", "f", to(1)) + "initializer { name: 'z' data_type: 1 float_data: 0.5 } " +
                 node("ReduceProd", "f", "p") + node("Mul", "x p", "y"),
             {"Mul"}},
        Case{"a condition that is known",
             kX + kAnyY + "initializer { name: 'c' data_type: 9 int32_data: 0 } " +
                 node("If", "c", "y", branch("then_branch", "Relu") + branch("else_branch", "Neg")),
             {"Neg", "Exp"}},
        Case{"a condition of open sizes",
             kOpenX + kAnyY + node("Size", "x", "s") + number("k", "24", 7) + node("Equal", "s k", "c") +
                 node("If", "c", "y", branch("then_branch", "Relu") + branch("else_branch", "Neg")),
             {"Size", "Equal", "If"}},
        Case{"equal nodes",
             kX + kY + node("Sin", "x", "a") + node("Sin", "x", "b") + node("Add", "a b", "y"),
             {"Sin", "Add"}},
        Case{"equal weights under two names",
             kX + kY +
                 "initializer { name: 'v' data_type: 1 dims: 4 float_data: [1, 2, 3, 4] } initializer { name: 'w' "
                 "data_type: 1 dims: 4 float_data: [1, 2, 3, 4] } " +
                 node("Mul", "x v", "a") + node("Mul", "x w", "b") + node("Add", "a b", "y"),
             {"Mul", "Add"}},
        Case{"nodes that no output needs",
             kX + kY + node("Sin", "x", "a") + node("Exp", "a", "b") + node("Relu", "x", "y"),
             {"Relu"}},
        Case{"unsqueeze and squeeze",
             kX + kY + integers("i", "1") + node("Unsqueeze", "x i", "a") + node("Squeeze", "a i", "b") +
                 node("Relu", "b", "y"),
             {"Relu"}},
        Case{"a slice backwards",
             kX + kY + integers("f", "-1") + integers("e", "-100") + integers("i", "1") + integers("d", "-1") +
                 node("Slice", "x f e i d", "a") + node("Relu", "a", "y"),
             {"Slice", "Relu"}},
        Case{"a slice of all",
             kX + kY + integers("f", "0") + integers("e", "9223372036854775807") + integers("i", "1") +
                 node("Slice", "x f e i", "a") + node("Relu", "a", "y"),
             {"Relu"}}));

TEST(Simplification, LeavesFunctionsAgainAndSignsThatUndoEachOtherToRulesOfASearch) {
  const Model model = model_of(kX + kY + node("Relu", "x", "a") + node("Relu", "a", "b") + node("Neg", "b", "c") +
                               node("Neg", "c", "d") + node("Floor", "d", "e") + node("Floor", "e", "y"));
  EXPECT_THAT(left(model), ElementsAre("Relu", "Relu", "Neg", "Neg", "Floor", "Floor"));
  EXPECT_THAT(left(model, {}, false), ElementsAre("Relu", "Floor"));
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()), {}, SimplifyLevel::kWeights);
  ASSERT_TRUE(simplified);
  EXPECT_TRUE(simplified->is_exact());
  const Model others =
      model_of(kX + kY + node("Sin", "x", "a") + node("Sin", "a", "b") + node("Neg", "b", "c") + node("Abs", "c", "y"));
  EXPECT_THAT(left(others, {}, false), ElementsAre("Sin", "Sin", "Neg", "Abs"));
  REQUIRE_RUNTIME();
  EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
}

TEST(Simplification, DoesNotShareWhatIsRandom) {
  const std::string random = "attribute { name: 'shape' type: INTS ints: [2, 3, 4] }";
  const Model model = model_of(kX + kY + node("RandomNormal", "", "a", random) + node("RandomNormal", "", "b", random) +
                               node("Sub", "a b", "y"));
  EXPECT_THAT(left(model), ElementsAre("RandomNormal", "RandomNormal", "Sub"));
}

TEST(Simplification, DoesNotFoldWhatACallerMayOverride) {
  Model model = model_of(kX + kY + value("input", "one", "", 1) + number("one", "1") + node("Mul", "x one", "a") +
                         node("Relu", "a", "y"));
  EXPECT_THAT(left(model), ElementsAre("Mul", "Relu"));
}

TEST(Simplification, FreezesSizesOnlyIfAskedTo) {
  const Model model =
      model_of(kOpenX + value("output", "y", kFlat) + node("Shape", "x", "s") + integers("i", "0") +
               integers("m", "-1") + node("Gather", "s i", "g") +
               node("Concat", "m g", "c", "attribute { name: 'axis' type: INT i: 0 }") + node("Reshape", "x c", "y"));
  ImportOptions options;
  options.dimensions["n"] = 2;
  EXPECT_THAT(left(model, options), ElementsAre("Shape", "Gather", "Concat", "Reshape"));
  options.freeze = true;
  EXPECT_THAT(left(model, options), ElementsAre("Reshape"));
}

TEST(Simplification, KeepsNamesThatGraphsInsideUse) {
  // The Identity's result is captured; the branch has a tensor of the name that would take its place.
  const std::string inside =
      "attribute { name: 'then_branch' type: GRAPH g { name: 't' node { op_type: 'Relu' input: 'a' output: 'k' } node "
      "{ op_type: 'Add' input: ['k', 'a'] output: 'r' } output { name: 'r' "
      "type { tensor_type { elem_type: 1 } } } } } attribute { name: 'else_branch' type: GRAPH g { name: 'e' node { "
      "op_type: 'Neg' input: 'a' output: 'q' } output { name: 'q' type { tensor_type { elem_type: 1 } } } } } ";
  const Model model = model_of(kX + value("input", "c", "", 9) + kAnyY + node("Sin", "x", "s") +
                               node("Identity", "s", "a") + node("If", "c", "y", inside));
  EXPECT_THAT(left(model), ElementsAre("Sin", "If"));
  REQUIRE_RUNTIME();
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
}

TEST(Simplification, KeepsNamesOfABranchThatIsInlinedUnlessAnotherGraphHasThem) {
  const auto branch = [](const std::string& name, const std::string& other) {
    return fmt::format(
        "attribute {{ name: '{}' type: GRAPH g {{ name: 'g' node {{ op_type: 'Sin' input: 'x' output: '{}' }} node {{ "
        "op_type: 'Exp' input: '{}' output: 'r' }} node {{ op_type: 'Neg' input: 'r' output: 'q' }} output {{ name: "
        "'q' "
        "type {{ tensor_type {{ elem_type: 1 }} }} }} }} }} ",
        name, other, other);
  };
  const Model model = model_of(kX + kAnyY + "initializer { name: 'c' data_type: 9 int32_data: 1 } " +
                               node("If", "c", "y", branch("then_branch", "s") + branch("else_branch", "t")));
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  std::vector<std::string> names;
  const Model result = parse(simplified->model);
  for (const auto& made : result.graph().node()) names.push_back(made.output(0));
  // Both branches have an r.
  EXPECT_THAT(names, ElementsAre("s", "r_1", "y"));
}

// --- of real numbers --------------------------------------------------------------------------------------------

/// Numbers between -1 and 1; `least`: between it and it + 1.
std::string floats(const std::string& name, const std::vector<int>& dims, int seed, double least = -2) {
  int count = 1;
  for (const int dim : dims) count *= dim;
  std::string text =
      fmt::format("initializer {{ name: '{}' data_type: 1 dims: [{}] float_data: [", name, fmt::join(dims, ", "));
  for (int i = 0; i < count; ++i) {
    const double share = ((i + 1) * 37 + seed * 11) % 101 / 101.0;
    text += fmt::format("{}{}", i == 0 ? "" : ", ", least < -1 ? 2 * share - 1 : least + share);
  }
  return text + "] } ";
}
std::string moments(int channels) {
  return floats("s", {channels}, 3) + floats("t", {channels}, 4) + floats("m", {channels}, 5) +
         floats("v", {channels}, 6, 0.5);
}
std::string group(int groups) { return fmt::format("attribute {{ name: 'group' type: INT i: {} }}", groups); }
const std::string kMatrix = value("input", "x", "dim { dim_value: 3 } dim { dim_value: 4 }");
const std::string kOpenMatrix = value("input", "x", "dim { dim_param: 'n' } dim { dim_value: 4 }");

class Fusion : public ::testing::TestWithParam<Case> {};

TEST_P(Fusion, TakesNodesIntoWeightsAndComputesTheSameNumbers) {
  const Model model = model_of(GetParam().graph, GetParam().opset);
  EXPECT_EQ(left(model, {}, false), GetParam().left);
  const auto exact = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(exact);
  EXPECT_TRUE(exact->is_exact());
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()), {}, SimplifyLevel::kWeights);
  ASSERT_TRUE(simplified);
  if (simplified->model.empty()) return;
  EXPECT_FALSE(simplified->is_exact());
  REQUIRE_RUNTIME();
  const bool is_open = model.graph().input(0).type().tensor_type().shape().dim(0).has_dim_param();
  if (is_open) return;
  EXPECT_EQ(difference(model, parse(simplified->model), 2e-5), "");
}

INSTANTIATE_TEST_SUITE_P(
    Steps, Fusion,
    ::testing::Values(
        Case{"convolution and batch normalisation",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + moments(4) + node("Conv", "x w", "c") +
                 node("BatchNormalization", "c s t m v", "y"),
             {"Conv"}},
        Case{"convolution with bias, groups and batch normalisation",
             kX + kAnyY + floats("w", {6, 1, 2}, 1) + floats("b", {6}, 2) + moments(6) +
                 node("Conv", "x w b", "c", group(3)) + node("BatchNormalization", "c s t m v", "y"),
             {"Conv"}},
        Case{"transposed convolution with groups and batch normalisation",
             kX + kAnyY + floats("w", {3, 2, 2}, 1) + moments(6) + node("ConvTranspose", "x w", "c", group(3)) +
                 node("BatchNormalization", "c s t m v", "y"),
             {"ConvTranspose"}},
        Case{"transposed convolution with groups that do not divide its inputs",
             kX + kAnyY + floats("w", {3, 2, 2}, 1) + moments(4) + node("ConvTranspose", "x w", "c", group(2)) +
                 node("BatchNormalization", "c s t m v", "y"),
             {"ConvTranspose", "BatchNormalization"}},
        Case{"batch normalisation that gives its statistics",
             kX + kAnyY + value("output", "rm", "dim { dim_param: 'd' }") +
                 value("output", "rv", "dim { dim_param: 'd' }") + floats("w", {4, 3, 2}, 1) + moments(4) +
                 node("Conv", "x w", "c") +
                 "node { op_type: 'BatchNormalization' input: ['c', 's', 't', 'm', 'v'] output: ['y', 'rm', 'rv'] "
                 "attribute { name: 'training_mode' type: INT i: 1 } } ",
             {"Conv", "BatchNormalization"}},
        Case{"batch normalisation of no variance",
             kX + kAnyY + floats("w", {1, 3, 2}, 1) + number("s", "1") + number("t", "0") + number("m", "0") +
                 number("v", "0") + node("Conv", "x w", "c") +
                 node("BatchNormalization", "c s t m v", "y", "attribute { name: 'epsilon' type: FLOAT f: 0 }"),
             {"Conv", "BatchNormalization"}},
        Case{"a convolution that something else uses",
             kX + kAnyY + value("output", "z", kAny) + floats("w", {4, 3, 2}, 1) + moments(4) + number("k", "0") +
                 node("Add", "x k", "i") + node("Conv", "i w", "c") + node("BatchNormalization", "c s t m v", "y") +
                 node("Sin", "c", "z"),
             {"Conv", "BatchNormalization", "Sin"}},
        Case{"convolution times and plus channels",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + floats("f", {1, 4, 1}, 2) + floats("a", {4, 1}, 3) +
                 node("Conv", "x w", "c") + node("Mul", "f c", "d") + node("Add", "d a", "y"),
             {"Conv"}},
        Case{"channels minus convolution, divided",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + floats("f", {1, 4, 1}, 2, 1) + floats("a", {4, 1}, 3) +
                 node("Conv", "x w", "c") + node("Sub", "a c", "d") + node("Div", "d f", "y"),
             {"Conv"}},
        Case{"divided by a convolution",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + floats("f", {1, 4, 1}, 2, 1) + node("Conv", "x w", "c") +
                 node("Div", "f c", "y"),
             {"Conv", "Div"}},
        Case{"convolution plus another axis",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + floats("a", {3}, 3) + node("Conv", "x w", "c") +
                 node("Add", "c a", "y"),
             {"Conv", "Add"}},
        Case{"convolution plus what makes it larger",
             kX + kAnyY + floats("w", {1, 3, 2}, 1) + floats("a", {4, 1}, 3) + node("Conv", "x w", "c") +
                 node("Add", "c a", "y"),
             {"Conv", "Add"}},
        Case{"convolution times what overflows",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + number("f", "1e39") + number("g", "1e38") +
                 node("Conv", "x w", "c") + node("Mul", "c g", "d") + node("Mul", "d g", "y"),
             {"Conv", "Mul"}},
        Case{"padding by 0 before a convolution",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + integers("p", "0, 0, 1, 0, 0, 2") + node("Pad", "x p", "a") +
                 node("Conv", "a w", "y", "attribute { name: 'pads' type: INTS ints: [1, 0] }"),
             {"Conv"}},
        Case{"padding by 1 before a convolution",
             kX + kAnyY + floats("w", {4, 3, 2}, 1) + integers("p", "0, 0, 1, 0, 0, 2") + number("k", "1") +
                 node("Pad", "x p k", "a") + node("Conv", "a w", "y"),
             {"Pad", "Conv"}},
        Case{"padding of channels before a convolution",
             kX + kAnyY + floats("w", {4, 4, 2}, 1) + integers("p", "0, 1, 0, 0, 0, 0") + node("Pad", "x p", "a") +
                 node("Conv", "a w", "y"),
             {"Pad", "Conv"}},
        Case{"matrices and a row",
             kMatrix + kAnyY + floats("w", {4, 5}, 1) + floats("a", {5}, 2) + node("MatMul", "x w", "c") +
                 node("Add", "a c", "y"),
             {"Gemm"}},
        Case{"open matrices and a row",
             kOpenMatrix + kAnyY + floats("w", {4, 5}, 1) + floats("a", {1, 5}, 2) + node("MatMul", "x w", "c") +
                 node("Add", "a c", "y"),
             {"Gemm"}},
        Case{"open matrices and as many rows",
             kOpenMatrix + kAnyY + floats("w", {4, 4}, 1) + node("MatMul", "x w", "c") + node("Add", "x c", "y"),
             {"Gemm"}},
        Case{"a row of matrices that a sum makes more",
             value("input", "x", "dim { dim_value: 1 } dim { dim_value: 4 }") + kAnyY + floats("w", {4, 5}, 1) +
                 floats("a", {3, 5}, 2) + node("MatMul", "x w", "c") + node("Add", "a c", "y"),
             {"MatMul", "Add"}},
        Case{"three axes and a row",
             kX + kAnyY + floats("w", {4, 5}, 1) + floats("a", {5}, 2) + node("MatMul", "x w", "c") +
                 node("Add", "c a", "y"),
             {"MatMul", "Add"}},
        Case{"matrices and batch normalisation",
             kMatrix + kAnyY + floats("w", {4, 5}, 1) + moments(5) + node("MatMul", "x w", "c") +
                 node("BatchNormalization", "c s t m v", "y"),
             {"Gemm"}},
        Case{"matrices by columns with a bias, times columns",
             kMatrix + kAnyY + floats("w", {5, 4}, 1) + floats("b", {1, 5}, 2) + floats("f", {5}, 3) +
                 node("Gemm", "x w b", "c", "attribute { name: 'transB' type: INT i: 1 }") + node("Mul", "c f", "y"),
             {"Gemm"}},
        Case{"matrices times a half, times columns",
             kMatrix + kAnyY + floats("w", {4, 5}, 1) + floats("b", {5}, 2) + floats("f", {5}, 3) +
                 node("Gemm", "x w b", "c", "attribute { name: 'beta' type: FLOAT f: 0.5 }") + node("Mul", "c f", "y"),
             {"Gemm", "Mul"}},
        Case{"x+0", kX + kY + number("zero", "0") + node("Add", "x zero", "a") + node("Sin", "a", "y"), {"Sin"}},
        Case{"relu and clip",
             kX + kY + number("low", "0") + number("high", "0.5") + node("Relu", "x", "a") +
                 node("Clip", "a low high", "y"),
             {"Clip"}},
        Case{"relu and clip from below 0",
             kX + kY + number("low", "-1") + number("high", "0.5") + node("Relu", "x", "a") +
                 node("Clip", "a low high", "y"),
             {"Relu", "Clip"}}));

TEST(Fusion, LeavesFactorsInWeightsUnlessTheyMayChange) {
  const Model model = model_of(kMatrix + kAnyY + floats("w", {4, 5}, 1) + floats("a", {5}, 2) + floats("f", {5}, 3) +
                               node("MatMul", "x w", "b") + node("Add", "b a", "c") + node("Mul", "c f", "y"));
  const auto sums = simplify_model(bytes_of(model.SerializeAsString()), {}, SimplifyLevel::kSums);
  ASSERT_TRUE(sums);
  EXPECT_EQ(parse(sums->model).graph().node_size(), 2);
  EXPECT_THAT(left(model, {}, false), ElementsAre("Gemm"));
}

TEST(Simplification, LeavesOneSizeToBeFoundOutWhereEmptyTensorsNeedNotWork) {
  const std::string axis = "attribute { name: 'axis' type: INT i: 0 }";
  const Model model =
      model_of(value("input", "x", kAny) + value("output", "y", kFlat) + node("Shape", "x", "s") + integers("i", "0") +
               integers("j", "1") + integers("k", "2") + node("Gather", "s i", "a") + node("Gather", "s j", "b") +
               node("Gather", "s k", "c") + node("Mul", "b c", "d") + node("Concat", "a d", "t", axis) +
               node("Reshape", "x t", "y"));
  EXPECT_THAT(left(model), ElementsAre("Shape", "Gather", "Gather", "Gather", "Mul", "Concat", "Reshape"));
  EXPECT_THAT(left(model, {}, false), ElementsAre("Reshape"));
}

// --- graphs inside nodes ----------------------------------------------------------------------------------------

/// Types of the nodes in the first graph of the first node that has one.
std::vector<std::string> inside(const std::string& bytes) {
  std::vector<std::string> types;
  const Model model = parse(bytes);
  for (const auto& node : model.graph().node())
    for (const auto& attribute : node.attribute())
      for (const auto& inner : attribute.g().node()) types.push_back(inner.op_type());
  return types;
}

const std::string kAnyTensor = "type { tensor_type { elem_type: 1 } }";
/// z = x, and three times z = sin(z) + captured, in ways that say more than they need.
std::string loop(const std::string& nodes, const std::string& result = "r") {
  return "initializer { name: 'n' data_type: 7 int64_data: 3 } initializer { name: 'yes' data_type: 9 int32_data: 1 } "
         "node { op_type: 'Loop' input: ['n', 'yes', 'x'] output: 'y' attribute { name: 'body' type: GRAPH g { name: "
         "'b' " +
         nodes +
         "input { name: 'i' type { tensor_type { elem_type: 7 shape { } } } } input { name: 'c' type { tensor_type { "
         "elem_type: 9 shape { } } } } input { name: 'z' " +
         kAnyTensor + " } output { name: 'd' type { tensor_type { elem_type: 9 shape { } } } } output { name: '" +
         result + "' " + kAnyTensor + " } } } } ";
}

TEST(GraphsInside, OfALoopAreSimplifiedWithTheTypesThatAllRoundsHave) {
  const Model model = model_of(kX + kAnyY + number("one", "1") +
                               loop(node("Identity", "c", "d") + node("Mul", "z one", "p") + node("Sin", "p", "q") +
                                    node("Sin", "z", "q2") + node("Shape", "q2", "s") + node("Reshape", "q2 s", "q3") +
                                    node("Add", "q q3", "r")));
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  EXPECT_THAT(inside(simplified->model), ElementsAre("Identity", "Sin", "Add"));
  REQUIRE_RUNTIME();
  EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
}

TEST(GraphsInside, OfALoopThatMakesItsTensorLargerKeepTheirShapes) {
  const Model model = model_of(kX + kAnyY +
                               loop(node("Identity", "c", "d") + node("Shape", "z", "s") + integers("k", "0") +
                                    node("Gather", "s k", "g") +
                                    node("Concat", "z z", "r", "attribute { name: 'axis' type: INT i: 0 }")));
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  EXPECT_THAT(inside(simplified->model), ElementsAre("Identity", "Concat"));
  REQUIRE_RUNTIME();
  EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
}

TEST(GraphsInside, OfALoopThatGrowsKnowNoSizes) {
  const std::string axis = "attribute { name: 'axis' type: INT i: 0 }";
  const Model model =
      model_of(kX + kAnyY +
               loop(node("Identity", "c", "d") + node("Identity", "z", "u") + node("Concat", "u u", "w", axis) +
                    node("Shape", "z", "s") + node("Cast", "s", "f", to(1)) + node("ReduceProd", "f", "p") +
                    node("Mul", "w p", "r")));
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  EXPECT_THAT(inside(simplified->model), ElementsAre("Identity", "Concat", "Shape", "Cast", "ReduceProd", "Mul"));
  REQUIRE_RUNTIME();
  EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
}

TEST(GraphsInside, KnowWhatTheyCapture) {
  const std::string body =
      "node { op_type: 'Shape' input: 'x' output: 'S' } node { op_type: 'Cast' input: 'S' output: "
      "'F' attribute { name: 'to' type: INT i: 1 } } node { op_type: 'ReduceProd' input: 'F' "
      "output: 'P' } node { op_type: 'Mul' input: ['a', 'P'] output: 'R' } output { name: 'R' " +
      kAnyTensor + " } ";
  const auto inner = [&](const std::string& name, char tag) {
    std::string text = body;
    for (const char letter : {'S', 'F', 'P', 'R'})
      for (std::size_t at = 0; (at = text.find(std::string("'") + letter + "'", at)) != std::string::npos; ++at)
        text[at + 1] = static_cast<char>(letter + tag);
    return "attribute { name: '" + name + "' type: GRAPH g { name: 'g' " + text + "} } ";
  };
  Model model = model_of(kX + value("input", "c", "", 9) + kAnyY + node("Identity", "x", "a") +
                         node("If", "c", "y", inner("then_branch", 0) + inner("else_branch", 32)));
  for (const int ir : {8, 3}) {
    model.set_ir_version(ir);
    const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
    ASSERT_TRUE(simplified);
    if (ir == 8) {
      EXPECT_THAT(inside(simplified->model), ElementsAre("Mul", "Mul"));
    } else {
      EXPECT_THAT(inside(simplified->model), ElementsAre("Constant", "Mul", "Constant", "Mul"));
    }
    REQUIRE_RUNTIME();
    EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
  }
}

TEST(GraphsInside, OfAScanAreSimplified) {
  const Model model = model_of(
      kX + kAnyY +
      "node { op_type: 'Scan' input: 'x' output: 'y' attribute { name: 'num_scan_inputs' type: INT i: 1 } attribute { "
      "name: 'body' type: GRAPH g { name: 'b' input { name: 'row' " +
      kAnyTensor + " } output { name: 'r' " + kAnyTensor + " } " + node("Shape", "row", "s") +
      node("Reshape", "row s", "q") + node("Sin", "q", "r") + "} } } ");
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  EXPECT_THAT(inside(simplified->model), ElementsAre("Sin"));
  REQUIRE_RUNTIME();
  EXPECT_EQ(difference(model, parse(simplified->model), 0), "");
}

TEST(GraphsInside, OfALoopWithoutEndAreSimplified) {
  Model model =
      model_of(kX + kAnyY + loop(node("Identity", "c", "d") + node("Identity", "z", "k") + node("Sin", "k", "r")));
  auto& inputs = *model.mutable_graph()->mutable_node(0)->mutable_input();
  inputs[0] = "", inputs[1] = "";
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified);
  EXPECT_THAT(inside(simplified->model), ElementsAre("Identity", "Sin"));
}

/// A Loop from z_N to r_N, whose body is a Loop, N times, and then a sine.
std::string loops(int depth) {
  const std::string in = fmt::format("_{}", depth - 1), scalar = "type { tensor_type { elem_type: 9 shape { } } }";
  const std::string nodes =
      node("Identity", "c" + in, "d" + in) +
      (depth > 1 ? loops(depth - 1) : node("Identity", "z" + in, "k") + node("Sin", "k", "r" + in));
  return fmt::format(
      "node {{ op_type: 'Loop' input: ['', '', 'z_{}'] output: 'r_{}' attribute {{ name: 'body' type: GRAPH g {{ name: "
      "'b' {} input {{ name: 'i{}' type {{ tensor_type {{ elem_type: 7 shape {{ }} }} }} }} input {{ name: 'c{}' {} }} "
      "input {{ name: 'z{}' {} }} output {{ name: 'd{}' {} }} output {{ name: 'r{}' {} }} }} }} }} ",
      depth, depth, nodes, in, in, scalar, in, kAnyTensor, in, scalar, in, kAnyTensor);
}

TEST(GraphsInside, OfManyLoopsInsideEachOtherAreSimplifiedInTime) {
  const Model model = model_of(kX + kAnyY + node("Exp", "x", "z_12") + loops(12) + node("Identity", "r_12", "y"));
  const auto simplified = simplify_model(bytes_of(model.SerializeAsString()));
  ASSERT_TRUE(simplified) << simplified.error().message;
  EXPECT_EQ(simplified->steps.at("nothing"), 2);
}

// --- hostile ----------------------------------------------------------------------------------------------------

TEST(Simplification, LeavesIntegersThatOverflowToTheRun) {
  const Model model = model_of(kX + value("output", "y", "dim { dim_value: 1 }", 7) +
                               integers("a", "4611686018427387904") + integers("b", "4") + node("Mul", "a b", "y"));
  EXPECT_THAT(left(model), ElementsAre("Mul"));
}

TEST(Simplification, LeavesShapesThatContradictEachOtherToTheRun) {
  const Model model = model_of(kX + kAnyY + integers("s", "5, 5") + integers("t", "7, 7, 0") +
                               node("Reshape", "x s", "a") + node("Reshape", "a t", "y"));
  EXPECT_THAT(left(model), ElementsAre("Reshape", "Reshape"));
}

TEST(Simplification, StoresConstantNodesBeforeInitializersNeedNoInput) {
  Model model = model_of(kX + kAnyY + node("Shape", "x", "s") + node("Reshape", "x s", "a") + node("Size", "x", "k") +
                         node("Cast", "k", "f", to(1)) + node("Mul", "a f", "y"));
  model.set_ir_version(3);
  EXPECT_THAT(left(model), ElementsAre("Constant", "Mul"));
}

TEST(Simplification, OfOpset6MovesWhatIsKnownAndLeavesArithmetic) {
  Model model = model_of(kMatrix + kAnyY + floats("w", {5, 4}, 1) + number("one", "1") +
                             node("Transpose", "w", "u", perm("1, 0")) + node("MatMul", "x u", "a") +
                             node("Mul", "a one", "b") + node("Dropout", "b", "y"),
                         6);
  model.set_ir_version(3);
  EXPECT_THAT(left(model, {}, false), ElementsAre("Constant", "MatMul", "Mul", "Dropout"));
}

TEST(Simplification, ReadsAResizeOfOpset11WithoutARegion) {
  const Model model = model_of(
      value("input", "x", "dim { dim_value: 1 } dim { dim_value: 1 } dim { dim_value: 2 } dim { dim_value: 2 }") +
          value("output", "y", kAny) +
          "initializer { name: 'k' data_type: 1 dims: 4 float_data: [1, 1, 2, 2] } node { op_type: 'Resize' "
          "input: ['x', '', 'k'] output: 'r' } " +
          node("Identity", "r", "i") + node("Shape", "i", "s") + node("Reshape", "i s", "j") + node("Sin", "j", "y"),
      11);
  EXPECT_THAT(left(model), ElementsAre("Resize", "Sin"));
}

TEST(Simplification, OfWhatIsNoModelIsRefused) {
  const std::string text = "no model";
  EXPECT_FALSE(simplify_model(bytes_of(text)));
}

}  // namespace
}  // namespace rewright::onnx_test
