// The models of experiments/models: whole, importable, and the same after a round trip.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <onnx/checker.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "support.h"

namespace rewright::onnx_test {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(REWRIGHT_BUILD_DIR) / "models";

class Models : public testing::TestWithParam<const char*> {
 protected:
  Model read() const {
    const fs::path file = kModels / fmt::format("{}.onnx", GetParam());
    Model model;
    std::ifstream stream(file, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&stream)) << file << " is missing: build the target `models`";
    return model;
  }
};

TEST_P(Models, AreWhole) {
  const Model model = read();
  EXPECT_NO_THROW(::onnx::checker::check_model(model));
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_FALSE(model.doc_string().empty());
}

TEST_P(Models, AreTheSameAfterARoundTrip) {
  REQUIRE_RUNTIME();
  const Model model = read();
  const Model result = round_trip(model);
  EXPECT_LT(result.ByteSizeLong(), 2 * model.ByteSizeLong() + 10000);
  EXPECT_EQ(difference(model, result, 1e-4), "");
}

INSTANTIATE_TEST_SUITE_P(Experiments, Models,
                         testing::Values("quickstart", "squeezenet", "resnet18", "resnet50", "resnext50",
                                         "inception_v3", "mobilenet_v2", "nasnet_a", "repvgg", "acnet", "nasrnn",
                                         "bert_layer", "bert_layer_256", "bert", "llama", "lora", "linear_attention",
                                         "fire_modules", "shared_recurrence", "plain_encoder", "pooled_branches",
                                         "grouped_blocks", "cifar_resnet18", "cifar_vgg16", "cifar_mobilenet_v1",
                                         "cifar_mobilenet_v2"),
                         [](const auto& info) { return std::string(info.param); });

