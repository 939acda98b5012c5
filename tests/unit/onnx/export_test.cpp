// What export_model promises: weights folded, splats small, names and versions kept, opaque nodes rewired.
#include <rewright/onnx/onnx.h>
#include <rewright/operator/operator.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>

#include "onnx/exporter.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> types_of(const Model& model) {
  std::vector<std::string> types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

std::string exported(const Graph& graph, const ExportOptions& options = {}) {
  auto bytes = export_model(graph, options);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? *std::move(bytes) : std::string();
}

std::shared_ptr<const ConstantData> splat(const Shape& shape, double value) {
  auto constant = std::make_shared<ConstantData>();
  constant->type.shape = shape;
  constant->value = value;
  return constant;
}

std::shared_ptr<const ConstantData> floats(const Shape& shape, const std::vector<float>& values) {
  auto constant = std::make_shared<ConstantData>();
  constant->type.shape = shape;
  const auto bytes = std::as_bytes(std::span<const float>(values));
  constant->value = std::vector<std::byte>(bytes.begin(), bytes.end());
  return constant;
}

TEST(Export, AGraphWithoutOriginIsAModelThatTheCheckerPasses) {
  REQUIRE_RUNTIME();
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{2, 3}});
  const Port y = *builder.input("y", {Shape{3, 4}});
  builder.output(*builder.apply1("relu", {}, {*builder.apply1("matmul", {}, {x, y})}), "z");
  const std::string bytes = exported(builder.finish());
  Model model = parse(bytes);
  ::onnx::shape_inference::InferShapes(model);
  EXPECT_NO_THROW(::onnx::checker::check_model(model));
  EXPECT_THAT(types_of(model), ElementsAre("MatMul", "Relu"));
  const auto result = run(bytes, {random_tensor("x", {Shape{2, 3}}, 1), random_tensor("y", {Shape{3, 4}}, 2)});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->front().name, "z");
  EXPECT_EQ(result->front().type.shape, (Shape{2, 4}));
}

TEST(Export, WorkOnWeightsIsDoneBeforehand) {
  REQUIRE_RUNTIME();
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{1, 2}});
  const Port a = *builder.input("a", {Shape{2, 2}}, InputKind::kWeight, floats(Shape{2, 2}, {1, 2, 3, 4}));
  const Port b = *builder.input("b", {Shape{2, 2}}, InputKind::kWeight, floats(Shape{2, 2}, {10, 20, 30, 40}));
  builder.output(*builder.apply1("matmul", {}, {x, *builder.apply1("ewadd", {}, {a, b})}));
  const std::string bytes = exported(builder.finish());
  const Model model = parse(bytes);
  EXPECT_THAT(types_of(model), ElementsAre("MatMul"));
  ASSERT_EQ(model.graph().initializer_size(), 1);
  const auto one = floats(Shape{1, 2}, {1, 1});
  const auto result = run(bytes, {{"x", one->type, std::get<std::vector<std::byte>>(one->value)}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*to_reals({result->front().type, result->front().bytes}), (std::vector<double>{44, 66}));
}

TEST(Export, LargeTensorsOfOneNumberStaySmall) {
  GraphBuilder builder(&registry());
  const Shape large{4096, 2048};
  const Port x = *builder.input("x", {Shape{1, 4096}});
  const Port a = *builder.input("a", {large}, InputKind::kWeight, splat(large, 0.5));
  const Port b = *builder.input("b", {large}, InputKind::kWeight, splat(large, 0.25));
  builder.output(*builder.apply1("matmul", {}, {x, *builder.apply1("ewadd", {}, {a, b})}), "y");
  const std::string bytes = exported(builder.finish());
  EXPECT_LT(bytes.size(), 1000u);
  EXPECT_THAT(types_of(parse(bytes)), ElementsAre("ConstantOfShape", "MatMul"));

  const auto again = import_model(bytes_of(bytes), registry());
  ASSERT_TRUE(again) << again.error().message;
  for (const NodeId id : again->graph.inputs()) {
    const Node& node = again->graph.node(id);
    if (node.is_weight() && node.outputs.front().element == ElementType::kFloat32) {
      EXPECT_EQ(std::get<double>(node.constant()->value), 0.75);
    }
  }
}

