// What a graph costs, and what it remembers of what it asked.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "optimize/chain_form.h"
#include "optimize/cost_cache.h"
#include "optimize/kernel_costs.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using testing::plain_text;
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
    by_operator[node.application() ? node.application()->op->name() : node.name] = weight[i];
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

/// relu of what an opaque node makes of x and of weights.
Graph with_opaque(const std::string& type, const std::string& serialized) {
  GraphBuilder builder(&testing::loaded());
  const TensorType four{Shape{2, 2}, ElementType::kFloat32};
  const Port x = *builder.input("x", four);
  const auto made = builder.opaque({type, serialized}, {x}, {four});
  builder.output(*builder.apply1("relu", {}, {made[0]}));
  return builder.finish();
}

TEST(GraphCost, CountsOpaqueNodesOnce) {
  FixedPrices prices({{"Resize", 7}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const Graph graph = with_opaque("Resize", "");
  EXPECT_EQ(*cost.cost_us(graph), 8.0);
  EXPECT_EQ(*cost.cost_us(graph), 8.0);
  EXPECT_EQ(prices.questions, 2);
  EXPECT_TRUE(cost.kernels().without_cost().empty());
}

TEST(GraphCost, NamesOpaqueNodesThatTheModelSaysNothingOf) {
  FixedPrices prices({{"relu", 1}});
  GraphCost cost(prices, nullptr);
  EXPECT_EQ(*cost.cost_us(with_opaque("Loop", "")), 1.0);
  const auto without = cost.kernels().without_cost();
  ASSERT_EQ(without.size(), 1U);
  EXPECT_EQ(without.begin()->first, "Loop");
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

/// Of a convolution x, w -> c and what follows it; everything but a convolution, which costs 10, costs 1 by itself.
double with_fusion(const std::string& rest, std::vector<std::vector<std::string>> sequences) {
  FixedPrices prices({{"conv2d", 10}});
  prices.sequences = std::move(sequences);
  return *GraphCost(prices, nullptr)
              .cost_us(read_graph("x = input (1, 4, 6, 6)\nw = weight (4, 4, 1, 1)\nv = weight (4)\n"
                                  "c = conv2d(x, w)\n" +
                                  rest));
}

TEST(GraphCost, CountsWhatTheModelCallsFusedAsOneKernel) {
  const std::vector<std::vector<std::string>> all = {{"conv2d", "bias_add", "ewadd", "relu"}};
  const std::string bias = "b = bias_add[axis=1](c, v)\n";
  EXPECT_NEAR(with_fusion(bias + "r = relu(b)\noutput r\n", {}), 12, 1e-6);
  EXPECT_NEAR(with_fusion(bias + "r = relu(b)\noutput r\n", all), 10.2, 1e-6);
  EXPECT_NEAR(with_fusion(bias + "s = ewadd(x, b)\nr = relu(s)\noutput r\n", all), 10.3, 1e-6);
  EXPECT_NEAR(with_fusion("r = relu(c)\noutput r\n", all), 10.1, 1e-6) << "what is between may be missing";
}

TEST(GraphCost, FusesNothingThatIsUsedTwiceOrOutOfOrder) {
  const std::vector<std::vector<std::string>> all = {{"conv2d", "ewadd", "relu"}};
  EXPECT_NEAR(with_fusion("r = relu(c)\noutput r, c\n", all), 11, 1e-6) << "an output";
  EXPECT_NEAR(with_fusion("r = relu(c)\nt = tanh(c)\noutput r, t\n", all), 12, 1e-6) << "two users";
  EXPECT_NEAR(with_fusion("s = ewadd(c, c)\noutput s\n", all), 11, 1e-6) << "twice by one";
  EXPECT_NEAR(with_fusion("r = relu(c)\ns = ewadd(r, x)\noutput s\n", all), 11.1, 1e-6) << "the sum comes too late";
  EXPECT_NEAR(with_fusion("r = relu(c)\nt = relu(r)\noutput t\n", all), 11.1, 1e-6) << "once alone";
  EXPECT_NEAR(with_fusion("r = relu(x)\ns = ewadd(c, r)\noutput s\n", all), 11.1, 1e-6) << "relu begins no kernel";
}

TEST(GraphCost, TakesAnActivationOfAnOperatorForTheOperatorOfThatName) {
  const auto cost = [](const std::string& activation) {
    FixedPrices prices({{"conv2d", 10}});
    prices.sequences = {{"conv2d", "ewadd", "relu"}};
    return *GraphCost(prices, nullptr)
                .cost_us(read_graph("x = input (1, 4, 6, 6)\nw = weight (4, 4, 1, 1)\nc = conv2d" + activation +
                                    "(x, w)\ns = ewadd(c, x)\noutput s\n"));
  };
  EXPECT_NEAR(cost(""), 10.1, 1e-6);
  EXPECT_NEAR(cost("[activation=relu]"), 11, 1e-6) << "a sum after relu";
  EXPECT_NEAR(cost("[activation=tanh]"), 11, 1e-6) << "tanh is not fused at all";
}

TEST(GraphCost, OneOfTwoKernelsTakesTheSum) {
  const std::string text = R"(
x = input (4, 4)
u = weight (4, 4)
v = weight (4, 4)
a = matmul(x, u)
b = matmul(a, v)
c = matmul(x, v)
s = ewadd(c, b)
output s
)";
  FixedPrices prices({{"matmul", 10}});
  prices.sequences = {{"matmul", "ewadd"}};
  EXPECT_NEAR(*GraphCost(prices, nullptr).cost_us(read_graph(text)), 30.1, 1e-6);
}

TEST(GraphCost, JoinsTheOperandWhoseKernelGrowsLeast) {
  /// What follows a relu in its kernel is dearer than what follows a convolution.
  class Uneven final : public CostModel {
   public:
    [[nodiscard]] std::string name() const override { return "uneven"; }
    [[nodiscard]] std::string summary() const override { return ""; }
    [[nodiscard]] std::string device() const override { return ""; }
    [[nodiscard]] bool measured() const override { return false; }
    Status configure(const Options&, const Registry&) override { return {}; }
    [[nodiscard]] Result<double> cost_us(const Application& application) override {
      return application.op.name() == "conv2d" ? 10.0 : 1.0;
    }
    [[nodiscard]] std::vector<std::vector<std::string>> fused() const override {
      return {{"conv2d", "ewadd"}, {"relu", "ewadd"}};
    }
    [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
      return kernel.applications[0].op.name() == "conv2d" ? 10.1 : 1.5;
    }
    [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Uneven>(); }
  } model;
  GraphCost cost(model, nullptr);
  for (const char* sum : {"c, r", "r, c"}) {
    const auto us =
        cost.cost_us(read_graph(fmt::format("x = input (1, 4, 6, 6)\nw = weight (4, 4, 1, 1)\nc = conv2d(x, w)\n"
                                            "r = relu(x)\ns = ewadd({})\noutput s\n",
                                            sum)));
    EXPECT_NEAR(*us, 11.1, 1e-6) << sum;
  }
}

TEST(GraphCost, AsksAModelThatPredictsOnceForAllKernelsAndAddsSpreads) {
  class Predicting final : public CostModel {
   public:
    [[nodiscard]] std::string name() const override { return "predicting"; }
    [[nodiscard]] std::string summary() const override { return ""; }
    [[nodiscard]] std::string device() const override { return ""; }
    [[nodiscard]] bool measured() const override { return false; }
    Status configure(const Options&, const Registry&) override { return {}; }
    [[nodiscard]] Result<double> cost_us(const Application&) override { return -1.0; }
    [[nodiscard]] std::vector<std::vector<std::string>> fused() const override { return {{"matmul", "relu"}}; }
    [[nodiscard]] Result<std::vector<Estimate>> estimates(std::span<const Kernel> kernels) override {
      asked.push_back(kernels.size());
      std::vector<Estimate> all;
      for (const Kernel& kernel : kernels) {
        all.push_back(kernel.applications[0].op.name() == "matmul" ? Estimate{10, 3} : Estimate{1, 2});
      }
      all.resize(all.size() - (is_short && kernels.size() > 1 ? 1 : 0));
      return all;
    }
    [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Predicting>(); }
    std::vector<std::size_t> asked;
    bool is_short = false;
  } model;
  const Graph graph = read_graph(
      "x = input (4, 4)\nw = weight (4, 4)\nm = matmul(x, w)\nr = relu(m)\nt = tanh(r)\nu = tanh(t)\n"
      "s = sigmoid(u)\noutput s\n");
  GraphCost cost(model, nullptr);
  const auto known = cost.estimate(graph);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_NEAR(known->us, 10 + 1 + 1 + 1, 1e-6);
  EXPECT_NEAR(known->spread, std::sqrt(3.0 * 3 + 4 * 4 + 2 * 2), 1e-12) << "the two tanh are one kernel";
  EXPECT_EQ(model.asked, (std::vector<std::size_t>{1, 1, 2})) << "matmul, matmul and relu, tanh and sigmoid";
  model.is_short = true;
  const auto refused = GraphCost(model, nullptr).estimate(graph);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "cost model predicting gave 1 estimates of 2 kernels");
}

TEST(GraphCost, IsInfiniteHoweverManyOperatorsAre) {
  FixedPrices prices({{"relu", std::numeric_limits<double>::infinity()}});
  GraphCost cost(prices, nullptr);
  std::string text = "x0 = input (2, 2)\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("x{} = relu(x{})\n", i + 1, i);
  EXPECT_EQ(*cost.cost_us(read_graph(text + "output x5000\n")), std::numeric_limits<double>::infinity());
}

TEST(GraphCost, JoinsTheKernelThatGrowsLess) {
  const auto cost = [](const std::string& operands) {
    FixedPrices prices({{"matmul", 10}, {"ewmul", 3}});
    prices.sequences = {{"matmul", "ewadd"}, {"ewmul", "neg", "ewadd"}};
    const auto us = GraphCost(prices, nullptr)
                        .cost_us(read_graph("x = input (4, 4)\nu = weight (4, 4)\na = matmul(x, u)\n"
                                            "m = ewmul(x, x)\nn = neg(m)\ns = ewadd(" +
                                            operands + ")\noutput s\n"));
    return *us;
  };
  EXPECT_EQ(cost("a, n"), cost("n, a")) << "the order of a sum's operands says nothing";
}

TEST(GraphCost, OperandsFromOutsideAreWeightsOrOfTheSameShape) {
  FixedPrices prices({{"matmul", 10}});
  prices.sequences = {{"matmul", "bias_add"}};
  const std::string text =
      "x = input (4, 4)\nw = weight (4, 4)\nv = {} (4)\na = matmul(x, w)\n"
      "b = bias_add[axis=1](a, v)\noutput b\n";
  EXPECT_NEAR(*GraphCost(prices, nullptr).cost_us(read_graph(fmt::format(fmt::runtime(text), "weight"))), 10.1, 1e-6);
  EXPECT_NEAR(*GraphCost(prices, nullptr).cost_us(read_graph(fmt::format(fmt::runtime(text), "input"))), 11, 1e-6);
}

TEST(GraphCost, IsInfiniteWhereAnOperatorIs) {
  FixedPrices prices({{"relu", std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(*GraphCost(prices, nullptr).cost_us(read_graph("x = input (2, 2)\na = relu(x)\noutput a\n")),
            std::numeric_limits<double>::infinity());
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
  const Graph chain = *to_chains(wide);
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

const char* const kSplitIntoFive = R"(
x = input (3, 15)
a, b, c, d, e = split[axis=1, sizes=[1, 5, 3, 2, 4]](x)
p = relu(b)
q = relu(d)
output a, p, c, q, e
)";

TEST(GraphCost, CountsAChainOfSplitsAsOne) {
  FixedPrices prices({{"split", 5}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const Graph wide = read_graph(kSplitIntoFive);
  const Graph chain = *to_chains(wide);
  EXPECT_EQ(chain.operator_count(), 6u);
  EXPECT_EQ(*cost.cost_us(wide), 7.0);
  const int before = prices.questions;
  EXPECT_EQ(*cost.cost_us(chain), 7.0);
  EXPECT_EQ(prices.questions, before) << "the chain and the wide split are one question";
}

TEST(GraphCost, CountsASplitOfWhatIsUsedElsewhereToo) {
  FixedPrices prices({{"split", 5}});
  GraphCost cost(prices, nullptr);
  const char* const kText = "x = input (6, 6)\na, b = split[sizes=[4, 2]](x)\nc, d = split{}(a)\noutput b, c, d{}\n";
  const auto cost_of = [&](std::string_view params, std::string_view output) {
    return *cost.cost_us(read_graph(fmt::format(fmt::runtime(kText), params, output)));
  };
  EXPECT_EQ(cost_of("[sizes=[3, 1]]", ""), 5.0);
  EXPECT_EQ(cost_of("[sizes=[3, 1]]", ", a"), 10.0) << "a is an output";
  EXPECT_EQ(cost_of("[axis=1, sizes=[3, 3]]", ""), 10.0) << "along the other axis";
}

TEST(ChainForm, JoinsWhatItSplit) {
  for (const char* text : {kJoinOfFour, kSplitIntoFive}) {
    const Graph wide = read_graph(text);
    EXPECT_EQ(to_text(*from_chains(*to_chains(wide))), to_text(wide));
  }
}

TEST(ChainForm, SplitsTheLastPartOffFirst) {
  EXPECT_EQ(
      plain_text(*to_chains(read_graph("x = input (6, 2)\na, b, c = split[sizes=[1, 2, 3]](x)\noutput a, b, c\n"))),
      plain_text(read_graph("x = input (6, 2)\np, c = split[sizes=[3, 3]](x)\na, b = split[sizes=[1, 2]](p)\n"
                            "output a, b, c\n")));
}

TEST(ChainForm, JoinsSplitsOfAnyPart) {
  const Graph graph = read_graph(
      "x = input (9, 2)\na, p, b = split[sizes=[1, 6, 2]](x)\nc, q = split[sizes=[2, 4]](p)\n"
      "d, e = split[sizes=[3, 1]](q)\nr = relu(e)\noutput d, b, a, r, c\n");
  EXPECT_EQ(plain_text(*from_chains(graph)),
            plain_text(read_graph("x = input (9, 2)\na, c, d, e, b = split[sizes=[1, 2, 3, 1, 2]](x)\nr = relu(e)\n"
                                  "output d, b, a, r, c\n")));
}

TEST(ChainForm, KeepsSplitsApartWhosePartIsUsedElsewhere) {
  for (const char* text :
       {"x = input (6, 6)\na, b = split[sizes=[4, 2]](x)\nc, d = split[sizes=[3, 1]](a)\noutput a, b, c, d\n",
        "x = input (6, 6)\na, b = split[sizes=[4, 2]](x)\nc, d = split[sizes=[3, 1]](a)\nr = relu(a)\n"
        "output r, b, c, d\n",
        "x = input (6, 6)\na, b = split[sizes=[4, 2]](x)\nc, d = split[axis=1, sizes=[3, 3]](a)\noutput b, c, d\n"}) {
    EXPECT_EQ(plain_text(*from_chains(read_graph(text))), plain_text(read_graph(text)));
  }
}

TEST(ChainForm, KeepsApartWhatIsUsedElsewhere) {
  const Graph graph =
      read_graph("a = input (1, 2)\nb = input (2, 2)\np = concat(a, b)\nq = concat(p, b)\noutput p, q\n");
  EXPECT_EQ(to_text(*from_chains(graph)), to_text(graph));
  const Graph other_axis = read_graph(
      "a = input (2, 2)\nb = input (2, 2)\nc = input (4, 3)\np = concat(a, b)\nq = concat[axis=1](p, c)\noutput q\n");
  EXPECT_EQ(to_text(*from_chains(other_axis)), to_text(other_axis));
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
