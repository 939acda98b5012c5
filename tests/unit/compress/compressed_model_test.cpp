// Compressed models as ONNX: what a runtime computes of them, which names they keep, how far off they are said to be.
#include "compress/compressed_model.h"

#include <gmock/gmock.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "compress/channel_removal.h"
#include "compress/output_error.h"
#include "compress/weight_pruning.h"
#include "networks.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "optimize/random_inputs.h"
#include "optimize/reference.h"

namespace rewright::compress {
namespace {

using testing::loaded;
using testing::RandomNetwork;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// `type`: of nodes of that type, and of inputs and outputs, alone.
std::set<std::string> names_in(const std::string& bytes, const std::string& type = "") {
  ::onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  std::set<std::string> names;
  for (const auto& node : model.graph().node())
    if (type.empty() || node.op_type() == type) names.insert(node.name());
  for (const auto& tensor : model.graph().initializer())
    if (type.empty() && tensor.data_type() == ::onnx::TensorProto::FLOAT) names.insert(tensor.name());
  for (const auto& input : model.graph().input()) names.insert(input.name());
  for (const auto& output : model.graph().output()) names.insert(output.name());
  return names;
}

/// The greatest difference between what the runtime makes of the model and what the graph says, over the greatest
/// number.
double distance_in_runtime(const Graph& graph, const std::string& model, const Runtime& runtime) {
  const auto inputs = *random_inputs(graph, 1);
  ReferenceInputs reference_inputs;
  for (const RuntimeTensor& input : inputs) reference_inputs[input.name] = *reference_tensor(input.type, input.bytes);
  const std::map<std::string, ExternalWeight> none;
  Reference reference(nullptr, "", &none, &loaded());
  const auto expected = reference.evaluate(graph, reference_inputs, Arithmetic::kExact);
  auto session = runtime.load(bytes_of(model), {});
  EXPECT_TRUE(session) << (session ? "" : session.error().message);
  if (!session || !expected) return 1;
  const auto found = (*session)->run(inputs);
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  if (!found) return 1;
  double greatest = 0, scale = 1e-30;
  for (std::size_t k = 0; k < found->size(); ++k) {
    const auto wanted = numbers_of(expected->outputs[k]);
    const auto numbers = numbers_of(*reference_tensor((*found)[k].type, (*found)[k].bytes));
    EXPECT_EQ(wanted.size(), numbers.size());
    for (std::size_t i = 0; i < wanted.size() && i < numbers.size(); ++i) {
      greatest = std::max(greatest, std::abs(wanted[i].value - numbers[i].value));
      scale = std::max(scale, std::abs(wanted[i].value));
    }
  }
  return greatest / scale;
}

TEST(CompressedModel, OfRandomNetworksIsWhatARuntimeComputes) {
  const Runtime& runtime = **loaded().get<Runtime>("onnxruntime");
  if (const auto version = runtime.version(); !version) GTEST_SKIP() << version.error().message;
  int narrowed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::string model = *export_model(RandomNetwork(seed, false).make());
    const auto original = import_model(bytes_of(model), loaded());
    ASSERT_TRUE(original) << original.error().message;
    const auto zeros = with_zeros(original->graph, {.share = 0.5});
    ASSERT_TRUE(zeros) << zeros.error().message;
    const auto sparse = compressed_model(*original, *zeros, loaded(), {});
    ASSERT_TRUE(sparse) << seed << ": " << sparse.error().message;
    EXPECT_LT(distance_in_runtime(zeros->graph, *sparse, runtime), 1e-4) << seed;
    EXPECT_EQ(names_in(*sparse), names_in(model));
    const auto fewer = without_channels(original->graph, {.share = 0.5});
    if (!fewer) continue;
    ++narrowed;
    const auto narrow = compressed_model(*original, *fewer, loaded(), {});
    ASSERT_TRUE(narrow) << seed << ": " << narrow.error().message;
    EXPECT_LT(distance_in_runtime(fewer->graph, *narrow, runtime), 1e-4) << seed;
    for (const char* type : {"Conv", "Reshape", "MatMul"})
      EXPECT_EQ(names_in(*narrow, type), names_in(model, type)) << seed;
  }
  EXPECT_GT(narrowed, 20);
}

TEST(CompressedModel, SetsTheStoredSizesOfAReshapeAndLeavesTheBatchOpen) {
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(*export_model(testing::graph_of(
      "x = input (2, 3)\nv = weight (3, 8)\na = matmul(x, v)\nb = reshape[sizes=[2, 4, 2]](a)\nr = relu(b)\n"
      "c = reshape[sizes=[2, 8]](r)\nw = weight (8, 5)\ny = matmul(c, w)\noutput y\n"))));
  auto& graph = *model.mutable_graph();
  for (auto* value : {graph.mutable_input(0), graph.mutable_output(0)})
    value->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("batch");
  int shapes = 0;
  for (auto& tensor : *graph.mutable_initializer()) {  // Of the first, 2 becomes 0: as it is.
    if (tensor.data_type() != ::onnx::TensorProto::INT64) continue;
    const bool is_first = tensor.dims(0) == 3;
    const std::vector<std::int64_t> sizes =
        is_first ? std::vector<std::int64_t>{0, 4, 2} : std::vector<std::int64_t>{-1, 8};
    tensor.set_raw_data(sizes.data(), sizes.size() * sizeof(std::int64_t));
    ++shapes;
  }
  ASSERT_EQ(shapes, 2);
  const std::string bytes = model.SerializeAsString();
  ImportOptions options;
  options.dimensions["batch"] = 2;
  const auto original = import_model(bytes_of(bytes), loaded(), options);
  ASSERT_TRUE(original) << original.error().message;
  const auto fewer = without_channels(original->graph, {.share = 0.5});
  ASSERT_TRUE(fewer) << fewer.error().message;
  const auto narrow = compressed_model(*original, *fewer, loaded(), options);
  ASSERT_TRUE(narrow) << narrow.error().message;
  options.dimensions["batch"] = 3;
  const auto other = import_model(bytes_of(*narrow), loaded(), options);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->graph.shape(other->graph.outputs()[0]), (Shape{3, 5}));
  EXPECT_EQ(fewer->layers[0].after, (Shape{3, 4})) << "two of four blocks";
  EXPECT_EQ(names_in(*narrow, "Reshape"), names_in(bytes, "Reshape"));
}