TEST(Export, AModelOfMoreThanAFileHoldsIsRefused) {
  EXPECT_TRUE(check_model_size((std::size_t{1} << 31) - 1));
  const Status status = check_model_size(std::size_t{1} << 31);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the model's weights take 2147483648 bytes; one ONNX file holds at most 2 GiB");
}

TEST(Export, FoldingThatWouldBlowTheFileUpIsLeftAndSaid) {
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{1, 64}});
  std::vector<float> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Port a = *builder.input("a", {Shape{64, 1}}, InputKind::kWeight, floats(Shape{64, 1}, values));
  const Port b = *builder.input("b", {Shape{1, 64}}, InputKind::kWeight, floats(Shape{1, 64}, values));
  builder.output(*builder.apply1("matmul", {}, {x, *builder.apply1("matmul", {}, {a, b})}), "y");
  const Graph graph = builder.finish();
  std::vector<std::string> notes;
  ExportOptions options;
  options.note = [&](const std::string& note) { notes.push_back(note); };
  EXPECT_THAT(types_of(parse(exported(graph, options))), ElementsAre("MatMul"));
  EXPECT_THAT(notes, IsEmpty());
  options.fold_bytes = 1024;
  EXPECT_THAT(types_of(parse(exported(graph, options))), ElementsAre("MatMul", "MatMul"));
  EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("matmul"), HasSubstr("(64, 64)"), HasSubstr("stays"))));
  options = {};
  options.fold_flops = 100;
  EXPECT_THAT(types_of(parse(exported(graph, options))), ElementsAre("MatMul", "MatMul"));
}

TEST(Export, EqualGraphsGiveEqualBytesAndASecondRoundChangesNothing) {
  Model model = make_model();
  add_input(model, "x", {2, 3});
  add_weight(model, "w", {3, 4});
  add_output(model, "y", {2, 4});
  add_node(model, "MatMul", {"x", "w"}, {"a"});
  add_node(model, "Round", {"a"}, {"b"});
  add_node(model, "Relu", {"b"}, {"y"});
  const Model once = round_trip(model);
  EXPECT_EQ(once.SerializeAsString(), round_trip(model).SerializeAsString());
  EXPECT_EQ(round_trip(once).SerializeAsString(), round_trip(round_trip(once)).SerializeAsString());
}

TEST(Export, OutputsKeepNamesAndOrderWhateverTheyAre) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "x", {2});
  add_weight(model, "w", {2});
  for (const char* name : {"second", "first", "twice", "input", "weight"}) add_output(model, name, {2});
  add_node(model, "Relu", {"x"}, {"first"});
  add_node(model, "Round", {"first"}, {"second"});
  add_node(model, "Identity", {"second"}, {"twice"});
  add_node(model, "Identity", {"x"}, {"input"});
  add_node(model, "Identity", {"w"}, {"weight"});
  EXPECT_EQ(difference(model, round_trip(model)), "");
}

TEST(Export, AnOpaqueNodeYieldsItsNameToTheOutputThatARewriteMovedThere) {
  Model model = make_model();
  add_input(model, "x", {2});
  add_output(model, "y", {2});
  add_node(model, "Round", {"x"}, {"y"});
  const auto imported = import(model);
  ASSERT_TRUE(imported);
  GraphBuilder builder(&registry());  // The same output, now relu of the opaque node.
  const Port x = *builder.input("x", {Shape{2}});
  const Node& round = imported->graph.nodes()[1];
  const Port made = builder.opaque(*round.opaque(), {x}, round.outputs).front();
  builder.output(*builder.apply1("relu", {}, {made}), "y");
  const auto bytes = export_model(builder.finish(), *imported);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const Model result = parse(*bytes);
  EXPECT_THAT(types_of(result), ElementsAre("Round", "Relu"));
  EXPECT_EQ(result.graph().node(1).output(0), "y");
  EXPECT_EQ(result.graph().node(0).output(0), result.graph().node(1).input(0));
  EXPECT_NE(result.graph().node(0).output(0), "y");
}

