// What operators write to ONNX: ONNX Runtime computes the same from it, and so do the operators that read it back.
// How they read ONNX's nodes.
#include "conformance/algebra_applications.h"
#include "support/operators.h"

#include <rewright/graph.h>
#include <rewright/onnx.h>
#include <rewright/runtime.h>

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <set>

#include "onnx/export.h"
#include "onnx/import.h"

namespace rewright::testing {
namespace {

constexpr std::uint64_t kSeed = 20261123;

/// The application alone in a graph, with one input per operand.
Graph graph_of(const Application& application) {
  GraphBuilder builder(&loaded());
  std::vector<Port> operands;
  for (const Shape& shape : application.in) {
    operands.push_back(*builder.input(fmt::format("x{}", operands.size()), {shape, ElementType::kFloat32}));
  }
  const std::vector<Port> ports = *builder.apply(*application.op, application.params, operands);
  for (const Port& port : ports) builder.output(port);
  return builder.finish();
}

/// "relu(x0); conv2d[groups=2](x1, x2)": each application with the names of its operands.
std::string applications_in(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) {
    if (node.op == nullptr) continue;
    std::vector<std::string> operands;
    for (const Port& port : node.inputs) operands.push_back(graph.node(port.node).name);
    text += fmt::format("{}{}{}({})", text.empty() ? "" : "; ", node.op->name(),
                        rewright::to_string(node.op->info().params, node.params), fmt::join(operands, ", "));
  }
  return text;
}

/// Values that float32 holds exactly; none is 0, near which 1/x and log(x) tell rounding errors apart.
std::vector<Tensor<Real>> random_operands(const Application& application, Random& random) {
  std::vector<Tensor<Real>> in;
  for (const Shape& shape : application.in) {
    in.emplace_back(shape);
    for (Real& value : in.back().values()) value.value = static_cast<double>(2 * random.between(-20, 20) + 1) / 16;
  }
  return in;
}

std::string difference(const Tensor<Real>& expected, const Shape& shape, const std::vector<double>& actual) {
  if (expected.shape() != shape) return fmt::format("shape {} and not {}", shape, expected.shape());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = expected.values()[i].value, b = actual[i];
    if (std::isfinite(a) != std::isfinite(b) || std::abs(a - b) > 1e-4 * (1 + std::abs(a))) {
      return fmt::format("element {} is {} and not {}", i, b, a);
    }
  }
  return "";
}

RuntimeTensor runtime_tensor(std::string name, const Tensor<Real>& tensor) {
  RuntimeTensor result{std::move(name), {tensor.shape(), ElementType::kFloat32}, {}};
  for (const Real& value : tensor.values()) {
    const auto raw = std::bit_cast<std::array<std::byte, 4>>(static_cast<float>(value.value));
    result.bytes.insert(result.bytes.end(), raw.begin(), raw.end());
  }
  return result;
}

std::vector<double> reals_of(const RuntimeTensor& tensor) {
  std::vector<double> values;
  for (std::size_t at = 0; at + 4 <= tensor.bytes.size(); at += 4) {
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + at, 4);
    values.push_back(value);
  }
  return values;
}

