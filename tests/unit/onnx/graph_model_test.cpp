// A model as a graph in a file and back: nothing of what it computes, holds or is called changes.
#include "onnx/graph_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <onnx/checker.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/files.h"
#include "graph/graph_file.h"
#include "onnx/element.h"
#include "support.h"
#include "support/random_graph.h"

namespace rewright::onnx_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / fmt::format("rewright-graph-model-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string digest(std::span<const std::byte> bytes) {
  return content_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// What a node is, its operands aside; names inside an opaque node are those of tensors, and may change.
std::string label_of(const Node& node) {
  std::string label;
  if (node.application()) label = to_string(*node.application());
  if (node.opaque()) {
    ::onnx::NodeProto proto;
    EXPECT_TRUE(proto.ParseFromString(node.opaque()->serialized));
    const auto output_count = proto.output_size();
    if (proto.attribute_size() > 0 && std::ranges::any_of(proto.attribute(), [](const auto& a) { return a.has_g(); }))
      proto.clear_attribute();
    proto.clear_input();
    proto.clear_output();
    proto.clear_name();
    label = fmt::format("{} {} {}", node.opaque()->type, proto.SerializeAsString(), output_count);
  }
  if (node.is_input()) label = fmt::format("{} {}", node.is_weight() ? "weight" : "input", node.name);
  for (const TensorType& type : node.outputs) label += fmt::format(" {} {}", name_of(type.element), type.shape);
  if (node.constant()) label += " = " + digest(model::bytes_of(*node.constant()));
  return label;
}

/// Equal for graphs that have the same inputs, weights, values and output names, and compute outputs the same way.
std::string said_by(const Graph& graph) {
  std::vector<std::string> made;
  std::map<std::string, std::string> inputs;
  for (const Node& node : graph.nodes()) {
    std::string text = label_of(node);
    if (node.is_input()) inputs[node.name] = text;
    for (const Port& port : node.inputs) text += fmt::format(" {}.{}", made[port.node.value], port.output);
    made.push_back(content_hash(text));
  }
  std::string text;
  for (const auto& [name, input] : inputs) text += input + "\n";
  for (std::size_t i = 0; i < graph.outputs().size(); ++i)
    text += fmt::format("{} = {}.{}\n", i < graph.output_names().size() ? graph.output_names()[i] : "",
                        made[graph.outputs()[i].node.value], graph.outputs()[i].output);
  return text;
}

Graph through_a_file(const Graph& graph, const TemporaryFolder& folder) {
  const auto weights = write_graph_file(folder.file("a.graph"), graph);
  EXPECT_TRUE(weights) << weights.error().message;
  auto again = read_graph_file(folder.file("a.graph"), registry());
  EXPECT_TRUE(again) << again.error().message;
  return again ? *again : Graph();
}

/// Model, graph in a file, model, graph.
enum class Outcome {
  kSame,
  kRefused,
  kOtherForm,  ///< Once only: a Gemm's bias (1, n) is read as a sum that stretches it, an Add's as a bias.
  kDiffers
};
Outcome there_and_back(const ImportedModel& model, const TemporaryFolder& folder, std::string& reason) {
  const auto alone = graph_alone(model);
  if (!alone) return reason = alone.error().message, Outcome::kRefused;
  const Graph read = through_a_file(*alone, folder);
  if (said_by(read) != said_by(*alone)) return reason = "the file says something else", Outcome::kDiffers;
  const auto written = graph_as_model(read);
  if (!written) return reason = written.error().message, Outcome::kRefused;
  EXPECT_EQ(written->drawn, 0u);
  const auto again = import_model(bytes_of(written->model), registry());
  if (!again) return reason = again.error().message, Outcome::kDiffers;
  const auto again_alone = graph_alone(*again);
  if (again_alone && said_by(*again_alone) == said_by(*alone)) return Outcome::kSame;
  const bool is_gemm = std::ranges::any_of(
      model.origin.nodes, [](const OriginNode& node) { return node.serialized.find("Gemm") != std::string::npos; });
  if (is_gemm && there_and_back(*again, folder, reason) == Outcome::kSame) return Outcome::kOtherForm;
  reason = fmt::format("{}\nbecame\n{}", to_text(model.graph), to_text(again->graph)).substr(0, 4000);
  return Outcome::kDiffers;
}

/// The models below a folder: how many come back the same.
void expect_all_come_back(const fs::path& models, int least_same, int most_refused, int most_in_other_form = 0) {
  const TemporaryFolder folder;
  std::map<Outcome, int> count;
  for (const auto& entry : fs::recursive_directory_iterator(models)) {
    if (entry.path().extension() != ".onnx") continue;
    const auto model = import_model_file(entry.path(), registry());
    if (!model) continue;  // A size that is open.
    std::string reason;
    const Outcome outcome = there_and_back(*model, folder, reason);
    ++count[outcome];
    EXPECT_NE(outcome, Outcome::kDiffers) << entry.path() << ": " << reason;
    if (outcome == Outcome::kRefused) fmt::print("refused {}: {}\n", entry.path().string(), reason);
  }
  fmt::print("{}: {} the same, {} refused\n", models.string(), count[Outcome::kSame], count[Outcome::kRefused]);
  EXPECT_GE(count[Outcome::kSame], least_same);
  EXPECT_LE(count[Outcome::kRefused], most_refused);
  EXPECT_LE(count[Outcome::kOtherForm], most_in_other_form);
}

TEST(GraphModel, EveryShippedModelComesBack) { expect_all_come_back(fs::path(REWRIGHT_BUILD_DIR) / "models", 22, 0); }

TEST(GraphModel, SimpleModelsComeBack) {
  expect_all_come_back(fs::path(REWRIGHT_SOURCE_DIR) / "tests/models/simple", 85, 0);
}

TEST(GraphModel, ModelsOfTheOnnxProjectComeBackOrAreRefusedWithASentence) {
  const fs::path data = "/usr/share/libonnx-testdata/data";
  if (!fs::is_directory(data)) GTEST_SKIP() << "install libonnx-testdata: " << data << " is missing";
  expect_all_come_back(data / "simple", 5, 20);
  expect_all_come_back(data / "node", 850, 40, 8);
}

TEST(GraphModel, RandomGraphsComeBackUnderAllTheirNames) {
  const TemporaryFolder folder;
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Graph graph = testing::RandomGraph(seed, {.operators = 8, .odd_names = seed % 2 == 0}).make();
    const auto written = graph_as_model(graph, seed);
    if (!written) continue;  // An operator without a counterpart in ONNX.
    const auto again = import_model(bytes_of(written->model), registry());
    ASSERT_TRUE(again) << seed << ": " << again.error().message << to_text(graph);
    ++compared;
    std::string reason;
    EXPECT_EQ(there_and_back(*again, folder, reason), Outcome::kSame) << seed << ": " << reason;
  }
  EXPECT_GT(compared, 100);
}