/// y = if flag then relu(x) + w else relu(x), where the branches use tensors of the graph around them.
Model conditional() {
  Model model = make_model();
  add_input(model, "flag", {}, ::onnx::TensorProto::BOOL);
  add_input(model, "x", {2});
  add_weight(model, "w", {2});
  add_output(model, "y", {2});
  add_node(model, "Relu", {"x"}, {"r"});
  auto& node = add_node(model, "If", {"flag"}, {"y"});
  const auto branch = [&](const std::string& name, const std::string& type, const std::vector<std::string>& inputs) {
    Model inner = make_model();
    add_output(inner, name, {2});
    add_node(inner, type, inputs, {name});
    inner.mutable_graph()->set_name(name);
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = inner.graph();
  };
  branch("then_branch", "Add", {"r", "w"});
  branch("else_branch", "Identity", {"r"});
  return model;
}

TEST(Export, BranchesSeeTheTensorsAroundThem) {
  REQUIRE_RUNTIME();
  const Model model = conditional();
  const Model result = round_trip(model);
  EXPECT_EQ(difference(model, result), "");
  const auto imported = import(model);
  ASSERT_TRUE(imported);
  const Node& last = imported->graph.nodes().back();
  ASSERT_TRUE(last.opaque());
  EXPECT_EQ(last.inputs.size(), 3u);  // flag, r and w.
}

TEST(Export, GeneratedNamesAvoidThoseInsideBranches) {
  REQUIRE_RUNTIME();
  Model model = conditional();
  auto& inner = *model.mutable_graph()->mutable_node(1)->mutable_attribute(1)->mutable_g();
  const std::string around = model.graph().node(0).output(0);
  for (const char* name : {"relu_out", "relu", "constant", "weight"}) {
    auto& node = *inner.add_node();
    node.set_op_type("Neg");
    node.add_input(around);
    node.add_output(name);
  }
  EXPECT_EQ(difference(model, round_trip(model)), "");
}

class OtherTypes : public testing::TestWithParam<int> {};

TEST_P(OtherTypes, AreKeptThroughApplicationsAndConstants) {
  REQUIRE_RUNTIME();
  const int element = GetParam();
  const std::size_t size = element == ::onnx::TensorProto::DOUBLE ? 8 : 2;
  Model model = make_model();
  add_input(model, "x", {2, 4}, element);
  add_output(model, "y", {2, 4}, element);
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(element);
  tensor.add_dims(4);
  tensor.add_dims(4);
  const TensorType type{Shape{4, 4}, static_cast<ElementType>(element)};
  const RuntimeTensor values = random_tensor("w", type, 3);
  tensor.set_raw_data(values.bytes.data(), values.bytes.size());
  ASSERT_EQ(values.bytes.size(), 16 * size);
  add_node(model, "MatMul", {"x", "w"}, {"a"});
  add_node(model, "Relu", {"a"}, {"y"});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->carried, IsEmpty());
  EXPECT_EQ(difference(model, round_trip(model), 1e-2), "");
}

INSTANTIATE_TEST_SUITE_P(Export, OtherTypes,
                         testing::Values(::onnx::TensorProto::DOUBLE, ::onnx::TensorProto::FLOAT16));