std::vector<Application> applications_of(const Operator& op) {
  auto applications = ApplicationSource(op, kSeed).accepted(40, 2000, 200'000);
  std::erase_if(applications, [](const Application& application) {  // Runtimes disagree on tensors without elements.
    return std::ranges::any_of(application.in, [](const Shape& shape) { return shape.elements() == 0; });
  });
  return applications;
}

TEST(EveryOperator, ComputesWhatOnnxRuntimeComputesFromItsExport) {
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  if (runtime == nullptr) GTEST_SKIP() << "the plugin runtimes/onnxruntime is not built";
  if (const auto version = runtime->version(); !version) GTEST_SKIP() << version.error().message;
  std::set<std::string> compared;
  for (const Operator* op : loaded().all<Operator>()) {
    Random random(kSeed);
    for (const Application& application : applications_of(*op)) {
      SCOPED_TRACE(to_string(application));
      const auto model = export_model(graph_of(application));
      if (!model && model.error().code == ErrorCode::kUnsupported) continue;
      ASSERT_TRUE(model) << model.error().message;
      const auto session = runtime->load(std::as_bytes(std::span(*model)), "");
      ASSERT_TRUE(session) << session.error().message;
      const auto in = random_operands(application, random);
      std::vector<RuntimeTensor> feeds;
      for (const auto& tensor : in) feeds.push_back(runtime_tensor(fmt::format("x{}", feeds.size()), tensor));
      const auto results = (*session)->run(feeds);
      ASSERT_TRUE(results) << results.error().message;
      const auto expected = run(Call{op, application.params}, in);
      ASSERT_EQ(results->size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(difference(expected[i], (*results)[i].type.shape, reals_of((*results)[i])), "") << "output " << i;
      }
      compared.insert(op->name());
    }
  }
  EXPECT_GE(compared.size(), 16U) << fmt::format("{}", fmt::join(compared, " "));
}

TEST(EveryOperator, ReadsBackWhatItWroteToOnnx) {
  std::set<std::string> compared;
  for (const Operator* op : loaded().all<Operator>()) {
    Random random(kSeed);
    for (const Application& application : applications_of(*op)) {
      SCOPED_TRACE(to_string(application));
      const auto model = export_model(graph_of(application));
      if (!model && model.error().code == ErrorCode::kUnsupported) continue;
      ASSERT_TRUE(model) << model.error().message;
      const auto imported = import_model(std::as_bytes(std::span(*model)), loaded());
      ASSERT_TRUE(imported) << imported.error().message;
      std::vector<Tensor<Real>> values = random_operands(application, random);
      const auto expected = run(Call{op, application.params}, values);
      const Graph& graph = imported->graph;
      for (const NodeId id : graph.inputs().subspan(values.size())) {  // Weights that the export made.
        const auto& constant = graph.node(id).constant;
        ASSERT_NE(constant, nullptr) << graph.node(id).name;
        const auto reals = to_reals(*constant);
        if (!reals) break;
        Tensor<Real>& weight = values.emplace_back(constant->type.shape);
        for (std::size_t i = 0; i < reals->size(); ++i) weight.values()[i].value = (*reals)[i];
      }
      const auto actual = evaluate<Real>(graph, values);
      if (!actual) continue;  // Carried as an opaque node.
      ASSERT_EQ(actual->size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        std::vector<double> reals;
        for (const Real& value : (*actual)[i].values()) reals.push_back(value.value);
        EXPECT_EQ(difference(expected[i], (*actual)[i].shape(), reals), "")
            << "output " << i << " of " << applications_in(graph);
      }
      compared.insert(op->name());
    }
  }
  EXPECT_GE(compared.size(), 15U) << fmt::format("{}", fmt::join(compared, " "));
}

// --- reading ---------------------------------------------------------------------------------------------------

using Attributes = std::map<std::string, OnnxAttribute>;
using Integers = std::vector<std::int64_t>;

/// What the operator makes of a node with inputs of these shapes: the text of the applications, or the refusal.
std::string read(std::string_view op, const std::string& type, const std::vector<Shape>& shapes, Attributes attributes,
                 std::size_t outputs = 1) {
  GraphBuilder builder(&loaded());
  OnnxNode node;
  node.type = type;
  node.opset = 17;
  node.attributes = std::move(attributes);
  for (const Shape& shape : shapes) {
    node.inputs.emplace_back(*builder.input(fmt::format("x{}", node.inputs.size()), {shape, ElementType::kFloat32}));
    node.constants.push_back(nullptr);
  }
  node.output_count = outputs;
  const auto ports = operator_named(op).from_onnx(node, builder);
  if (!ports) return ports.error().message;
  for (const Port& port : *ports) builder.output(port);
  return applications_in(builder.finish());
}

std::string read_conv(const Shape& x, const Shape& w, Attributes attributes) {
  const std::string text = read("conv2d", "Conv", {x, w}, std::move(attributes));
  return text.substr(0, text.find('('));
}

TEST(ReadingConv, SpellsTheSameZerosInOneWay) {
  const Shape x{1, 2, 7, 7}, w3{4, 2, 3, 3}, w1{4, 2, 1, 1}, w2{4, 2, 2, 2};
  EXPECT_EQ(read_conv(x, w3, {{"pads", Integers{1, 1, 1, 1}}}), "conv2d");
  EXPECT_EQ(read_conv(x, w3, {}), "conv2d[padding=valid]");
  EXPECT_EQ(read_conv(x, w1, {}), "conv2d") << "one tap needs no zeros, whatever the padding";
  EXPECT_EQ(read_conv(x, w2, {{"pads", Integers{0, 0, 1, 1}}}), "conv2d");
  EXPECT_EQ(read_conv(x, w2, {{"pads", Integers{1, 1, 0, 0}}}), "conv2d[padding=explicit, pads=[1, 1, 0, 0]]");
  EXPECT_EQ(read_conv(x, w3, {{"pads", Integers{2, 2, 2, 2}}, {"dilations", Integers{2, 2}}}),
            "conv2d[dilations=[2, 2]]");
}

TEST(ReadingConv, GivesAutomaticPaddingTheZerosOfThisSize) {
  const Shape w3{4, 2, 3, 3}, w2{4, 2, 2, 2};
  const OnnxAttribute upper = std::string("SAME_UPPER"), lower = std::string("SAME_LOWER");
  const OnnxAttribute two = Integers{2, 2};
  EXPECT_EQ(read_conv({1, 2, 7, 7}, w3, {{"auto_pad", upper}}), "conv2d");
  EXPECT_EQ(read_conv({1, 2, 7, 7}, w3, {{"auto_pad", lower}}), "conv2d");
  EXPECT_EQ(read_conv({1, 2, 7, 7}, w2, {{"auto_pad", upper}}), "conv2d");
  EXPECT_EQ(read_conv({1, 2, 7, 7}, w2, {{"auto_pad", lower}}), "conv2d[padding=explicit, pads=[1, 1, 0, 0]]");
  EXPECT_EQ(read_conv({1, 2, 7, 7}, w3, {{"auto_pad", upper}, {"strides", two}}), "conv2d[strides=[2, 2]]");
  EXPECT_EQ(read_conv({1, 2, 8, 8}, w3, {{"auto_pad", upper}, {"strides", two}}),
            "conv2d[strides=[2, 2], padding=explicit, pads=[0, 0, 1, 1]]");
  EXPECT_EQ(read_conv({1, 2, 7, 7}, w3, {{"auto_pad", std::string("VALID")}, {"pads", Integers{1, 1, 1, 1}}}),
            "conv2d[padding=valid]");
}

TEST(ReadingConv, LeavesWhatItDoesNotMean) {
  using ::testing::HasSubstr;
  EXPECT_THAT(read("conv2d", "Conv", {{1, 2, 7}, {4, 2, 3}}, {}), HasSubstr("rank 4"));
  EXPECT_THAT(read("conv2d", "Conv", {{1, 2, 7, 7}, {4, 2, 3, 3}}, {{"pads", Integers{-1, 0, 0, 0}}}),
              HasSubstr("at least 0"));
  EXPECT_THAT(read("conv2d", "Conv", {{1, 2, 7, 7}, {4, 2, 3, 3}}, {{"auto_pad", std::string("FULL")}}),
              HasSubstr("'FULL'"));
}

TEST(ReadingPools, SpellsCountsAndRefusesTheRest) {
  using ::testing::HasSubstr;
  const std::vector<Shape> x = {{1, 2, 6, 6}};
  const OnnxAttribute three = Integers{3, 3}, ones = Integers{1, 1, 1, 1}, yes = std::int64_t{1};
  EXPECT_THAT(read("pool2d_avg", "AveragePool", x, {{"kernel_shape", three}}),
              HasSubstr("pool2d_avg[kernel=[3, 3], padding=valid](x0)"));
  EXPECT_THAT(read("pool2d_avg", "AveragePool", x, {{"kernel_shape", three}, {"pads", ones}}),
              HasSubstr("pool2d_avg[kernel=[3, 3], count_include_pad=no](x0)"));
  EXPECT_THAT(
      read("pool2d_avg", "AveragePool", x, {{"kernel_shape", three}, {"pads", ones}, {"count_include_pad", yes}}),
      HasSubstr("pool2d_avg[kernel=[3, 3]](x0)"));
  EXPECT_THAT(read("pool2d_max", "MaxPool", x, {{"kernel_shape", three}, {"ceil_mode", yes}}),
              HasSubstr("pool2d_max[kernel=[3, 3], padding=valid](x0)"));
  const OnnxAttribute two = Integers{2, 2};
  EXPECT_THAT(read("pool2d_max", "MaxPool", x, {{"kernel_shape", three}, {"ceil_mode", yes}, {"strides", two}}),
              HasSubstr("ceil_mode"));
  EXPECT_THAT(read("pool2d_max", "MaxPool", x, {{"kernel_shape", three}, {"dilations", two}}), HasSubstr("dilations"));
  EXPECT_THAT(read("pool2d_max", "MaxPool", x, {{"kernel_shape", three}}, 2), HasSubstr("second output"));
  EXPECT_THAT(read("pool2d_max", "MaxPool", x, {{"kernel_shape", two}, {"pads", Integers{2, 0, 0, 0}}}),
              HasSubstr("as large as the kernel"));
}

TEST(ReadingOthers, TakesOnlyWhatMeansExactlyTheSame) {
  using ::testing::HasSubstr;
  EXPECT_EQ(read("ewadd", "Add", {{2, 3}, {3}}, {}), "ewadd does not broadcast");
  EXPECT_THAT(read("smul", "Mul", {{}, {2, 3}}, {}), HasSubstr("smul(x1, x0)"));
  EXPECT_THAT(read("smul", "Mul", {{2, 3}, {1}}, {}), HasSubstr("smul needs a scalar"));
  EXPECT_THAT(read("matmul", "MatMul", {{4, 2, 3}, {3, 2}}, {}), HasSubstr("equal batch sizes"));
  EXPECT_THAT(read("concat", "Concat", {{2, 3}, {2, 4}}, {{"axis", std::int64_t{-1}}}),
              HasSubstr("concat[axis=1](x0, x1)"));
  EXPECT_THAT(read("transpose", "Transpose", {{2, 3, 4}}, {}), HasSubstr("transpose[perm=[2, 1, 0]](x0)"));
  EXPECT_THAT(read("split", "Split", {{2, 6}}, {{"axis", std::int64_t{-1}}}, 3),
              HasSubstr("split[axis=1, sizes=[2, 2, 2]](x0)"));
  EXPECT_THAT(read("split", "Split", {{5}}, {}, 2), HasSubstr("does not fall into 2 equal parts"));
  EXPECT_THAT(read("split", "Split", {{5}}, {{"split", Integers{1, 4}}}, 2), HasSubstr("sizes=[1, 4]](x0)"));
}

}  // namespace
}  // namespace rewright::testing