constexpr const char* kText =
    "x = input (2, 4)\n"
    "w = weight (4, 8)\n"
    "v = weight (4, 8)\n"
    "b = weight (8) [1, -2.5, inf, 0, 1e-40, 3, 0.1, 7]\n"
    "h = weight (4, 8) 0.5\n"
    "sum = ewadd(w, v)\n"
    "both = ewadd(sum, h)\n"
    "a = matmul(x, both)\n"
    "c = bias_add(a, b)\n"
    "output c\n";

TEST(GraphModel, WeightsAreInitializersUnderTheirNamesAndNodesKeepTheirs) {
  const Graph graph = *parse_graph(kText, registry());
  const auto written = graph_as_model(graph, 7);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->drawn, 2u);
  const Model model = parse(written->model);
  EXPECT_NO_THROW(::onnx::checker::check_model(model));
  std::map<std::string, std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) initializers[tensor.name()] = tensor.raw_data();
  EXPECT_THAT(initializers, UnorderedElementsAre(Key("w"), Key("v"), Key("b"), Key("h")));
  EXPECT_NE(initializers["w"], initializers["v"]);
  ASSERT_EQ(model.graph().input_size(), 1);
  std::vector<std::string> made;
  for (const auto& node : model.graph().node()) made.push_back(node.output(0));
  EXPECT_THAT(made, ElementsAre("sum", "both", "a", "c"));
  EXPECT_EQ(graph_as_model(graph, 7)->model, written->model);
  EXPECT_NE(graph_as_model(graph, 8)->model, written->model);
}

