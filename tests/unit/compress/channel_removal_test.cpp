// Channels that are 0, or that nothing reads, go without a trace in the outputs.
#include "compress/channel_removal.h"

#include <gmock/gmock.h>

#include "compress/channel_groups.h"
#include "networks.h"

namespace rewright::compress {
namespace {

using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::HasSubstr;
using testing::loaded;
using testing::Numbers;
using testing::numbers_in;
using testing::RandomNetwork;
using testing::run;
using testing::weight_in;

struct Found {
  Definitions definitions;
  std::vector<Layer> layers;
  ChannelGroups groups;
};
Found found_in(const Graph& graph) {
  Found found{definitions_of(graph), {}, {}};
  found.layers = layers_of(graph, found.definitions);
  found.groups = channel_groups(graph, found.definitions, found.layers);
  return found;
}

/// Every second channel of each group that can lose some is 0; with `also_unread` no layer reads it either.
Graph with_zero_channels(const Graph& graph, bool also_unread) {
  const Found found = found_in(graph);
  std::map<NodeId, Numbers> numbers;
  const auto clear = [&](NodeId weight, std::size_t axis, std::int64_t channels) {
    const ConstantData& constant = *graph.node(weight).constant();
    Numbers& values = numbers.try_emplace(weight, numbers_in(constant)).first->second;
    const std::int64_t block = constant.type.shape[static_cast<int>(axis)] / channels;
    std::size_t i = 0;
    for_each_index(constant.type.shape, [&](std::span<const std::int64_t> at) {
      const std::int64_t channel = at[axis] / block;
      if (channel % 2 == 1) values[i] = 0;
      ++i;
    });
  };
  for (std::size_t g = 0; g < found.groups.groups.size(); ++g) {
    const ChannelGroup& group = found.groups.groups[g];
    if (!group.pinned.empty()) continue;
    for (const Filters& filters : group.filters)
      clear(found.layers[filters.layer].weight, filters.axis, group.channels);
    for (const Layer& layer : found.layers) {
      const auto& of = found.groups.of.at({layer.weight, 0});
      for (std::size_t d = 0; also_unread && d < of.size(); ++d)
        if (of[d] == g) clear(layer.weight, d, group.channels);
    }
  }
  return testing::with_numbers(graph, numbers);
}

std::size_t groups_that_can_lose(const Graph& graph) {
  const auto groups = found_in(graph).groups.groups;
  return static_cast<std::size_t>(
      std::ranges::count_if(groups, [](const ChannelGroup& group) { return group.pinned.empty(); }));
}

/// Of random networks; how many groups of channels lost some in all.
std::size_t expect_the_same_outputs(bool keeps_zeros) {
  std::size_t groups = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Graph network = RandomNetwork(seed, keeps_zeros).make();
    const std::size_t some = groups_that_can_lose(network);
    if (some == 0) continue;
    groups += some;
    const Graph graph = with_zero_channels(network, !keeps_zeros);
    const auto made = without_channels(graph, {.share = 0.5});
    EXPECT_TRUE(made) << seed << ": " << (made ? "" : made.error().message);
    if (!made) continue;
    EXPECT_LT(made->after.numbers, made->before.numbers);
    EXPECT_EQ(run(made->graph, seed), run(graph, seed)) << "seed " << seed << "\n"
                                                        << to_text(graph) << "becomes\n"
                                                        << to_text(made->graph);
  }
  return groups;
}

TEST(ChannelRemoval, OfChannelsThatAreZeroKeepsTheOutputs) { EXPECT_GT(expect_the_same_outputs(true), 200); }

TEST(ChannelRemoval, OfChannelsThatNothingReadsKeepsTheOutputs) { EXPECT_GT(expect_the_same_outputs(false), 200); }

TEST(ChannelRemoval, TakesTheChannelsWithTheLeastMeanMagnitude) {
  const Graph graph = testing::with_numbers(
      graph_of("x = input (1, 2)\nv = weight (2, 4)\nw = weight (4, 3)\na = matmul(x, v)\nb = relu(a)\nc = matmul(b, "
               "w)\noutput c\n"),
      {{{1}, {5, 1, -9, 2, 5, -1, 9, -3}}});
  const auto half = without_channels(graph, {.share = 0.5});
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_THAT(weight_in(half->graph, "v"), ElementsAre(5, -9, 5, 9));
  EXPECT_THAT(weight_in(half->graph, "w"), ElementsAre(1, -2, 3, 7, -8, 9));
  EXPECT_EQ(half->before.multiply_adds, 20);
  EXPECT_EQ(half->after.multiply_adds, 10);
  const auto most = without_channels(graph, {.share = 0.99});
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_THAT(weight_in(most->graph, "v"), ElementsAre(-9, 9)) << "one channel stays";
}

TEST(ChannelRemoval, OfTheWholeModelTakesTheLeastOfAllAndLeavesOneOfEachGroup) {
  const Graph graph = graph_of(
      "x = input (1, 2)\nu = weight (2, 3)\nv = weight (3, 4)\nw = weight (4, 3)\na = matmul(x, u)\nb = relu(a)\n"
      "c = matmul(b, v)\nd = relu(c)\ne = matmul(d, w)\noutput e\n");
  const auto made = without_channels(graph, {.share = 0.8, .scope = Scope::kModel});  // 5 of 7.
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->layers[0].after, (Shape{2, 1}));
  EXPECT_EQ(made->layers[1].after, (Shape{1, 1}));
}