TEST(OutputErrors, AreThoseOfTheWeights) {
  const Graph graph = testing::with_numbers(
      testing::graph_of("x = input (1, 2)\nw = weight (2, 2)\ny = matmul(x, w)\noutput y\n"), {{{1}, {4, 1, 2, -8}}});
  const auto original = import_model(bytes_of(*export_model(graph)), loaded());
  ASSERT_TRUE(original) << original.error().message;
  const auto zeros = with_zeros(original->graph, {.share = 0.25});
  ASSERT_TRUE(zeros) << zeros.error().message;
  const auto pruned = import_model(bytes_of(*compressed_model(*original, *zeros, loaded(), {})), loaded());
  ASSERT_TRUE(pruned) << pruned.error().message;
  ErrorOptions options;
  options.given["x"].numbers = {3, 1};  // (14, -5) becomes (14, -8).
  const auto errors = output_errors(*original, *pruned, loaded(), options);
  ASSERT_TRUE(errors) << errors.error().message;
  ASSERT_EQ(errors->size(), 1);
  EXPECT_EQ((*errors)[0].greatest, 3);
  EXPECT_EQ((*errors)[0].relative, 3.0 / 14);
  EXPECT_EQ((*errors)[0].same_greatest, 16);
  EXPECT_EQ((*errors)[0].rows, 16);
  options.given["x"].numbers = {9, 1};  // (38, 1) becomes (38, -8).
  EXPECT_EQ((*output_errors(*original, *pruned, loaded(), options))[0].greatest, 9);
}

}  // namespace
}  // namespace rewright::compress