Graph graph_of(const std::string& name) {
  std::ifstream stream(kModels / (name + ".onnx"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  auto imported = import_model(bytes_of(bytes), registry());
  EXPECT_TRUE(imported) << name;
  return imported ? std::move(imported->graph) : Graph();
}

/// How many applications of each operator a model imports as; opaque nodes by their ONNX type.
std::map<std::string, int> operators_of(const std::string& name) {
  std::map<std::string, int> counts;
  const Graph graph = graph_of(name);
  for (const Node& node : graph.nodes())
    if (!node.is_input()) ++counts[node.opaque() ? node.opaque()->type : node.application()->op->name()];
  return counts;
}

struct ModelSize {
  std::int64_t parameters = 0;     ///< What training learns: no means and variances.
  std::int64_t multiply_adds = 0;  ///< Of convolutions and products alone.
};
ModelSize size_of(const std::string& name) {
  const Graph graph = graph_of(name);
  ModelSize size;
  for (const NodeId id : graph.inputs())
    if (graph.node(id).constant()) size.parameters += graph.shape({id}).elements();
  for (const Node& node : graph.nodes()) {
    if (node.applies("batch_norm")) size.parameters -= 2 * graph.shape(node.inputs[1]).elements();
    if (!node.applies("conv2d") && !node.applies("matmul")) continue;
    const Shape &w = graph.shape(node.inputs[1]), &y = node.outputs[0].shape;
    size.multiply_adds += y.elements() * (node.applies("conv2d") ? w[1] * w[2] * w[3] : w[0]);
  }
  return size;
}

/// Figures of the papers, counted by hand.
TEST(Architectures, HaveAsManyLayersAsTheirPapersSay) {
  EXPECT_EQ(operators_of("resnet50")["conv2d"], 53);
  EXPECT_EQ(operators_of("resnext50")["conv2d"], 53);
  EXPECT_EQ(operators_of("mobilenet_v2")["conv2d"], 52);
  EXPECT_EQ(operators_of("inception_v3")["conv2d"], 94);
  EXPECT_EQ(operators_of("acnet")["conv2d"], 21) << "seven blocks of three";
  EXPECT_EQ(operators_of("repvgg")["batch_norm"], 14 + 3) << "two a block, the identity in every second";
  EXPECT_EQ(operators_of("bert")["softmax"], 8);
  EXPECT_EQ(operators_of("bert")["layer_norm"], 16);
  EXPECT_EQ(operators_of("nasrnn")["matmul"], 80) << "two products for each of eight sums in five steps";
  EXPECT_EQ(operators_of("fire_modules")["concat"], 4);
  EXPECT_EQ(operators_of("shared_recurrence")["matmul"], 64);
  EXPECT_EQ(operators_of("plain_encoder")["softmax"], 0);
  EXPECT_EQ(operators_of("pooled_branches")["pool2d_avg"], 3);
  EXPECT_EQ(operators_of("grouped_blocks")["conv2d"], 12);
  EXPECT_EQ(operators_of("lora")["matmul"], 12) << "four projections, two adapters, attention, two layers behind";
}

/// Parameters: as PyTorch counts them in the networks that they are variants of.
TEST(Architectures, OfCifarAreAsLargeAsTheirModels) {
  EXPECT_EQ(size_of("cifar_resnet18").parameters, 11'173'962);
  EXPECT_EQ(size_of("cifar_vgg16").parameters, 14'728'266);
  EXPECT_EQ(size_of("cifar_mobilenet_v1").parameters, 3'217'226);
  EXPECT_EQ(size_of("cifar_mobilenet_v2").parameters, 2'296'922);
  EXPECT_EQ(size_of("cifar_resnet18").multiply_adds, 555'422'720);
  EXPECT_EQ(size_of("cifar_vgg16").multiply_adds, 313'201'664);
  EXPECT_EQ(size_of("cifar_mobilenet_v1").multiply_adds, 46'354'432);
  EXPECT_EQ(size_of("cifar_mobilenet_v2").multiply_adds, 91'154'944);
}

TEST(Architectures, AreKnownToOperatorsThroughout) {
  for (const char* name :
       {"resnext50", "inception_v3", "mobilenet_v2", "nasnet_a", "acnet", "bert", "llama", "lora", "linear_attention",
        "fire_modules", "shared_recurrence", "plain_encoder", "pooled_branches", "grouped_blocks", "cifar_resnet18",
        "cifar_vgg16", "cifar_mobilenet_v1", "cifar_mobilenet_v2"})
    for (const auto& [op, count] : operators_of(name))
      EXPECT_NE(registry().find<Operator>(op), nullptr) << name << " carries " << count << " of " << op;
}

// A node may be read as several applications: its name is that of one, so that who names a node means one.
TEST(Import, NamesOneApplicationByEachNode) {
  for (const char* name : {"cifar_vgg16", "bert_layer", "llama", "mobilenet_v2", "nasrnn"}) {
    std::ifstream stream(kModels / (std::string(name) + ".onnx"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const auto imported = import_model(bytes_of(bytes), registry());
    ASSERT_TRUE(imported) << imported.error().message;
    std::set<std::string> names;
    std::size_t products = 0, named_products = 0;
    for (const Node& node : imported->graph.nodes()) {
      if (node.application() == nullptr) continue;
      EXPECT_TRUE(node.name.empty() || names.insert(node.name).second) << name << ": " << node.name;
      const bool is_product = node.applies("matmul") || node.applies("broadcast_matmul");
      products += is_product ? 1 : 0;
      named_products += is_product && !node.name.empty() ? 1 : 0;
    }
    EXPECT_GE(2 * named_products, products) << name;
  }
}

TEST(Import, ANumberIsTheOneThatWasMeantAndNotTheNearestFloat) {
  std::ifstream stream(kModels / "repvgg.onnx", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto imported = import_model(bytes_of(bytes), registry());
  ASSERT_TRUE(imported) << imported.error().message;
  const auto norm =
      std::ranges::find_if(imported->graph.nodes(), [](const Node& node) { return node.applies("batch_norm"); });
  ASSERT_NE(norm, imported->graph.nodes().end());
  EXPECT_EQ(norm->application()->params.real(0), 1e-5) << "rules name it, and default parameters are compared with it";
  const auto exported = export_model(imported->graph, *imported, {.keep_original = false});
  ASSERT_TRUE(exported);
  const Model written = parse(*exported);
  for (const auto& node : written.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "epsilon") {
        EXPECT_EQ(attribute.f(), 1e-5f);
      }
    }
  }
}

TEST(Import, SumsOfEqualShapesAreElementwiseEvenWhereTheyLookLikeABias) {
  Model model = make_model();
  add_input(model, "x", {1, 4});
  add_input(model, "y", {1, 4});
  add_output(model, "z", {1, 4});
  add_node(model, "Add", {"x", "y"}, {"z"});
  const auto imported = import(model);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->graph.nodes().back().applies("ewadd"));
}

TEST(Quickstart, HasWorkForRulesInEveryPartAndOutputsThatDiffer) {
  REQUIRE_RUNTIME();
  std::ifstream stream(kModels / "quickstart.onnx", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto imported = import_model(bytes_of(bytes), registry());
  ASSERT_TRUE(imported) << imported.error().message;
  int products = 0, convolutions = 0;
  for (const Node& node : imported->graph.nodes()) {
    products += node.applies("matmul");
    convolutions += node.applies("conv2d");
  }
  EXPECT_EQ(products, 12);
  EXPECT_EQ(convolutions, 5);
  const auto one = run(bytes, {random_tensor("image", {Shape{1, 3, 48, 48}}, 1)});
  const auto two = run(bytes, {random_tensor("image", {Shape{1, 3, 48, 48}}, 2)});
  ASSERT_TRUE(one && two);
  EXPECT_NE(difference(*one, *two, 1e-2), "");
}

}  // namespace
}  // namespace rewright::onnx_test
