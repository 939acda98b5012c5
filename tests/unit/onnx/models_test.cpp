// The models of experiments/models: whole, importable, and the same after a round trip.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <onnx/checker.h>

#include <filesystem>
#include <fstream>
#include <map>

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
                                         "grouped_blocks"),
                         [](const auto& info) { return std::string(info.param); });

/// How many applications of each operator a model imports as; opaque nodes by their ONNX type.
std::map<std::string, int> operators_of(const std::string& name) {
  std::ifstream stream(kModels / (name + ".onnx"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto imported = import_model(bytes_of(bytes), registry());
  EXPECT_TRUE(imported) << name;
  std::map<std::string, int> counts;
  if (imported)
    for (const Node& node : imported->graph.nodes())
      if (!node.is_input()) ++counts[node.opaque() ? node.opaque()->type : node.application()->op->name()];
  return counts;
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

TEST(Architectures, AreKnownToOperatorsThroughout) {
  for (const char* name :
       {"resnext50", "inception_v3", "mobilenet_v2", "nasnet_a", "acnet", "bert", "llama", "lora", "linear_attention",
        "fire_modules", "shared_recurrence", "plain_encoder", "pooled_branches", "grouped_blocks"})
    for (const auto& [op, count] : operators_of(name))
      EXPECT_NE(registry().find<Operator>(op), nullptr) << name << " carries " << count << " of " << op;
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
