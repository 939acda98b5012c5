// What no rewrite touched is written as it was.
#include "onnx/kept.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include "onnx/export.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::Contains;
using ::testing::ElementsAre;

std::vector<std::string> node_names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) names.push_back(node.name());
  return names;
}

/// x -> Relu -> Relu -> MatMul -> Reshape to (its rows, -1), by a chain of shapes: the batch is open.
Model open_model() {
  Model model = make_model(11);
  auto& input = *model.mutable_graph()->add_input();
  input.set_name("x");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.add_dim()->set_dim_param("batch");
  shape.add_dim()->set_dim_value(3);
  auto& output = *model.mutable_graph()->add_output();
  output.set_name("y");
  output.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  output.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param("batch");
  output.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
  add_weight(model, "w", {3, 4});
  add_integers(model, "zero", {0});
  model.mutable_graph()->mutable_initializer(1)->clear_dims();  // One number, not a list of one.
  add_integers(model, "rest", {-1});
  add_node(model, "Relu", {"x"}, {"a"}).set_name("first");
  add_node(model, "Relu", {"a"}, {"b"}).set_name("second");
  auto& product = add_node(model, "MatMul", {"b", "w"}, {"c"});
  product.set_name("product");
  product.set_doc_string("of rows");
  add_node(model, "Shape", {"c"}, {"s"}).set_name("shape");
  set(add_node(model, "Gather", {"s", "zero"}, {"g"}), "axis", 0);
  set(add_node(model, "Unsqueeze", {"g"}, {"u"}), "axes", std::vector<std::int64_t>{0});
  set(add_node(model, "Concat", {"u", "rest"}, {"k"}), "axis", 0);
  add_node(model, "Reshape", {"c", "k"}, {"y"}).set_name("reshape");
  auto& value = *model.mutable_graph()->add_value_info();
  value.set_name("c");
  value.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  return model;
}

Result<ImportedModel> import_at(const Model& model, std::int64_t batch) {
  ImportOptions options;
  options.dimensions["batch"] = batch;
  return import_model(bytes_of(model.SerializeAsString()), registry(), options);
}

/// The imported graph with the second of two Relu in a row left out.
Graph without_second_relu(const Graph& graph) {
  GraphBuilder builder(&registry());
  std::vector<std::vector<Port>> ports;
  for (const Node& node : graph.nodes()) {
    std::vector<Port> operands;
    for (const Port& port : node.inputs) operands.push_back(ports[port.node.value][port.output]);
    const bool is_second = node.applies("relu") && builder.node(operands[0].node).applies("relu");
    ports.push_back(is_second ? operands : *builder.copy(node, operands));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    builder.output(ports[graph.outputs()[i].node.value][graph.outputs()[i].output], graph.output_names()[i]);
  return builder.finish();
}

TEST(Kept, AModelThatNoRewriteTouchedComesBackNodeByNode) {
  const Model model = open_model();
  const auto imported = import_at(model, 2);
  ASSERT_TRUE(imported) << imported.error().message;
  const auto bytes = export_model(imported->graph, *imported);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const Model result = parse(*bytes);
  ASSERT_EQ(result.graph().node_size(), model.graph().node_size());
  for (int i = 0; i < model.graph().node_size(); ++i)
    EXPECT_TRUE(MessageDifferencer::Equals(result.graph().node(i), model.graph().node(i))) << i;
  EXPECT_TRUE(MessageDifferencer::Equals(result.graph().input(0), model.graph().input(0)));
  EXPECT_TRUE(MessageDifferencer::Equals(result.graph().output(0), model.graph().output(0)));
  EXPECT_EQ(result.graph().value_info_size(), 1);
  EXPECT_EQ(result.opset_import(0).version(), 11);
}

TEST(Kept, WhatIsBehindARewriteIsRewiredAndItsSizesStayOpen) {
  REQUIRE_RUNTIME();
  const Model model = open_model();
  const auto imported = import_at(model, 2);
  ASSERT_TRUE(imported) << imported.error().message;
  const auto bytes = export_model(without_second_relu(imported->graph), *imported);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const Model result = parse(*bytes);
  EXPECT_THAT(node_names(result), ElementsAre("first", "product", "shape", "", "", "", "reshape"));
  EXPECT_EQ(result.graph().node(1).doc_string(), "of rows");
  EXPECT_EQ(result.graph().node(1).input(0), "a");
  EXPECT_EQ(result.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
  for (const std::int64_t batch : {1, 2, 5}) {
    const std::vector<RuntimeTensor> inputs = {random_tensor("x", {Shape{batch, 3}}, 1)};
    const auto before = run(model.SerializeAsString(), inputs), after = run(*bytes, inputs);
    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->front().type.shape, (Shape{batch, 4}));
    EXPECT_EQ(before->front().bytes, after->front().bytes) << batch;
  }
}

TEST(Kept, FrozenSizesAreDeclared) {
  const Model model = open_model();
  ImportOptions options;
  options.dimensions["batch"] = 2;
  options.freeze = true;
  const auto imported = import_model(bytes_of(model.SerializeAsString()), registry(), options);
  ASSERT_TRUE(imported) << imported.error().message;
  const Model result = parse(*export_model(imported->graph, *imported));
  EXPECT_EQ(result.graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 2);
}

TEST(Kept, TheExampleOfManyNodesThatAreOneApplicationIsKeptOnlyWhole) {
  // HardSwish is read as two applications; a rewrite that shares the inner one takes the node apart.
  Model model = make_model(14);
  add_input(model, "x", {4});
  add_output(model, "y", {4});
  add_node(model, "HardSwish", {"x"}, {"y"}).set_name("swish");
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(node_names(parse(*export_model(imported->graph, *imported))), ElementsAre("swish"));
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{4}});
  builder.output((*builder.apply("relu", {}, {x}))[0], "y");
  EXPECT_THAT(node_names(parse(*export_model(builder.finish(), *imported))), ::testing::Not(Contains("swish")));
}

TEST(Kept, AConvolutionWithALargerKernelDoesNotKeepTheSizesThatItsAttributeSays) {
  Model model = make_model(14);
  add_input(model, "x", {1, 2, 8, 8});
  add_output(model, "y", {1, 2, 8, 8});
  add_weight(model, "w", {2, 2, 1, 1});
  auto& conv = add_node(model, "Conv", {"x", "w"}, {"y"});
  conv.set_name("conv");
  set(conv, "kernel_shape", std::vector<std::int64_t>{1, 1});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(node_names(parse(*export_model(imported->graph, *imported))), ElementsAre("conv"));
  GraphBuilder builder(&registry());
  const Port x = *builder.input("x", {Shape{1, 2, 8, 8}});
  const Port w = builder.constant({{Shape{2, 2, 3, 3}, ElementType::kFloat32}, 0.5});
  const auto& applied = imported->graph.node(imported->graph.outputs()[0].node);
  builder.output((*builder.apply(*applied.application(), {x, w}))[0], "y");
  const Model result = parse(*export_model(builder.finish(), *imported));
  ASSERT_EQ(result.graph().node_size(), 1);
  EXPECT_THAT(node_names(result), ::testing::Not(Contains("conv")));
  for (const auto& attribute : result.graph().node(0).attribute()) {
    const bool is_kernel = attribute.name() == "kernel_shape";
    EXPECT_TRUE(!is_kernel || attribute.ints(0) == 3) << attribute.DebugString();
  }
}

}  // namespace
}  // namespace rewright::onnx_test
