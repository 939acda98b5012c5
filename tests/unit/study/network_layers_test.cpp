// Layers of a network: kernels by what they make, and convolutions by themselves.
#include "study/network_layers.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>

#include "base/files.h"
#include "onnx/graph_model.h"
#include "onnx/import.h"
#include "support/operators.h"

namespace {

using namespace rewright;
using namespace rewright::study;
using rewright::testing::loaded;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

using Json = nlohmann::ordered_json;

std::vector<std::string> texts(const std::vector<LayerTime>& layers) {
  std::vector<std::string> texts;
  for (const LayerTime& layer : layers)
    texts.push_back(fmt::format("{} {} {}", layer.layer, layer.us, fmt::join(layer.nodes, "+")));
  return texts;
}

TEST(StudyLayers, HaveWhatOnlyPreparesThem) {
  const Json profile = Json::parse(R"([
    {"result": "", "us": 1}, {"result": "c/windows", "us": 2, "nodes": ["c/windows"]},
    {"result": "d", "us": 8, "nodes": ["d"]},
    {"result": "relu", "us": 16, "nodes": ["c", "relu"]}, {"result": "", "us": 32}, {"result": "e", "us": 64},
    {"result": "lost/step", "us": 128}, {"result": "", "us": 256}])");
  EXPECT_THAT(texts(layers_of(profile)),
              ElementsAre("d 8 d", "relu 19 c+relu", "e 96 ", "lost/step 128 ", "others 256 "));
  EXPECT_THAT(layers_of(Json::array()), SizeIs(0));
}

/// Two convolutions of equal sizes, one of these with zeros, and one of groups.
std::string model_with_convolutions() {
  const auto weight = [](Shape shape, std::size_t every) {
    std::vector<float> numbers(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < numbers.size(); i += every) numbers[i] = 0.5F;
    const auto bytes = std::as_bytes(std::span(numbers));
    return std::make_shared<const ConstantData>(
        ConstantData{{std::move(shape), ElementType::kFloat32}, std::vector<std::byte>(bytes.begin(), bytes.end())});
  };
  GraphBuilder builder(&loaded());
  Port x = *builder.input("x", {{1, 4, 6, 6}, ElementType::kFloat32});
  int count = 0;
  const auto add = [&](Shape shape, std::size_t every, std::int64_t groups) {
    const auto constant = weight(shape, every);
    const Port w = *builder.input(fmt::format("w{}", count), constant->type, InputKind::kWeight, constant);
    const std::vector<NamedParam> params = {{"groups", groups}};
    x = (*builder.apply("conv2d", params, {x, w}, fmt::format("c{}", count++)))[0];
    x = *builder.apply1("relu", {}, {x});
  };
  add({4, 4, 3, 3}, 1, 1);
  add({4, 4, 3, 3}, 1, 1);
  add({4, 4, 3, 3}, 5, 1);
  add({4, 2, 3, 3}, 1, 2);
  builder.output(x, "y");
  const auto made = graph_as_model(builder.finish());
  EXPECT_TRUE(made) << made.error().message;
  return made->model;
}

TEST(StudyLayers, AreConvolutionsOfOneNodeEach) {
  const auto folder = TemporaryFolder::make();
  const std::string file = folder->path() + "/model.onnx";
  ASSERT_TRUE(write_file(file, model_with_convolutions()));
  const auto layers = lone_convolutions(file, loaded());
  ASSERT_TRUE(layers) << layers.error().message;
  ASSERT_THAT(*layers, SizeIs(4));
  const auto& found = *layers;
  EXPECT_EQ(found[0].key, found[1].key);
  EXPECT_NE(found[1].key, found[2].key) << "of zeros";
  EXPECT_NE(found[2].key, found[3].key);
  EXPECT_THAT(found[0].algorithms, Not(Contains("sparse")));
  EXPECT_THAT(found[2].algorithms, Contains("sparse"));
  EXPECT_THAT(found[3].algorithms, Not(Contains("winograd-2")));
  for (const LoneLayer& layer : found) {
    const auto read = import_model(std::as_bytes(std::span(layer.model)), loaded());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->graph.operator_count(), 1U);
    EXPECT_TRUE(read->graph.nodes().back().applies("conv2d"));
    EXPECT_EQ(read->graph.type(read->graph.outputs()[0]).shape, Shape({1, 4, 6, 6}));
  }
}

TEST(StudyLayers, OfNoFileAreAFault) { EXPECT_FALSE(lone_convolutions("nowhere.onnx", loaded())); }

}  // namespace