TEST(Export, SumsOfHalfPrecisionWeightsAreRoundedOnce) {
  GraphBuilder builder(&registry());
  for (const ElementType element : {ElementType::kFloat16, ElementType::kBFloat16}) {
    GraphBuilder graph(&registry());
    const auto one = [&](std::uint16_t bits) {
      auto constant = std::make_shared<ConstantData>();
      constant->type = {Shape{1}, element};
      constant->value = std::vector<std::byte>{static_cast<std::byte>(bits & 255), static_cast<std::byte>(bits >> 8)};
      return constant;
    };
    const bool half = element == ElementType::kFloat16;
    const TensorType type{Shape{1}, element};
    // 2048 + 1 in float16 (11 bits) and 256 + 1 in bfloat16 (8 bits) lie halfway between two neighbours: to even.
    const Port a = *graph.input("a", type, InputKind::kWeight, one(half ? 0x6800 : 0x4380));
    const Port b = *graph.input("b", type, InputKind::kWeight, one(half ? 0x3c00 : 0x3f80));
    graph.output(*graph.apply1("ewadd", {}, {a, b}), "y");
    const Model model = parse(exported(graph.finish()));
    ASSERT_EQ(model.graph().initializer_size(), 1);
    const std::string& raw = model.graph().initializer(0).raw_data();
    const int bits = static_cast<unsigned char>(raw[0]) | (static_cast<unsigned char>(raw[1]) << 8);
    EXPECT_EQ(bits, half ? 0x6800 : 0x4380);
  }
}

TEST(Export, TheOpsetStaysWhereEveryNodeIsTheSameThere) {
  REQUIRE_RUNTIME();
  Model model = make_model(9);
  add_input(model, "x", {1, 3, 8, 8});
  add_weight(model, "w", {4, 3, 3, 3});
  add_output(model, "y", {1, 4, 6, 6});
  add_node(model, "Conv", {"x", "w"}, {"c"});
  add_node(model, "Relu", {"c"}, {"y"});
  const Model result = round_trip(model);
  EXPECT_EQ(result.opset_import(0).version(), 9);
  EXPECT_EQ(difference(model, result), "");
}

TEST(Export, ABiasIsTheThirdInputOfItsConvolution) {
  REQUIRE_RUNTIME();
  for (const bool used_twice : {false, true}) {
    Model model = make_model(9);
    add_input(model, "x", {1, 3, 8, 8});
    add_input(model, "v", {4, 1, 1});
    add_weight(model, "w", {4, 3, 3, 3});
    add_weight(model, "u", {4, 3, 3, 3});
    add_weight(model, "b", {4});
    add_output(model, "y", {1, 4, 6, 6});
    add_output(model, "z", {1, 4, 6, 6});
    add_node(model, "Conv", {"x", "w", "b"}, {"y"});
    add_node(model, "Conv", {"x", "u"}, {"c"});
    add_node(model, "Relu", {"v"}, {"r"});  // Known only after the convolution.
    add_node(model, "Add", {used_twice ? "y" : "c", "r"}, {"z"});
    const Model result = round_trip(model);
    EXPECT_EQ(difference(model, result), "");
    const std::vector<std::string> apart = {"Conv", "Relu", "Reshape", "Reshape", "Add"};
    const std::vector<std::string> joined = {"Conv", "Relu", "Reshape", "Conv"};
    EXPECT_EQ(types_of(result), used_twice ? apart : joined);
    EXPECT_EQ(result.graph().node(0).input_size(), 3);
  }
}

TEST(Export, ABiasOfAProductOfMatricesMakesItGemm) {
  REQUIRE_RUNTIME();
  for (const std::string product : {"MatMul", "Gemm"}) {
    for (const std::int64_t opset : {7, 17, 21}) {
      Model model = make_model(opset);
      add_input(model, "x", {2, 3});
      add_weight(model, "w", {3, 4});
      add_weight(model, "b", {4});
      add_output(model, "y", {2, 4});
      if (product == "Gemm") {
        add_node(model, "Gemm", {"x", "w", "b"}, {"y"});
      } else {
        add_node(model, "MatMul", {"x", "w"}, {"a"});
        add_node(model, "Add", {"b", "a"}, {"y"});
      }
      const Model result = round_trip(model);
      EXPECT_EQ(difference(model, result), "");
      EXPECT_THAT(types_of(result), ElementsAre("Gemm"));
      EXPECT_EQ(result.opset_import(0).version(), opset);
    }
  }
  Model heads = make_model();
  add_input(heads, "x", {2, 2, 3});
  add_input(heads, "w", {2, 3, 4});
  add_weight(heads, "b", {4});
  add_output(heads, "y", {2, 2, 4});
  add_node(heads, "MatMul", {"x", "w"}, {"a"});
  add_node(heads, "Add", {"a", "b"}, {"y"});
  EXPECT_THAT(types_of(round_trip(heads)), ElementsAre("MatMul", "Add")) << "Gemm takes matrices";
}

