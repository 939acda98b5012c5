// What a graph costs, and what it remembers of what it asked.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "optimize/concat_form.h"
#include "optimize/cost_cache.h"
#include "support/true_rules.h"
#include "unit/optimize/fixed_prices.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using testing::read_graph;

TEST(WeightOnly, IsWhatNoDataReaches) {
  const Graph graph = read_graph(R"(
x = input (2, 2)
w = weight (2, 2)
o = constant_one[sizes=[2, 2]]()
a = relu(w)
b = ewadd(a, o)
c = matmul(x, b)
output c
)");
  std::map<std::string, bool> by_operator;
  const std::vector<bool> weight = weight_only(graph);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const Node& node = graph.nodes()[i];
    by_operator[node.op != nullptr ? node.op->name() : node.name] = weight[i];
  }
  const std::map<std::string, bool> expected = {{"x", false},   {"w", true},     {"constant_one", true},
                                                {"relu", true}, {"ewadd", true}, {"matmul", false}};
  EXPECT_EQ(by_operator, expected);
}

TEST(WeightOnly, NeverIsAnOpaqueNode) {
  GraphBuilder builder(&testing::loaded());
  const auto made = builder.opaque({"RandomNormal", ""}, {}, {{Shape{2, 2}, ElementType::kFloat32}});
  builder.output(*builder.apply1("relu", {}, {made[0]}));
  EXPECT_EQ(weight_only(builder.finish()), (std::vector<bool>{false, false}));
}

TEST(GraphCost, AddsApplicationsThatDataReaches) {
  FixedPrices prices({{"matmul", 10}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const Graph graph = read_graph(R"(
x = input (2, 2)
w = weight (2, 2)
v = relu(w)
m = matmul(x, v)
n = matmul(m, v)
r = relu(n)
output r
)");
  EXPECT_EQ(*cost.cost_us(graph), 21.0);
}

TEST(GraphCost, AsksOnceForEqualApplications) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const Graph graph = read_graph("x = input (2, 2)\na = relu(x)\nb = transpose(a)\nc = relu(b)\noutput c\n");
  EXPECT_EQ(*cost.cost_us(graph), 3.0);
  EXPECT_EQ(prices.questions, 2) << "both relus have one shape";
  EXPECT_EQ(*cost.cost_us(graph), 3.0);
  EXPECT_EQ(prices.questions, 2);
}

TEST(GraphCost, TellsDataFromWeightsAndShapesFromShapes) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  ASSERT_TRUE(cost.cost_us(read_graph("x = input (2, 2)\ny = input (2, 2)\na = matmul(x, y)\noutput a\n")));
  ASSERT_TRUE(cost.cost_us(read_graph("x = input (2, 2)\ny = weight (2, 2)\na = matmul(x, y)\noutput a\n")));
  ASSERT_TRUE(cost.cost_us(read_graph("x = input (3, 2)\ny = weight (2, 2)\na = matmul(x, y)\noutput a\n")));
  EXPECT_EQ(prices.questions, 3);
}

const char* const kJoinOfFour = R"(
a = input (1, 2)
b = input (2, 2)
c = input (3, 2)
d = input (4, 2)
j = concat(a, b, c, d)
r = relu(j)
output r
)";

TEST(GraphCost, CountsAChainOfConcatsAsOne) {
  FixedPrices prices({{"concat", 5}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const Graph wide = read_graph(kJoinOfFour);
  const Graph chain = *split_concats(wide);
  EXPECT_EQ(chain.operator_count(), 4u);
  EXPECT_EQ(*cost.cost_us(chain), 6.0);
  EXPECT_EQ(*cost.cost_us(wide), 6.0);
  EXPECT_EQ(prices.questions, 2) << "the chain and the wide concat are one question";
}

TEST(GraphCost, CountsAConcatThatIsUsedElsewhereToo) {
  FixedPrices prices({{"concat", 5}});
  GraphCost cost(prices, nullptr);
  EXPECT_EQ(*cost.cost_us(read_graph("a = input (1, 2)\nb = input (2, 2)\np = concat(a, b)\nq = concat(p, b)\n"
                                     "output p, q\n")),
            10.0);
}

TEST(ConcatForm, JoinsWhatItSplit) {
  const Graph wide = read_graph(kJoinOfFour);
  EXPECT_EQ(to_text(*join_concats(*split_concats(wide))), to_text(wide));
}

TEST(ConcatForm, KeepsApartWhatIsUsedElsewhere) {
  const Graph graph =
      read_graph("a = input (1, 2)\nb = input (2, 2)\np = concat(a, b)\nq = concat(p, b)\noutput p, q\n");
  EXPECT_EQ(to_text(*join_concats(graph)), to_text(graph));
  const Graph other_axis = read_graph(
      "a = input (2, 2)\nb = input (2, 2)\nc = input (4, 3)\np = concat(a, b)\nq = concat[axis=1](p, c)\noutput q\n");
  EXPECT_EQ(to_text(*join_concats(other_axis)), to_text(other_axis));
}

class CostCacheFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("rewright-costs-{}", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file() const { return (folder_ / "costs.sqlite").string(); }
  std::filesystem::path folder_;
};

TEST_F(CostCacheFile, OutlivesTheRun) {
  {
    const auto cache = *open_cost_cache(file());
    EXPECT_EQ(cache->find("key"), std::nullopt);
    ASSERT_TRUE(cache->insert("key", 1.5));
    ASSERT_TRUE(cache->insert("other", 2.5));
    ASSERT_TRUE(cache->insert("key", 3.5));
  }
  const auto cache = *open_cost_cache(file());
  EXPECT_EQ(cache->find("key"), 3.5);
  EXPECT_EQ(cache->find("other"), 2.5);
}

TEST_F(CostCacheFile, AnswersInsteadOfTheModel) {
  const Graph graph = read_graph("x = input (2, 2)\na = relu(x)\noutput a\n");
  for (const int questions : {1, 0}) {
    const auto cache = *open_cost_cache(file());
    FixedPrices prices({{"relu", 7}}, /*measured=*/true);
    GraphCost cost(prices, cache.get());
    EXPECT_EQ(*cost.cost_us(graph), 7.0);
    EXPECT_EQ(prices.questions, questions);
  }
}

TEST_F(CostCacheFile, IsNotAskedForModelledCosts) {
  const auto cache = *open_cost_cache(file());
  FixedPrices prices({{"relu", 7}}, /*measured=*/false);
  GraphCost cost(prices, cache.get());
  ASSERT_TRUE(cost.cost_us(read_graph("x = input (2, 2)\na = relu(x)\noutput a\n")));
  FixedPrices others({{"relu", 8}}, /*measured=*/true);
  GraphCost measured(others, cache.get());
  EXPECT_EQ(*measured.cost_us(read_graph("x = input (2, 2)\na = relu(x)\noutput a\n")), 8.0);
}

TEST_F(CostCacheFile, NamesAFileThatIsNoDatabase) {
  std::ofstream(file()) << std::string(4096, 'x');
  const auto cache = open_cost_cache(file());
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.error().message.find(file()), std::string::npos) << cache.error().message;
}

}  // namespace
}  // namespace rewright
