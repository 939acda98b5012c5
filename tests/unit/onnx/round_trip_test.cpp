// Every model of the ONNX project's own test data, imported and exported, computes what it computed: ONNX Runtime is
// the judge. Where that cannot be asked (it does not run the model, or the inputs are no tensors), the exported model
// must load wherever the original does.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "support.h"

namespace rewright::onnx_test {
namespace {

namespace fs = std::filesystem;

const fs::path kData = "/usr/share/libonnx-testdata/data";

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The case's inputs; nothing if one is not a tensor of numbers.
std::optional<std::vector<RuntimeTensor>> read_inputs(const fs::path& folder, const Model& model) {
  std::vector<RuntimeTensor> inputs;
  for (int i = 0; fs::exists(folder / fmt::format("input_{}.pb", i)); ++i) {
    ::onnx::TensorProto tensor;
    if (i >= model.graph().input_size() || !model.graph().input(i).type().has_tensor_type()) return std::nullopt;
    if (!tensor.ParseFromString(read(folder / fmt::format("input_{}.pb", i)))) return std::nullopt;
    // A model that hands its input on turns any encoding into bytes.
    Model identity = make_model();
    ::onnx::TensorProto& weight = *identity.mutable_graph()->add_initializer();
    weight = tensor;
    weight.set_name("x");
    const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    add_output(identity, "y", dims, tensor.data_type());
    add_node(identity, "Identity", {"x"}, {"y"});
    auto result = run(identity.SerializeAsString(), {});
    if (!result) return std::nullopt;
    result->front().name = model.graph().input(i).name();
    inputs.push_back(std::move(result->front()));
  }
  return inputs;
}

/// Sizes for dimensions that the model leaves open, from the case's inputs.
ImportOptions options_for(const fs::path& file, const Model& model, const std::vector<RuntimeTensor>& inputs) {
  ImportOptions options;
  options.file = file.string();
  options.directory = file.parent_path().string();
  for (int i = 0; i < model.graph().input_size() && i < static_cast<int>(inputs.size()); ++i) {
    const auto& shape = model.graph().input(i).type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (shape.dim(axis).has_dim_value()) continue;
      options.dimensions[fmt::format("{}.{}", model.graph().input(i).name(), axis)] =
          inputs[static_cast<std::size_t>(i)].type.shape[axis];
    }
  }
  return options;
}

bool is_random(const Model& model) {
  return std::any_of(model.graph().node().begin(), model.graph().node().end(), [](const auto& node) {
    return node.op_type().starts_with("Random") || node.op_type() == "Bernoulli" || node.op_type() == "Multinomial" ||
           node.op_type() == "Dropout" || node.op_type() == "TrainingDropout";
  });
}

enum class Outcome { kEqual, kLoads, kNotRun, kRefused, kWrong };

struct Case {
  Outcome outcome = Outcome::kEqual;
  std::string reason;
  std::size_t applications = 0;
  std::size_t carried = 0;
};

Case check(const fs::path& folder) {
  const std::string original = read(folder / "model.onnx");
  const Model model = parse(original);
  const auto inputs = read_inputs(folder / "test_data_set_0", model);
  const auto options = options_for(folder / "model.onnx", model, inputs.value_or(std::vector<RuntimeTensor>()));
  const auto imported = import_model(bytes_of(original), registry(), options);
  if (!imported) return {Outcome::kRefused, imported.error().message};
  Case result{Outcome::kEqual, "", 0, imported->carried.size()};
  for (const Node& node : imported->graph.nodes()) result.applications += node.application() != nullptr;
  for (const CarriedNode& node : imported->carried) {
    if (node.reason.find("ONNX's shape inference") != std::string::npos) return {Outcome::kWrong, node.reason};
  }
  const auto exported = export_model(imported->graph, *imported, {.keep_original = false});
  if (!exported) return {Outcome::kRefused, exported.error().message};
  const auto before = runtime().load(bytes_of(original), {options.directory});
  if (!before) return {Outcome::kNotRun, before.error().message};
  const auto after = runtime().load(bytes_of(*exported), {options.directory});
  if (!after) return {Outcome::kWrong, "the exported model does not load: " + after.error().message};
  const auto expected = inputs ? (*before)->run(*inputs) : Result<std::vector<RuntimeTensor>>(Error{});
  if (!expected || is_random(model)) {
    result.outcome = Outcome::kLoads;
    return result;
  }
  const auto actual = (*after)->run(*inputs);
  if (!actual) return {Outcome::kWrong, actual.error().message};
  const std::string different = difference(*expected, *actual);
  if (!different.empty()) return {Outcome::kWrong, different};
  return result;
}

struct Group {
  const char* name;
  int least_equal;
  int most_refused;  ///< Models with open dimensions whose sizes the test data does not say.
};

class RoundTrip : public testing::TestWithParam<Group> {};

TEST_P(RoundTrip, EveryModelComputesTheSameOrIsRefusedWithASentence) {
  REQUIRE_RUNTIME();
  const auto [group, least_equal, most_refused] = GetParam();
  if (!fs::is_directory(kData / group)) GTEST_SKIP() << "install libonnx-testdata: " << kData / group << " is missing";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kData / group)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::map<Outcome, int> count;
  std::size_t applications = 0, carried = 0;
  for (const fs::path& folder : folders) {
    const Case result = check(folder);
    ++count[result.outcome];
    applications += result.applications;
    carried += result.carried;
    if (result.outcome == Outcome::kRefused) fmt::print("refused {}: {}\n", folder.filename().string(), result.reason);
    EXPECT_NE(result.outcome, Outcome::kWrong) << folder << ": " << result.reason;
    if (result.outcome == Outcome::kRefused) {
      EXPECT_GT(result.reason.size(), 20u);
    }
  }
  fmt::print(
      "{}: {} models: {} equal, {} load, {} not run by ONNX Runtime, {} refused; {} applications, {} nodes "
      "carried\n",
      group, folders.size(), count[Outcome::kEqual], count[Outcome::kLoads], count[Outcome::kNotRun],
      count[Outcome::kRefused], applications, carried);
  EXPECT_GE(count[Outcome::kEqual], least_equal);
  EXPECT_LE(count[Outcome::kRefused], most_refused);
}

INSTANTIATE_TEST_SUITE_P(TestData, RoundTrip,
                         testing::Values(Group{"node", 850, 4}, Group{"simple", 15, 0},
                                         Group{"pytorch-converted", 59, 0}, Group{"pytorch-operator", 24, 0}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace rewright::onnx_test