/// Split with sizes: an attribute in opset 11, an input since 13.
Model split_model(const std::string& last) {
  Model model = make_model(11);
  add_input(model, "x", {4, 3});
  add_output(model, "a", {1, 3});
  add_output(model, "b", {3, 3});
  set(add_node(model, "Split", {"x"}, {"a", "s"}), "split", std::vector<std::int64_t>{1, 3});
  set(add_node(model, last, {"s"}, {"b"}), "axis", 1);
  return model;
}

TEST(Export, TheModelKeepsItsOpset) {
  REQUIRE_RUNTIME();
  for (const std::string last : {"Flatten", "Hardmax"}) {  // Hardmax flattens its input until opset 13.
    const Model model = split_model(last), result = round_trip(model);
    EXPECT_EQ(result.opset_import(0).version(), 11) << last;
    EXPECT_EQ(difference(model, result), "") << last;
  }
}

/// The same with a condition: Identity of the second part, or `type` of it.
Model split_model_with_branches(const std::string& type) {
  Model model = split_model("Flatten");
  add_input(model, "flag", {}, ::onnx::TensorProto::BOOL);
  auto& node = *model.mutable_graph()->mutable_node(1);
  node.Clear();
  node.set_op_type("If");
  node.add_input("flag");
  node.add_output("b");
  for (const std::string branch : {"then_branch", "else_branch"}) {
    Model inner = make_model(11);
    inner.mutable_graph()->set_name(branch);
    add_output(inner, branch, {3, 3});
    add_node(inner, branch == "then_branch" ? "Identity" : type, {"s"}, {branch});
    auto& attribute = *node.add_attribute();
    attribute.set_name(branch);
    attribute.set_type(::onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = inner.graph();
  }
  return model;
}

TEST(Export, BranchesKeepTheirOpset) {
  REQUIRE_RUNTIME();
  for (const std::string type : {"Neg", "Hardmax"}) {
    const Model model = split_model_with_branches(type), result = round_trip(model);
    EXPECT_EQ(result.opset_import(0).version(), 11) << type;
    EXPECT_EQ(difference(model, result), "") << type;
  }
}

TEST(Export, LaterOpsetsGetTheirOwnForms) {
  REQUIRE_RUNTIME();
  Model model = make_model(18);
  add_input(model, "x", {2, 3});
  add_output(model, "y", {2, 1});
  add_integers(model, "axes", {1});
  add_node(model, "ReduceMean", {"x", "axes"}, {"y"});
  const Model result = round_trip(model);
  EXPECT_EQ(result.opset_import(0).version(), 18);
  EXPECT_EQ(difference(model, result), "");
}

TEST(Export, WhatTheGraphDoesNotSayIsCarried) {
  Model model = make_model();
  model.set_producer_name("a framework");
  model.set_doc_string("about it");
  auto& entry = *model.add_metadata_props();
  entry.set_key("author");
  entry.set_value("somebody");
  model.mutable_graph()->set_name("the graph");
  auto& function = *model.add_functions();
  function.set_domain("local");
  function.set_name("Twice");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(17);
  auto& sum = *function.add_node();
  sum.set_op_type("Add");
  sum.add_input("a");
  sum.add_input("a");
  sum.add_output("b");
  auto& import = *model.add_opset_import();
  import.set_domain("local");
  import.set_version(1);
  add_input(model, "x", {2});
  add_output(model, "y", {2});
  add_node(model, "Relu", {"x"}, {"r"});
  add_node(model, "Twice", {"r"}, {"y"}).set_domain("local");
  const Model result = round_trip(model);
  EXPECT_EQ(result.producer_name(), "a framework");
  EXPECT_EQ(result.doc_string(), "about it");
  EXPECT_EQ(result.metadata_props(0).value(), "somebody");
  EXPECT_EQ(result.graph().name(), "the graph");
  ASSERT_EQ(result.functions_size(), 1);
  if (runtime().version()) {
    EXPECT_EQ(difference(model, result), "");
  }
}

TEST(Export, InitializersOfIr3AreWeightsAndThoseOfLaterDefaults) {
  REQUIRE_RUNTIME();
  Model model = make_model(9);
  add_input(model, "x", {2});
  add_input(model, "w", {2});
  add_weight(model, "w", {2});
  add_output(model, "y", {2});
  add_node(model, "Add", {"x", "w"}, {"y"});
  model.set_ir_version(3);
  Model result = round_trip(model);
  EXPECT_EQ(result.graph().input_size(), 2) << "IR 3 lists every initializer";
  EXPECT_EQ(result.ir_version(), 3);
  EXPECT_EQ(result.graph().initializer_size(), 1);
  model.set_ir_version(7);
  result = round_trip(model);
  EXPECT_EQ(result.graph().input_size(), 2);
  EXPECT_EQ(result.graph().initializer_size(), 1);
  const std::vector<RuntimeTensor> inputs = {random_tensor("x", {Shape{2}}, 1), random_tensor("w", {Shape{2}}, 2)};
  const auto before = run(model.SerializeAsString(), inputs), after = run(result.SerializeAsString(), inputs);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(difference(*before, *after), "");
}

TEST(Export, ConstantsOfOperatorsComputeTheSameFoldedOrNot) {
  REQUIRE_RUNTIME();
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{2, 3}}), y = *builder.input("y", {Shape{1, 2, 4, 4}});
  const auto made = [&](std::string_view op, std::vector<std::int64_t> sizes) {
    return *builder.apply1(op, {{"sizes", std::move(sizes)}}, {});
  };
  builder.output(*builder.apply1("matmul", {}, {x, made("constant_identity", {3, 3})}), "identity");
  builder.output(*builder.apply1("ewmul", {}, {x, made("constant_one", {2, 3})}), "one");
  builder.output(*builder.apply1("conv2d", {}, {y, made("constant_conv", {2, 2, 3, 3})}), "conv");
  builder.output(*builder.apply1("conv2d", {}, {y, made("constant_pool", {2, 2, 3, 3})}), "pool");
  const Graph graph = builder.finish();
  std::vector<std::string> notes;
  ExportOptions unfolded;
  unfolded.fold_bytes = 0;
  unfolded.note = [&](const std::string& note) { notes.push_back(note); };
  const std::vector<RuntimeTensor> inputs = {random_tensor("x", {Shape{2, 3}}, 1),
                                             random_tensor("y", {Shape{1, 2, 4, 4}}, 2)};
  const auto expected = run(exported(graph), inputs), result = run(exported(graph, unfolded), inputs);
  ASSERT_TRUE(expected && result) << result.error().message;
  EXPECT_EQ(difference(*expected, *result), "");
  EXPECT_EQ(notes.size(), 4u) << "each was left in the model";
  EXPECT_EQ(result->front().bytes, inputs.front().bytes) << "x times the identity";
}

