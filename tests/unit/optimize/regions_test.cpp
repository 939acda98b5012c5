// Graphs cut into regions: what is cut, what comes back.
#include "optimize/regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/optimizer.h"
#include "support/grown_graph.h"
#include "support/random_graph.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using testing::Grower;
using testing::read_graph;
using testing::read_rule;

std::vector<const Graph*> contents_of(const std::vector<Region>& regions) {
  std::vector<const Graph*> contents;
  for (const Region& region : regions) contents.push_back(&region.graph);
  return contents;
}

TEST(Regions, PutTogetherAreTheGraph) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph grown = testing::RandomGraph(seed, {.operators = 30, .odd_names = true, .opaque = true}).make();
    const auto regions = cut_into_regions(grown, 5);
    ASSERT_TRUE(regions) << regions.error().message;
    const auto whole = put_together(grown, *regions, contents_of(*regions));
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(structural_hash(*whole), structural_hash(grown));
    EXPECT_EQ(whole->output_names().size(), grown.output_names().size());
  }
}

TEST(Regions, AreSmallAndCutWhereLittleCrosses) {
  // Two blocks of much traffic, joined by one tensor, off the middle.
  std::string text = "x = input (2, 2)\ny = input (2, 2)\na0 = ewadd(x, y)\nb0 = ewmul(x, y)\n";
  const auto block = [&](int first, int last) {
    for (int i = first; i < last; ++i)
      text += fmt::format("a{1} = ewadd(a{0}, b{0})\nb{1} = ewmul(a{0}, b{0})\n", i, i + 1);
  };
  block(0, 4);
  text += "m = matmul(a4, b4)\na5 = relu(m)\nb5 = transpose(m)\n";
  block(5, 8);
  const Graph graph = read_graph(text + "output a8, b8\n");
  const auto regions = *cut_into_regions(graph, 12);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].outputs.size(), 1u);
  EXPECT_EQ(regions[0].graph.operator_count() + regions[1].graph.operator_count(), graph.operator_count());
}

// A tensor that is used near the beginning and at the end crosses the cuts between, and is made before its first use.
TEST(Regions, KeepWhatIsUsedEarlyAndLateInFrontOfBoth) {
  const Graph graph = read_graph(R"(
x0 = input (1, 2, 3, 4)
w0 = weight (2, 2, 3, 1)
x1 = input (1, 2, 3, 4)
w1 = weight (2, 2, 3, 1)
x2 = input (1, 2, 3, 4)
w2 = weight (2, 2, 1, 1)
a = conv2d(x2, w1)
b = ewadd(x1, x1)
c = conv2d(b, w0)
d = relu(x0)
e = concat[axis=1](c, d)
f = relu(e)
g = conv2d(x0, w2)
h = relu(d)
i = conv2d(d, x0)
j = relu(c)
k = ewadd(g, c)
l = ewadd(j, b)
m = conv2d(x0, g)
n = conv2d(c, l)
o = conv2d(x2, b)
output a, f, h, i, k, m, n, o
)");
  const auto regions = *cut_into_regions(graph, 6);
  EXPECT_GT(regions.size(), 1U);
  EXPECT_EQ(structural_hash(*put_together(graph, regions, contents_of(regions))), structural_hash(graph));
}

TEST(Regions, PartConcatsOfConcatsWhereNoOtherCutWillDo) {
  std::string text = "x = input (1, 2)\nc0 = concat(x, x)\n";
  for (int i = 0; i < 12; ++i) text += fmt::format("c{} = concat(c{}, x)\n", i + 1, i);
  const Graph graph = read_graph(text + "output c12\n");
  const auto regions = *cut_into_regions(graph, 4);
  for (const Region& region : regions) EXPECT_LE(region.graph.operator_count(), 4u);
  EXPECT_EQ(structural_hash(*put_together(graph, regions, contents_of(regions))), structural_hash(graph));
}

TEST(Regions, KnowWeightsForWhatTheyAre) {
  const Graph graph = read_graph(R"(
x = input (2, 2)
w = weight (2, 2)
v = relu(w)
a = matmul(x, v)
b = relu(a)
c = transpose(b)
d = relu(c)
e = transpose(d)
f = matmul(e, v)
output f
)");
  const auto regions = *cut_into_regions(graph, 4);
  ASSERT_EQ(regions.size(), 2u);
  const Graph& second = regions[1].graph;
  int weights = 0;
  for (const NodeId id : second.inputs()) weights += second.node(id).is_weight() ? 1 : 0;
  EXPECT_EQ(weights, 1) << "relu(w) is known before the first run";
}

TEST(Regions, AreSearchedSideBySideWithOneResult) {
  std::string text = "x = input (4, 4)\nr0 = relu(x)\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("r{} = {}(r{})\n", i + 1, i % 3 == 2 ? "transpose" : "relu", i);
  const Graph start = read_graph(text + "output r30\n");
  const std::vector<Rule> rules = {read_rule("(x:2) relu(relu(x)) => relu(x)")};
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  std::vector<std::string> found;
  for (int threads : {1, 4}) {
    const auto search = (*testing::loaded().get<SearchStrategy>("backtracking"))->clone();
    const auto report = optimize(start, rules, *search, cost, {.steps = 200, .threads = threads, .region_size = 8});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_LE(report->search.cost_after_us, 24.0);
    EXPECT_EQ(*cost.cost_us(report->best), report->search.cost_after_us);
    EXPECT_NEAR(report->search.curve.back().best_us, report->search.cost_after_us, 1e-6);
    for (std::size_t i = 1; i < report->search.path.size(); ++i)
      EXPECT_EQ(report->search.path[i].cost_before_us, report->search.path[i - 1].cost_after_us);
    found.push_back(to_text(report->best));
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace rewright
