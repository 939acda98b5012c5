// Nodes that are computed by another algorithm give the same, to the last digit where numbers have no rounding.
#include "compile/node_algorithms.h"

#include <gmock/gmock.h>

#include <fstream>

#include "compile/known_weights.h"
#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Graph parsed(const std::string& text) {
  auto graph = parse_graph(text, loaded());
  if (!graph) fail(graph.error().message);
  return *std::move(graph);
}
/// A convolution of an image and a weight, with a relu behind it.
Graph convolution(const std::string& image, const std::string& weight, const std::string& params) {
  return parsed("x = input (" + image + ")\nw = weight (" + weight + ")\nc = conv2d" + params +
                "(x, w)\ny = relu(c)\noutput y\n");
}
std::vector<Tensor<Field>> values_for(const Graph& graph) {
  std::vector<Tensor<Field>> in;
  for (const NodeId id : graph.inputs()) {
    in.emplace_back(graph.shape({id, 0}));
    for (std::size_t i = 0; i < in.back().values().size(); ++i)
      in.back().values()[i] = Field::from_integer(static_cast<std::int64_t>((i * 13 + id.value * 5) % 23) - 11);
  }
  return in;
}
std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (node.application()) names.push_back(node.application()->op->name());
  return names;
}

// Sizes that tiles divide and that they do not, down to one output; padding of each kind, uneven too.
TEST(NodeAlgorithms, ComputeTheSameAtAllSizes) {
  for (const std::string algorithm : {"winograd-2", "winograd-4", "im2col"}) {
    for (const std::string& params :
         {std::string("[]"), std::string("[padding=valid]"), std::string("[padding=explicit, pads=[0, 2, 1, 0]]")}) {
      for (const int rows : {3, 4, 6, 7, 10}) {
        for (const int columns : {3, 5, 8}) {
          const Graph graph =
              convolution(fmt::format("2, 3, {}, {}", rows, columns), "4, 3, 3, 3", params == "[]" ? "" : params);
          const auto made = with_algorithms(graph, {{"c", algorithm}}, loaded());
          ASSERT_TRUE(made) << made.error().message;
          const auto in = values_for(graph);
          const auto before = evaluate<Field>(graph, in), after = evaluate<Field>(*made, in);
          ASSERT_TRUE(before && after);
          EXPECT_EQ(before->front().values(), after->front().values()) << algorithm << params << rows << ' ' << columns;
        }
      }
    }
  }
}

TEST(NodeAlgorithms, LeaveNoZerosAndNoSliceWhereTilesFit) {
  const auto made = with_algorithms(convolution("1, 2, 8, 8", "3, 2, 3, 3", ""), {{"c", "winograd-4"}}, loaded());
  ASSERT_TRUE(made);
  EXPECT_THAT(operators_of(*made),
              ElementsAre("pad", "winograd_input", "winograd_weight", "broadcast_matmul", "winograd_output", "relu"));
  const auto plain =
      with_algorithms(convolution("1, 2, 6, 6", "3, 2, 3, 3", "[padding=valid]"), {{"c", "winograd-2"}}, loaded());
  ASSERT_TRUE(plain);
  EXPECT_THAT(operators_of(*plain),
              ElementsAre("winograd_input", "winograd_weight", "broadcast_matmul", "winograd_output", "relu"));
}

TEST(NodeAlgorithms, TransformWeightsBeforeARun) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({1, 2, 6, 6}));
  std::vector<float> numbers(3 * 2 * 9);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) - 3;
  const TensorType type = floats({3, 2, 3, 3});
  const Port w = *builder.input("w", type, InputKind::kWeight, constant(type, numbers));
  const std::vector<NamedParam> none;
  builder.output((*builder.apply("conv2d", none, {x, w}, "c"))[0], "y");
  const ImportedModel model = model_of(builder.finish());
  const auto made = with_algorithms(model.graph, {{"c", "winograd-2"}}, loaded());
  ASSERT_TRUE(made);
  const auto known = with_known_weights(*made, model);
  ASSERT_TRUE(known);
  EXPECT_THAT(operators_of(*known), ElementsAre("pad", "winograd_input", "broadcast_matmul", "winograd_output"));
  std::vector<float> image(2 * 6 * 6);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 5) - 2;
  const ImportedModel changed = model_of(*known);
  const auto ours = Library(changed).run({image}), usual = Library(model).run({image});
  ASSERT_EQ(ours.front().size(), usual.front().size());
  for (std::size_t i = 0; i < usual.front().size(); ++i) EXPECT_NEAR(ours.front()[i], usual.front()[i], 1e-4);
}