/// Reads nothing, and writes as it is told.
struct Odd final : OperatorOf<Odd> {
  enum class Way { kNone, kTwoForOne, kNumbers };
  explicit Odd(Way way) : way(way) {}
  Way way;

  static OperatorInfo describe() { return {.name = "odd", .summary = "Its operand"}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x(i); });
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (way == Way::kNone) return Operator::to_onnx(params, in, shapes, writer);
    if (way == Way::kTwoForOne) return writer.emit("Relu", {in[0]}, {}, 2);
    return writer.emit("Relu", {in[0]}, {{"scales", std::vector<double>{0.5, 0.25}}});
  }
};

Result<std::string> exported_by(const Odd& odd) {
  GraphBuilder builder;
  builder.output(builder.apply(odd, {}, {*builder.input("x", {Shape{2}})})->front(), "y");
  return export_model(builder.finish(), ExportOptions{});
}

TEST(Export, OperatorsAnswerForWhatTheyWrite) {
  EXPECT_EQ(exported_by(Odd(Odd::Way::kNone)).error().message,
            "operator 'odd' cannot be written: odd: has no ONNX counterpart, so a graph with it cannot be exported");
  EXPECT_EQ(exported_by(Odd(Odd::Way::kTwoForOne)).error().message, "operator 'odd' wrote 2 tensors for 1 outputs");
  const auto written = exported_by(Odd(Odd::Way::kNumbers));
  ASSERT_TRUE(written) << written.error().message;
  const Model model = parse(*written);
  EXPECT_THAT(model.graph().node(0).attribute(0).floats(), ElementsAre(0.5F, 0.25F));
  EXPECT_EQ(model.graph().node(0).attribute(0).type(), ::onnx::AttributeProto::FLOATS);
}

