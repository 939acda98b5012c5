// Which axes run together, as operators' definitions say.
#include "compress/axis_ties.h"

#include <gtest/gtest.h>

#include "compress/resized.h"
#include "networks.h"

namespace rewright::compress {
namespace {

using testing::loaded;

/// "x.1 w.1; w.0 y.1": what can lose channels together, of the graph's one application, whose output is y.
std::string ties(const std::string& text) {
  const Graph graph = *parse_graph(text + "\noutput y\n", loaded());
  const Node& node = graph.nodes().back();
  const auto made = defined_application(graph, node);
  EXPECT_TRUE(made);
  if (!made) return "";
  std::map<std::size_t, std::string> classes;
  for (std::size_t b = 0; b < node.inputs.size() + 1; ++b) {
    const std::string name = b < node.inputs.size() ? graph.node(node.inputs[b].node).name : "y";
    const Shape& shape = b < node.inputs.size() ? made->inputs[b] : made->outputs[0];
    for (int d = 0; d < shape.rank(); ++d) {
      const std::size_t tie = made->ties.of_buffer[b][static_cast<std::size_t>(d)];
      if (made->ties.pinned[tie] || shape[d] == 1) continue;
      std::string& places = classes[tie];
      places += fmt::format("{}{}.{}", places.empty() ? "" : " ", name, d);
    }
  }
  std::string all;
  for (const auto& [tie, places] : classes) all += (all.empty() ? "" : "; ") + places;
  return all;
}

TEST(AxisTies, OfConvolutions) {
  const std::string x = "x = input (2, 6, 9, 9)\n";
  EXPECT_EQ(ties(x + "w = weight (4, 6, 3, 3)\ny = conv2d(x, w)"), "x.0 y.0; x.1 w.1; w.0 y.1");
  EXPECT_EQ(ties(x + "w = weight (6, 1, 3, 3)\ny = conv2d[groups=6](x, w)"), "x.0 y.0; x.1 w.0 y.1");
  EXPECT_EQ(ties(x + "w = weight (6, 3, 3, 3)\ny = conv2d[groups=2](x, w)"), "x.0 y.0");
  EXPECT_EQ(ties(x + "w = weight (12, 1, 3, 3)\ny = conv2d[groups=6](x, w)"), "x.0 y.0; x.1 w.0 y.1")
      << "two filters for each channel";
}

TEST(AxisTies, OfWhatStandsBetween) {
  const std::string x = "x = input (2, 6, 8, 8)\n", s = "s = weight (6)\n";
  EXPECT_EQ(ties(x + "y = relu(x)"), "x.0 y.0; x.1 y.1; x.2 y.2; x.3 y.3");
  EXPECT_EQ(ties(x + s + "b = weight (6)\nm = weight (6)\nv = weight (6)\ny = batch_norm(x, s, b, m, v)"),
            "x.0 y.0; x.1 s.0 b.0 m.0 v.0 y.1; x.2 y.2; x.3 y.3");
  EXPECT_EQ(ties(x + s + "y = bias_add(x, s)"), "x.0 y.0; x.1 s.0 y.1; x.2 y.2; x.3 y.3");
  EXPECT_EQ(ties(x + "y = pool2d_max[kernel=[2, 2], padding=same](x)"), "x.0 y.0; x.1 y.1");
  EXPECT_EQ(ties(x + "z = input (2, 5, 8, 8)\ny = concat[axis=1](x, z)"), "x.0 z.0 y.0; x.2 z.2 y.2; x.3 z.3 y.3");
  EXPECT_EQ(ties(x + "y = transpose[perm=[1, 0, 3, 2]](x)"), "x.0 y.1; x.1 y.0; x.2 y.3; x.3 y.2");
}

TEST(AxisTies, OfBlocks) {
  EXPECT_EQ(ties("x = input (2, 6, 4, 5)\ny = reshape[sizes=[2, 120]](x)"), "x.0 y.0; x.1 y.1");
  EXPECT_EQ(ties("x = input (2, 120)\ny = reshape[sizes=[2, 6, 4, 5]](x)"), "x.0 y.0; x.1 y.1");
  EXPECT_EQ(ties("x = input (1, 6, 1, 1)\ny = reshape[sizes=[1, 6]](x)"), "x.1 y.1");
  EXPECT_EQ(ties("x = input (4, 9)\ny = reshape[sizes=[6, 6]](x)"), "");
}

TEST(AxisTies, NotOfReductionsThatAreNoSumsOfProducts) {
  EXPECT_EQ(ties("x = input (2, 6)\nw = weight (6, 3)\ny = matmul(x, w)"), "x.0 y.0; x.1 w.0; w.1 y.1");
  EXPECT_EQ(ties("x = input (2, 6)\ny = reduce_max[axes=[1]](x)"), "x.0 y.0");
  EXPECT_EQ(ties("x = input (2, 6)\ny = softmax[axis=1](x)"), "x.0 y.0");
  EXPECT_EQ(ties("x = input (2, 6)\ny = reduce_sum[axes=[1]](x)"), "x.0 y.0; x.1");
}

TEST(Resized, FindsTheParametersThatAreSizes) {
  const auto at = [](const std::string& text, const Shape& in, const Shape& w, const Shape& out) {
    const Graph graph = *parse_graph(text + "\noutput y\n", loaded());
    const auto made = defined_application(graph, graph.nodes().back());
    std::vector<Shape> inputs = {in};
    if (w.rank() > 0) inputs.push_back(w);
    const auto params = resized(*made, inputs, std::vector<Shape>{out});
    return params ? to_string(ApplicationNode{made->application.op, *params}) : "none";
  };
  EXPECT_EQ(at("x = input (1, 6, 8, 8)\nw = weight (6, 1, 3, 3)\ny = conv2d[groups=6](x, w)", {1, 4, 8, 8},
               {4, 1, 3, 3}, {1, 4, 8, 8}),
            "conv2d[groups=4]");
  EXPECT_EQ(at("x = input (1, 6, 8, 8)\nw = weight (6, 1, 3, 3)\ny = conv2d[groups=6](x, w)", {1, 1, 8, 8},
               {1, 1, 3, 3}, {1, 1, 8, 8}),
            "conv2d");
  EXPECT_EQ(at("x = input (1, 6, 8, 8)\ny = reshape[sizes=[1, 384]](x)", {1, 5, 8, 8}, {}, {1, 320}),
            "reshape[sizes=[1, 320]]");
  EXPECT_EQ(at("x = input (1, 6)\ny = reduce_mean[axes=[1]](x)", {1, 5}, {}, {1, 1}), "none") << "another divisor";
}

}  // namespace
}  // namespace rewright::compress