TEST(NodeAlgorithms, MakeWindowsOfAnyConvolutionOfOneGroup) {
  for (const std::string params : {"[strides=[2, 2]]", "[strides=[1, 3], dilations=[2, 1]]",
                                   "[padding=explicit, pads=[0, 2, 3, 1], strides=[2, 1], dilations=[1, 2]]"}) {
    for (const char* kernel : {"1, 1", "2, 3", "5, 3"}) {
      const Graph graph = convolution("2, 3, 9, 8", fmt::format("4, 3, {}", kernel), params);
      const auto made = with_algorithms(graph, {{"c", "im2col"}}, loaded());
      ASSERT_TRUE(made) << made.error().message;
      const auto in = values_for(graph);
      const auto before = evaluate<Field>(graph, in), after = evaluate<Field>(*made, in);
      ASSERT_TRUE(before && after);
      EXPECT_EQ(before->front().values(), after->front().values()) << params << kernel;
      EXPECT_THAT(stored_windows(*made), ::testing::SizeIs(1));
    }
  }
  const Graph grouped = convolution("1, 4, 9, 9", "4, 2, 3, 3", "[groups=2]");
  EXPECT_THAT(with_algorithms(grouped, {{"c", "im2col"}}, loaded()).error().message, HasSubstr("it has groups"));
}

TEST(NodeAlgorithms, OfKernelsAreWishes) {
  const Graph graph = convolution("1, 4, 9, 9", "4, 2, 3, 3", "[groups=2]");
  const Port weight{NodeId{1}, 0};
  using Layout = WeightWish::Layout;
  for (const auto& [name, layout] : {std::pair("direct", Layout::kChannelsFirst), {"packed", Layout::kChannelsLast}}) {
    EXPECT_THAT(nodes_for(name, graph), ElementsAre("c"));
    const auto made = with_algorithms(graph, {{"c", name}}, loaded());
    ASSERT_TRUE(made);
    EXPECT_EQ(to_text(*made), to_text(graph));
    EXPECT_THAT(weight_wishes(*made, {{"c", name}}), ElementsAre(Pair(weight, WeightWish{layout})));
  }
}

/// Scores of queries with keys, a multiple of them and a mask, then softmax and the values.
std::string attention(const std::string& heads, std::int64_t queries, std::int64_t keys, const std::string& mask) {
  return fmt::format(
      "q = input ({0}{1}, 4)\nk = input ({0}4, {2})\nv = input ({0}{2}, 3)\nm = input ({3}{2})\nf = weight ()\n"
      "s = {4}(q, k)\nt = smul(s, f)\nu = broadcast_add{5}(t, m)\np = softmax[axis={6}](u)\ny = {4}(p, v)\noutput y\n",
      heads, queries, keys, mask, heads.empty() ? "matmul" : "broadcast_matmul",
      mask == "1, " ? heads.empty() ? "[stretch_right=[0]]" : "[stretch_right=[1]]" : "", heads.empty() ? 1 : 2);
}
std::vector<Tensor<Real>> reals_for(const Graph& graph) {
  std::vector<Tensor<Real>> in;
  for (const NodeId id : graph.inputs()) {
    in.emplace_back(graph.shape({id, 0}));
    for (std::size_t i = 0; i < in.back().values().size(); ++i)
      in.back().values()[i] = Real{static_cast<double>((i * 37 + id.value * 5) % 101) / 25 - 2};
  }
  return in;
}
double farthest(const Tensor<Real>& a, const Tensor<Real>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i)
    most = std::max(most, std::abs(a.values()[i].value - b.values()[i].value));
  return std::isfinite(most) ? most : std::numeric_limits<double>::infinity();
}