TEST(Import, AnOperatorThatReadsNoOnnxSaysSo) {
  OnnxNode node;
  node.type = "Relu";
  GraphBuilder builder;
  EXPECT_EQ(Odd(Odd::Way::kNone).from_onnx(node, builder).error().message, "odd: does not read the ONNX operator Relu");
}

TEST(Export, AnOpaqueNodeThatIsNoneOfOnnxIsRefused) {
  const auto refusal = [](const std::string& serialized) {
    GraphBuilder builder;
    const Port x = *builder.input("x", {Shape{2}});
    builder.output(builder.opaque({"Mystery", serialized}, {x}, {{Shape{2}}}).front(), "y");
    const auto bytes = export_model(builder.finish(), ExportOptions{});
    return bytes ? "(exported)" : bytes.error().message;
  };
  EXPECT_EQ(refusal("\xff\xff"), "opaque node 'Mystery' is not a serialized NodeProto");
  ::onnx::NodeProto node;
  node.set_op_type("Add");
  node.add_input("a");
  node.add_input("b");
  node.add_output("c");
  EXPECT_EQ(refusal(node.SerializeAsString()), "opaque node 'Mystery' has too few operands");
}

TEST(Export, AnOriginThatIsNoModelIsRefused) {
  ImportedModel origin;
  origin.skeleton = "\xff";
  EXPECT_EQ(export_model(Graph(), origin).error().message, "the origin's skeleton is not a ModelProto");
}

TEST(Import, ConstantsOfEveryFormAreWeights) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "x", {2});
  add_input(model, "n", {2}, ::onnx::TensorProto::INT64);
  add_output(model, "y", {2});
  add_output(model, "m", {2}, ::onnx::TensorProto::INT64);
  const auto constant = [&](const std::string& name, const auto& fill) {
    auto& attribute = *add_node(model, "Constant", {}, {name}).add_attribute();
    attribute.set_name(name);
    fill(attribute);
  };
  using Kind = ::onnx::AttributeProto;
  constant("value_float", [](Kind& value) { value.set_type(Kind::FLOAT), value.set_f(1.5F); });
  constant("value_floats",
           [](Kind& value) { value.set_type(Kind::FLOATS), value.add_floats(0.5F), value.add_floats(2); });
  constant("value_int", [](Kind& value) { value.set_type(Kind::INT), value.set_i(7); });
  constant("value_ints", [](Kind& value) { value.set_type(Kind::INTS), value.add_ints(-1), value.add_ints(3); });
  add_node(model, "Mul", {"x", "value_float"}, {"p"});
  add_node(model, "Add", {"p", "value_floats"}, {"y"});
  add_node(model, "Mul", {"n", "value_int"}, {"q"});
  add_node(model, "Add", {"q", "value_ints"}, {"m"});
  const Model result = round_trip(model);
  for (const auto& node : result.graph().node()) EXPECT_NE(node.op_type(), "Constant");
  EXPECT_EQ(difference(model, result), "");
}