TEST(GraphModel, EqualWeightsStayTwo) {
  const Graph graph = *parse_graph(
      "x = input (2)\nw = weight (2) [1, 2]\nv = weight (2) [1, 2]\na = ewmul(x, w)\nb = ewadd(a, v)\noutput b\n",
      registry());
  EXPECT_EQ(parse(graph_as_model(graph)->model).graph().initializer_size(), 2);
}

TEST(GraphModel, WeightsThatNothingUsesAreCounted) {
  const Graph graph = *parse_graph("x = input (2)\nw = weight (2)\ny = relu(x)\noutput y\n", registry());
  EXPECT_EQ(graph_as_model(graph)->left_out, 1u);
}

std::string refusal(const std::string& text) {
  const auto graph = parse_graph(text, registry());
  if (!graph) return graph.error().message;
  const auto written = graph_as_model(*graph);
  return written ? "written" : written.error().message;
}

TEST(GraphModel, WhatAModelCannotBeMadeOfIsRefused) {
  EXPECT_THAT(refusal("n = weight int64 (2)\noutput n\n"), HasSubstr("weight 'n' of int64 has no values"));
  EXPECT_EQ(refusal("n = weight int64 (2) [1, 2]\noutput n\n"), "written");
  EXPECT_THAT(refusal("x = input (2)\ne = opaque \"Einsum\"(x) -> (2)\noutput e\n"), HasSubstr("opaque node 'Einsum'"));
  EXPECT_THAT(refusal("x = input unknown ()\noutput x\n"), HasSubstr("input 'x' is of type unknown"));
}

TEST(GraphModel, WrongValuesAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal("w = weight (2) [1, 2, 3]\noutput w\n"),
            "line 1, column 16: a weight of shape (2) has 2 values, and 3 stand here");
  EXPECT_EQ(refusal("w = weight (2) [1, x]\noutput w\n"), "line 1, column 20: expected a number, found 'x'");
  EXPECT_EQ(refusal("w = weight int32 (1) [3000000000]\noutput w\n"),
            "line 1, column 23: expected an integer that the element type holds, found '3000000000'");
  EXPECT_EQ(refusal("w = weight float16 (2) [1, 2]\noutput w\n"),
            "line 1, column 24: values of float16 are not written in a line; one number that is repeated, or a file, "
            "can be");
  EXPECT_EQ(refusal("w = weight (2) \"w.bin\" 0\noutput w\n"),
            "line 1, column 16: the weight lies in \"w.bin\", and this text is read without its folder");
  EXPECT_THAT(refusal("w = weight string (2) 1\noutput w\n"), HasSubstr("string are no numbers"));
}

TEST(GraphModel, FilesOfWeightsThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& weight) {
    EXPECT_TRUE(write_file(folder.file("g.graph"), "w = weight (4) " + weight + "\noutput w\n"));
    const auto graph = read_graph_file(folder.file("g.graph"), registry());
    return graph ? "read" : graph.error().message;
  };
  EXPECT_TRUE(write_file(folder.file("w.bin"), std::string(20, '\1')));
  EXPECT_EQ(refused("\"w.bin\" 4"), "read");
  EXPECT_THAT(refused("\"w.bin\" 5"), HasSubstr("has 20 bytes, and the weight takes 16 from 5 on"));
  EXPECT_THAT(refused("\"none.bin\" 0"), HasSubstr("there is no file"));
  EXPECT_THAT(refused("\"../w.bin\" 0"), HasSubstr("is not the name of a file there"));
  EXPECT_THAT(refused("\"w.bin\" 4 4"), HasSubstr("expected the end of the line"));
}

}  // namespace
}  // namespace rewright::onnx_test