TEST(NodeAlgorithms, TakeKeysOfAnAttentionByTiles) {
  for (const std::string& heads : {std::string(), std::string("2, ")}) {
    for (const std::int64_t keys : {256, 300, 1500}) {
      for (const std::string& mask : {std::string("1, "), heads + "5, "}) {
        const Graph graph = parsed(attention(heads, 5, keys, mask));
        const auto made = with_algorithms(graph, {{"y", "tiles"}}, loaded());
        ASSERT_TRUE(made) << made.error().message;
        for (const Node& node : made->nodes())
          for (const TensorType& type : node.outputs)
            EXPECT_TRUE(node.is_input() ||
                        type.shape.elements() < graph.shape(graph.node(graph.outputs()[0].node).inputs[0]).elements())
                << node.name;
        auto in = reals_for(graph);
        const auto before = evaluate<Real>(graph, in), after = evaluate<Real>(*made, in);
        ASSERT_TRUE(before && after);
        EXPECT_LE(farthest(before->front(), after->front()), 1e-12) << heads << keys << mask;
        // What lies in the first tiles is masked, and what is masked may be far below all others.
        for (const double masked : {-std::numeric_limits<double>::infinity(), -1e300}) {
          for (std::int64_t k = 0; k < keys - 3; ++k) in[3].values()[static_cast<std::size_t>(k)] = Real{masked};
          const auto few = evaluate<Real>(graph, in), by_tiles = evaluate<Real>(*made, in);
          ASSERT_TRUE(few && by_tiles);
          EXPECT_LE(farthest(few->front(), by_tiles->front()), 1e-12) << masked;
        }
      }
    }
  }
}

TEST(NodeAlgorithms, TakeTilesOfAttentionsAlone) {
  const std::string text = attention("2, ", 5, 256, "1, ");
  const Graph graph = parsed(text);
  EXPECT_THAT(nodes_for("tiles", graph), ElementsAre("y"));
  EXPECT_THAT(nodes_within("tiles", graph, "y"), ElementsAre("p", "u", "t", "s"));
  EXPECT_THAT(nodes_within("direct", graph, "y"), IsEmpty());
  const auto refusal = [&](const std::string& from, const std::string& to, const std::string& node = "y") {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto made = with_algorithms(parsed(changed), {{node, "tiles"}}, loaded());
    EXPECT_FALSE(made) << to;
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(refusal("axis=2", "axis=1"), HasSubstr("its softmax is not along the last axis"));
  EXPECT_THAT(refusal("output y", "output y, p"), HasSubstr("its softmax is read by others too"));
  EXPECT_THAT(refusal("output y", "output y", "s"), HasSubstr("its left factor is no softmax"));
  EXPECT_THAT(refusal("output y", "output y", "p"), HasSubstr("it is no product"));
  const auto small = with_algorithms(parsed(attention("", 5, 255, "1, ")), {{"y", "tiles"}}, loaded());
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("it has fewer than 256 keys"));
  // Scores that others read, too, are there once, and cut.
  const Graph shared = parsed(text.substr(0, text.find("output")) + "output y, t\n");
  EXPECT_THAT(nodes_within("tiles", shared, "y"), ElementsAre("p", "u"));
  const auto cut = with_algorithms(shared, {{"y", "tiles"}}, loaded());
  ASSERT_TRUE(cut);
  const auto in = reals_for(shared);
  EXPECT_LE(farthest(evaluate<Real>(shared, in)->front(), evaluate<Real>(*cut, in)->front()), 1e-12);
}

