// What exporters write today, and wrote before: models of each opset are imported, made cheaper, found equal and
// written, in their own opset or in 13 where theirs is older.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "campaign/rule_source.h"
#include "onnx/external.h"
#include "optimize/equivalence.h"
#include "optimize/optimizer.h"
#include "support.h"

namespace rewright::onnx_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Exporter {
  int opset;
  int ir;
};

void add_floats(Model& model, const std::string& name, float value) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_float_data(value);
}

/// Axes or sizes: an attribute until an opset, an input from it on.
void set_or_add(Model& model, ::onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values,
                bool as_input) {
  if (!as_input) return set(node, name, values);
  const std::string input = node.output(0) + "_" + name;
  add_integers(model, input, values);
  node.add_input(input);
}

/// Two convolutions with biases on one image, of 3 x 3 and 1 x 1, summed: one does. Behind them what has changed from
/// opset to opset: Clip (11), Squeeze (13), Softmax (13), ReduceMax (18), LayerNormalization (17), Gelu (20).
Model exported(const Exporter& by) {
  Model model = make_model(by.opset);
  model.set_ir_version(by.ir);
  add_input(model, "x", {1, 4, 6, 6});
  add_weight(model, "w3", {4, 4, 3, 3}, 1), add_weight(model, "b3", {4}, 2);
  add_weight(model, "w1", {4, 4, 1, 1}, 3), add_weight(model, "b1", {4}, 4);
  set(add_node(model, "Conv", {"x", "w3", "b3"}, {"c3"}), "pads", std::vector<std::int64_t>{1, 1, 1, 1});
  add_node(model, "Conv", {"x", "w1", "b1"}, {"c1"});
  add_node(model, "Add", {"c3", "c1"}, {"sum"});
  auto& clip = add_node(model, "Clip", {"sum"}, {"clipped"});
  if (by.opset < 11) {
    for (const auto& [name, value] : {std::pair("min", 0.0F), std::pair("max", 6.0F)}) {
      auto& attribute = *clip.add_attribute();
      attribute.set_name(name);
      attribute.set_type(::onnx::AttributeProto::FLOAT);
      attribute.set_f(value);
    }
  } else {
    add_floats(model, "low", 0), add_floats(model, "high", 6);
    clip.add_input("low"), clip.add_input("high");
  }
  add_node(model, "GlobalAveragePool", {"clipped"}, {"pooled"});
  set_or_add(model, add_node(model, "Squeeze", {"pooled"}, {"flat"}), "axes", {2, 3}, by.opset >= 13);
  add_node(model, "Softmax", {"flat"}, {"soft"});
  std::string last = "soft";
  if (by.opset >= 17) {
    add_weight(model, "scale", {4}, 5);
    add_node(model, "LayerNormalization", {last, "scale"}, {"normal"});
    last = "normal";
  }
  if (by.opset >= 20) {
    add_node(model, "Gelu", {last}, {"gelu"});
    last = "gelu";
  }
  set_or_add(model, add_node(model, "ReduceMax", {last}, {"y"}), "axes", {1}, by.opset >= 18);
  add_output(model, "y", {1, 1});
  if (by.ir < 4)  // Initializers are inputs too.
    for (const auto& tensor : model.graph().initializer())
      add_input(model, tensor.name(), {tensor.dims().begin(), tensor.dims().end()}, tensor.data_type());
  return model;
}

int count_of(const Model& model, std::string_view type) {
  return static_cast<int>(
      std::ranges::count_if(model.graph().node(), [&](const auto& node) { return node.op_type() == type; }));
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> read = [] {
    auto found = read_rule_source(std::string(REWRIGHT_SOURCE_DIR) + "/experiments/library/networks.rules", registry());
    if (!found) fail(found.error().message);
    return *std::move(found);
  }();
  return read;
}

