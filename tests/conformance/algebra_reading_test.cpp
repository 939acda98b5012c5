// How operators read ONNX's nodes.
#include <rewright/graph/graph.h>
#include <rewright/onnx/onnx.h>

#include <gmock/gmock.h>

#include <map>

#include "support/operators.h"

namespace rewright::testing {
namespace {

/// "relu(x0); conv2d[groups=2](x1, x2)": each application with the names of its operands.
std::string applications_in(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) {
    if (!node.application()) continue;
    std::vector<std::string> operands;
    for (const Port& port : node.inputs) operands.push_back(graph.node(port.node).name);
    text += fmt::format("{}{}({})", text.empty() ? "" : "; ", rewright::to_string(*node.application()),
                        fmt::join(operands, ", "));
  }
  return text;
}

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
  EXPECT_THAT(read("conv2d", "Conv", {{1, 2, 7, 7, 7}, {4, 2, 3, 3, 3}}, {}), HasSubstr("rank 4"));
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