TEST(NodeAlgorithms, AreForSomeConvolutionsAlone) {
  for (const char* params : {"[strides=[2, 2]]", "[dilations=[2, 2]]", "[groups=2]", "[activation=relu]"}) {
    const bool is_grouped = std::string(params).starts_with("[groups");
    const Graph graph = convolution("1, 4, 9, 9", is_grouped ? "4, 2, 3, 3" : "4, 4, 3, 3", params);
    EXPECT_THAT(nodes_for("winograd-4", graph), IsEmpty()) << params;
    const auto made = with_algorithms(graph, {{"c", "winograd-4"}}, loaded());
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kUsage);
    EXPECT_THAT(made.error().message, HasSubstr("c cannot be computed by winograd-4: it "));
  }
  EXPECT_THAT(nodes_for("winograd-2", convolution("1, 4, 9, 9", "4, 4, 1, 1", "")), IsEmpty());
  const Graph graph = convolution("1, 4, 9, 9", "4, 4, 3, 3", "");
  EXPECT_THAT(nodes_for("winograd-2", graph), ElementsAre("c"));
  EXPECT_FALSE(with_algorithms(graph, {{"c", "fourier"}}, loaded()));
  EXPECT_FALSE(with_algorithms(graph, {{"d", "winograd-2"}}, loaded()));
}

TEST(NodeAlgorithms, LeaveOutZerosWhereTheyAreMore) {
  const auto with_zeros = [](std::size_t every) {
    GraphBuilder builder(&loaded());
    const Port x = *builder.input("x", floats({1, 2, 6, 6}));
    std::vector<float> numbers(3 * 2 * 9);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % every == 0 ? 2.F : 0.F;
    const TensorType type = floats({3, 2, 3, 3});
    const Port w = *builder.input("w", type, InputKind::kWeight, constant(type, numbers));
    builder.output((*builder.apply("conv2d", std::vector<NamedParam>(), {x, w}, "c"))[0], "y");
    return builder.finish();
  };
  for (const std::size_t every : {1, 2, 100})
    EXPECT_THAT(nodes_for("sparse", with_zeros(every)), ::testing::SizeIs(every > 2 ? 1 : 0));
  const Graph graph = with_zeros(10);
  EXPECT_THAT(nodes_for("sparse", graph), ElementsAre("c"));
  const auto made = with_algorithms(graph, {{"c", "sparse"}}, loaded());
  ASSERT_TRUE(made);
  EXPECT_EQ(to_text(*made), to_text(graph));
  EXPECT_THAT(weight_wishes(*made, {{"c", "sparse"}}),
              ElementsAre(Pair(Port{NodeId{1}, 0}, WeightWish{WeightWish::Layout::kChannelsFirst, 6})));
  EXPECT_THAT(weight_wishes(*made, {{"c", "winograd-2"}}), IsEmpty());
  const auto refused = with_algorithms(with_zeros(2), {{"c", "sparse"}}, loaded());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "c cannot be computed by sparse: it has no weight with more zeros than other numbers");
}

TEST(NodeAlgorithms, KnowZerosOfWeightsInFilesBesideTheModel) {
  const Graph graph = convolution("1, 2, 6, 6", "3, 2, 3, 3", "");
  std::string weight;
  for (const Node& node : graph.nodes())
    if (node.is_weight()) weight = node.name;
  std::vector<float> numbers(54, 0.F);
  numbers[5] = 3, numbers[50] = -1;
  const std::string file = ::testing::TempDir() + "known_zeros.data";
  std::ofstream(file, std::ios::binary) << "four"
                                        << std::string(reinterpret_cast<const char*>(numbers.data()),
                                                       numbers.size() * sizeof(float));
  EXPECT_THAT(nodes_for("sparse", graph), IsEmpty());
  ExternalWeights external{{weight, {floats({3, 2, 3, 3}), "w.data", file, 4, 54 * sizeof(float)}}};
  EXPECT_THAT(nodes_for("sparse", graph, external), ElementsAre("c"));
  EXPECT_TRUE(with_algorithms(graph, {{"c", "sparse"}}, loaded(), external));
  EXPECT_THAT(weight_wishes(graph, {{"c", "sparse"}}, external),
              ElementsAre(Pair(::testing::_, WeightWish{WeightWish::Layout::kChannelsFirst, 2})));
  external[weight].offset = 8;  // The file is too short.
  EXPECT_THAT(nodes_for("sparse", graph, external), IsEmpty());
}

}  // namespace