TEST(Import, AConstantOfTextIsCarried) {
  Model model = make_model();
  add_output(model, "y", {1}, ::onnx::TensorProto::STRING);
  auto& attribute = *add_node(model, "Constant", {}, {"y"}).add_attribute();
  attribute.set_name("value");
  attribute.set_type(::onnx::AttributeProto::TENSOR);
  attribute.mutable_t()->set_data_type(::onnx::TensorProto::STRING);
  attribute.mutable_t()->add_dims(1);
  attribute.mutable_t()->add_string_data("word");
  EXPECT_EQ(round_trip(model).graph().node(0).attribute(0).t().string_data(0), "word");
}

TEST(Import, SparseWeightsAreCarried) {
  REQUIRE_RUNTIME();
  Model model = make_model();
  add_input(model, "x", {2, 3});
  add_output(model, "y", {2, 4});
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  sparse.add_dims(3);
  sparse.add_dims(4);
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(::onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(2);
  sparse.mutable_values()->add_float_data(2);
  sparse.mutable_values()->add_float_data(-1);
  sparse.mutable_indices()->set_data_type(::onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(2);
  sparse.mutable_indices()->add_int64_data(1);
  sparse.mutable_indices()->add_int64_data(7);
  add_node(model, "MatMul", {"x", "w"}, {"y"});
  const Model result = round_trip(model);
  EXPECT_EQ(result.graph().sparse_initializer_size(), 1);
  EXPECT_EQ(difference(model, result), "");
}

TEST(Import, ShapesThatTheModelComputesAreKnown) {
  REQUIRE_RUNTIME();
  Model model = make_model();  // reshape(x, concat(shape(x)[0:1], [6])): as frameworks write flattening.
  add_input(model, "x", {4, 2, 3});
  add_integers(model, "first", {0});
  add_integers(model, "rest", {6});
  add_output(model, "y", {4, 5});
  add_weight(model, "w", {6, 5});
  add_node(model, "Shape", {"x"}, {"s"});
  set(add_node(model, "Gather", {"s", "first"}, {"n"}), "axis", 0);
  set(add_node(model, "Concat", {"n", "rest"}, {"t"}), "axis", 0);
  add_node(model, "Reshape", {"x", "t"}, {"f"});
  add_node(model, "MatMul", {"f", "w"}, {"y"});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->graph.nodes().back().applies("matmul"));
  EXPECT_EQ(difference(model, round_trip(model)), "");
}

TEST(Import, OnlyWeightsThatAreUsedAreInputs) {
  Model model = make_model();
  add_input(model, "x", {4, 3});
  add_input(model, "ignored", {4, 3});
  add_integers(model, "sizes", {1, 3});
  add_weight(model, "w", {3, 2});
  add_output(model, "y", {1, 2});
  add_node(model, "Split", {"x", "sizes"}, {"a", "b"});
  add_node(model, "MatMul", {"a", "w"}, {"y"});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  std::vector<std::string> names;
  for (const NodeId id : imported->graph.inputs()) names.push_back(imported->graph.node(id).name);
  EXPECT_THAT(names, ElementsAre("x", "ignored", "w"));  // The sizes are parameters of split now.
}

TEST(Import, UnknownTypesStayAmongOpaqueNodes) {
  REQUIRE_RUNTIME();
  Model model = make_model();  // NonZero: a size that only the run tells.
  add_input(model, "x", {4, 4});
  add_output(model, "y", {});
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  add_node(model, "Relu", {"x"}, {"r"});
  add_node(model, "NonZero", {"r"}, {"n"});
  auto& cast = add_node(model, "Cast", {"n"}, {"f"});
  set(cast, "to", 1);
  add_node(model, "Relu", {"f"}, {"y"});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->carried.size(), 3u);
  EXPECT_THAT(imported->carried.back().reason, HasSubstr("not known before the model runs"));
  EXPECT_EQ(difference(model, round_trip(model)), "");
}

}  // namespace
}  // namespace rewright::onnx_test