/// Import, search, gate, export; the model that comes of it.
Result<Model> optimized(const Model& model, const std::string& folder = {}) {
  const std::string original = model.SerializeAsString();
  ImportOptions import_options;
  import_options.directory = folder;
  REWRIGHT_TRY(const ImportedModel imported, import_model(bytes_of(original), registry(), import_options));
  REWRIGHT_TRY(const CostModel* price, registry().get<CostModel>("flops"));
  const auto prices = price->clone();
  REWRIGHT_CHECK(prices->configure({}, registry()));
  GraphCost cost(*prices, nullptr);
  REWRIGHT_TRY(const SearchStrategy* search, registry().get<SearchStrategy>("greedy"));
  REWRIGHT_TRY(const OptimizeReport report,
               optimize(imported.graph, rules(), *search->clone(), cost, {.steps = 20, .registry = &registry()}));
  EquivalenceOptions options;
  options.runtime = &runtime();
  options.original_model = original;
  options.directory = folder;
  options.to_model = [&](const Graph& graph) { return export_model(graph, imported); };
  REWRIGHT_TRY(const std::string bytes, options.to_model(report.best));
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(imported.graph, options));
  REWRIGHT_TRY(const Equivalence checked, gate.check(report.best, bytes));
  if (!checked.equal()) return make_error(ErrorCode::kInternal, "not equal: {}{}", checked.difference, checked.reason);
  return parse(bytes);
}

class Exporters : public testing::TestWithParam<Exporter> {};

TEST_P(Exporters, ModelsGoTheWholeWay) {
  REQUIRE_RUNTIME();
  const Model model = exported(GetParam());
  EXPECT_EQ(count_of(model, "Conv"), 2);
  const auto result = optimized(model);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->opset_import(0).version(), GetParam().opset);
  EXPECT_EQ(result->ir_version(), GetParam().ir);
  EXPECT_EQ(count_of(*result, "Conv"), 1) << "both branches are one convolution";
  EXPECT_LE(count_of(*result, "Add"), GetParam().opset < 20 ? 1 : 2) << "their biases are one; Gelu is written out";
  EXPECT_EQ(difference(model, *result), "");
}

INSTANTIATE_TEST_SUITE_P(Opsets, Exporters,
                         testing::Values(Exporter{7, 3}, Exporter{9, 4}, Exporter{11, 6}, Exporter{13, 7},
                                         Exporter{15, 8}, Exporter{17, 8}, Exporter{18, 8}, Exporter{19, 9},
                                         Exporter{20, 9}, Exporter{21, 10}),
                         [](const auto& info) { return fmt::format("Opset{}Ir{}", info.param.opset, info.param.ir); });

TEST(ExternalWeights, MayLieBeyondTwoGibibytes) {
  // A file with a hole: it takes a few KiB of the disk, and what is read of it alone takes memory.
  REQUIRE_RUNTIME();
  const fs::path folder = fs::temp_directory_path() / fmt::format("rewright-far-{}", ::getpid());
  fs::create_directories(folder);
  constexpr std::int64_t kOffset = (std::int64_t{5} << 30) + 4096;
  Model model = exported({17, 8});
  Model near = model;
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  ASSERT_EQ(tensor.name(), "w3");
  std::string bytes = tensor.raw_data();
  if (bytes.empty())
    bytes.assign(reinterpret_cast<const char*>(tensor.float_data().data()), tensor.float_data_size() * sizeof(float));
  {
    std::ofstream file(folder / "far.bin", std::ios::binary);
    file.seekp(kOffset);
    file << bytes;
  }
  tensor.clear_raw_data(), tensor.clear_float_data();
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>("location", "far.bin"),
                                   {"offset", std::to_string(kOffset)},
                                   {"length", std::to_string(bytes.size())}}) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key), entry.set_value(value);
  }
  const auto result = optimized(model, folder.string());
  fs::remove_all(folder);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(difference(near, *result), "") << "the weights are those that lie there";
}

}  // namespace
}  // namespace rewright::onnx_test