TEST(ChannelRemoval, NamesWhatStaysAndWhy) {
  const Graph graph = graph_of(
      "x = input (1, 4, 5, 5)\nu = weight (6, 4, 3, 3)\nv = weight (6, 3, 3, 3)\nw = weight (8, 6, 1, 1)\n"
      "k = weight (8, 8, 1, 1)\na = conv2d(x, u)\nb = conv2d[groups=2](a, v)\nc = conv2d(b, w)\nd = conv2d(c, k)\n"
      "output d\n");
  const auto made = without_channels(graph, {.share = 0.5});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->untouched.size(), 3);
  EXPECT_THAT(made->untouched[0].layers, ElementsAre("a"));
  EXPECT_EQ(made->untouched[0].reason, "b (conv2d) needs all of them");
  EXPECT_THAT(made->untouched[1].layers, ElementsAre("b"));
  EXPECT_EQ(made->untouched[2].reason, "an output of the model has them");
  EXPECT_EQ(made->layers[2].after, (Shape{4, 6, 1, 1}));
  EXPECT_EQ(made->layers[3].after, (Shape{8, 4, 1, 1}));
}

TEST(ChannelRemoval, LeavesWhatIsAMeanOrASoftmaxOverThem) {
  for (const char* over :
       {"reduce_mean[axes=[1], keepdims=yes](a)", "softmax[axis=1](a)", "reduce_max[axes=[1], keepdims=yes](a)"}) {
    const Graph graph =
        graph_of(std::string("x = input (2, 4)\nv = weight (4, 6)\na = matmul(x, v)\nb = ") + over + "\nw = weight (" +
                 (std::string(over).starts_with("softmax") ? "6" : "1") + ", 3)\nc = matmul(b, w)\noutput c\n");
    const auto made = without_channels(graph, {.share = 0.5});
    ASSERT_FALSE(made) << over;
    EXPECT_THAT(made.error().message, HasSubstr("needs all of them")) << over;
  }
}

TEST(ChannelRemoval, OfAttentionTakesWholeHeads) {
  const std::string heads = " = reshape[sizes=[1, 5, 4, 3]](";
  const Graph graph = graph_of(
      "x = input (5, 12)\nq = weight (12, 12)\nk = weight (12, 12)\nv = weight (12, 12)\no = weight (12, 12)\n"
      "a = matmul(x, q)\nb = matmul(x, k)\nc = matmul(x, v)\na1" +
      heads + "a)\nb1" + heads + "b)\nc1" + heads +
      "c)\n"
      "a2 = transpose[perm=[0, 2, 1, 3]](a1)\nb2 = transpose[perm=[0, 2, 3, 1]](b1)\n"
      "c2 = transpose[perm=[0, 2, 1, 3]](c1)\ns = matmul(a2, b2)\np = softmax[axis=3](s)\ny = matmul(p, c2)\n"
      "y1 = transpose[perm=[0, 2, 1, 3]](y)\ny2 = reshape[sizes=[5, 12]](y1)\nz = matmul(y2, o)\noutput z\n");
  const Graph zeros = with_zero_channels(graph, true);
  const auto made = without_channels(zeros, {.share = 0.5});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->layers[0].after, (Shape{12, 6}));
  EXPECT_EQ(made->layers[3].after, (Shape{6, 12}));
  EXPECT_EQ(run(made->graph, 1), run(zeros, 1));
}

TEST(ChannelRemoval, KeepsWhatItIsTold) {
  const Graph graph = graph_of(
      "x = input (1, 2)\nu = weight (2, 4)\nv = weight (4, 4)\nw = weight (4, 3)\na = matmul(x, u)\nb = relu(a)\n"
      "c = matmul(b, v)\nd = relu(c)\ne = matmul(d, w)\noutput e\n");
  const auto made = without_channels(graph, {.share = 0.5, .keep = {"a"}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->layers[0].after, (Shape{2, 4}));
  EXPECT_EQ(made->layers[1].after, (Shape{4, 2}));
  EXPECT_EQ(made->untouched[0].reason, "a is to be kept");
  const auto nothing = without_channels(graph, {.share = 0.5, .keep = {"u", "v"}});
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no layer's channels can go"));
  const auto little = without_channels(graph, {.share = 0.1});
  ASSERT_FALSE(little);
  EXPECT_THAT(little.error().message, HasSubstr("is less than one"));
}

}  // namespace
}  // namespace rewright::compress
