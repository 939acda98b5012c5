// Exactly the share of a weight becomes 0 that is least in magnitude.
#include "compress/weight_pruning.h"

#include <gmock/gmock.h>

#include <limits>

#include "networks.h"

namespace rewright::compress {
namespace {

using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::HasSubstr;
using testing::loaded;
using testing::Numbers;
using testing::weight_in;
using testing::with_numbers;

/// x (2, 4) v (4, 3) w (3, 4), the numbers in these.
Graph two_products(const Numbers& v, const Numbers& w) {
  const Graph graph = graph_of(
      "x = input (2, 4)\nv = weight (4, 3)\nw = weight (3, 4)\na = matmul(x, v)\nb = relu(a)\nc = matmul(b, w)\noutput "
      "c\n");
  return with_numbers(graph, {{{1}, v}, {{2}, w}});
}
const Numbers kSmall = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12};
const Numbers kLarge = {13, -14, 15, -16, 17, -18, 19, -20, 21, -22, 23, -24};

TEST(WeightPruning, OfEachLayerTakesTheLeast) {
  const auto pruned = with_zeros(two_products(kSmall, kLarge), {.share = 0.25});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_THAT(weight_in(pruned->graph, "v"), ElementsAre(0, 0, 0, -4, 5, -6, 7, -8, 9, -10, 11, -12));
  EXPECT_THAT(weight_in(pruned->graph, "w"), ElementsAre(0, 0, 0, -16, 17, -18, 19, -20, 21, -22, 23, -24));
  EXPECT_EQ(pruned->before.nonzeros, 24);
  EXPECT_EQ(pruned->after.nonzeros, 18);
  EXPECT_EQ(pruned->before.multiply_adds, 48);
  EXPECT_EQ(pruned->after.multiply_adds, 36);
}

TEST(WeightPruning, OfTheWholeModelTakesTheLeastOfAll) {
  const auto pruned = with_zeros(two_products(kSmall, kLarge), {.share = 0.25, .scope = Scope::kModel});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_THAT(weight_in(pruned->graph, "v"), ElementsAre(0, 0, 0, 0, 0, 0, 7, -8, 9, -10, 11, -12));
  EXPECT_EQ(weight_in(pruned->graph, "w"), kLarge);
}

TEST(WeightPruning, OfEqualOnesTakesTheFirst) {
  const auto pruned = with_zeros(two_products(Numbers(12, 2), kLarge), {.share = 0.5});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_THAT(weight_in(pruned->graph, "v"), ElementsAre(0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2));
}

TEST(WeightPruning, CountsExactlyAtEveryShare) {
  for (int percent = 1; percent < 100; ++percent) {
    const Graph graph = two_products(kSmall, kLarge);
    const auto pruned = with_zeros(graph, {.share = percent / 100.0});
    const int zeros = 12 * percent / 100;
    ASSERT_EQ(pruned.has_value(), zeros > 0) << percent;
    EXPECT_EQ(pruned ? pruned->after.nonzeros : 24, 24 - 2 * zeros) << percent;
  }
}

TEST(WeightPruning, ASecondTimeChangesNothing) {
  const auto once = with_zeros(two_products(kSmall, kLarge), {.share = 0.5});
  ASSERT_TRUE(once);
  const auto twice = with_zeros(once->graph, {.share = 0.5});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("nothing would change"));
}

TEST(WeightPruning, KeepsWhatItIsTold) {
  const auto pruned = with_zeros(two_products(kSmall, kLarge), {.share = 0.5, .keep = {"v"}});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_EQ(weight_in(pruned->graph, "v"), kSmall);
  EXPECT_EQ(pruned->after.nonzeros, 18);
  const auto by_node = with_zeros(two_products(kSmall, kLarge), {.share = 0.5, .keep = {"a"}});
  ASSERT_TRUE(by_node) << by_node.error().message;
  EXPECT_EQ(weight_in(by_node->graph, "v"), kSmall);
}

TEST(WeightPruning, LeavesWhatIsNoNumber) {
  Numbers numbers = kSmall;
  numbers[0] = std::numeric_limits<float>::quiet_NaN();
  const auto pruned = with_zeros(two_products(numbers, kLarge), {.share = 0.9});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_TRUE(std::isnan(weight_in(pruned->graph, "v")[0]));
}

TEST(WeightPruning, LeavesVectorsAndWhatIsNotMultipliedInSums) {
  const Graph graph = graph_of(
      "x = input (2, 4)\nv = weight (4, 3)\nb = weight (3)\nf = weight (2, 3)\na = matmul(x, v)\ns = bias_add(a, b)\n"
      "t = ewmul(s, f)\noutput t\n");
  const auto pruned = with_zeros(graph, {.share = 0.5});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_EQ(weight_in(pruned->graph, "b"), weight_in(graph, "b"));
  EXPECT_EQ(weight_in(pruned->graph, "f"), weight_in(graph, "f"));
  EXPECT_EQ(pruned->layers.size(), 1);
}

TEST(WeightPruning, FindsTheWeightBehindATranspose) {
  const Graph graph =
      graph_of("x = input (2, 4)\nw = weight (3, 4)\nt = transpose[perm=[1, 0]](w)\na = matmul(x, t)\noutput a\n");
  const auto pruned = with_zeros(graph, {.share = 0.5});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_THAT(weight_in(pruned->graph, "w"), ElementsAre(0, 0, 0, 0, 0, 0, 7, -8, 9, 10, -11, 12));
}

TEST(WeightPruning, RefusesWhatCannotBeDone) {
  const auto refusal = [](const Graph& graph, const CompressOptions& options) {
    const auto pruned = with_zeros(graph, options);
    return pruned ? std::string("done") : pruned.error().message;
  };
  const Graph graph = two_products(kSmall, kLarge);
  for (const double share : {0.0, 1.0, -0.5, 2.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(refusal(graph, {.share = share}), HasSubstr("is not between 0 and 1")) << share;
  EXPECT_THAT(refusal(graph, {.share = 0.5, .keep = {"aa"}}), HasSubstr("there is no layer 'aa' with a weight"));
  EXPECT_THAT(refusal(graph, {.share = 0.5, .keep = {"a", "c"}}), HasSubstr("all layers are kept"));
  EXPECT_THAT(refusal(graph, {.share = 0.5, .scope = Scope::kModel}),
              HasSubstr("layer 'a' would have no number left in its weight 'v' at a share of 0.5"));
  EXPECT_THAT(refusal(graph_of("x = input (2, 4)\ny = relu(x)\noutput y\n"), {.share = 0.5}),
              HasSubstr("there is nothing to compress"));
}

TEST(WeightPruning, OfRandomNetworksIsExact) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = testing::RandomNetwork(seed, false).make();
    const auto pruned = with_zeros(graph, {.share = 0.7});
    ASSERT_TRUE(pruned) << pruned.error().message;
    for (const LayerChange& layer : pruned->layers) {
      EXPECT_EQ(layer.nonzeros_before, layer.before.elements());
      EXPECT_EQ(layer.nonzeros_after, layer.before.elements() - layer.before.elements() * 7 / 10) << layer.name;
    }
  }
}

}  // namespace
}  // namespace rewright::compress
