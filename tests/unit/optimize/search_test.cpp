// The search plugins on graphs whose best form is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/optimizer.h"
#include "support/true_rules.h"
#include "unit/optimize/fixed_prices.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;
using testing::FixedPrices;
using ::testing::HasSubstr;
using testing::loaded;
using testing::plain_text;
using testing::read_graph;
using testing::read_rule;

std::unique_ptr<SearchStrategy> search(const std::string& name, const Options& options = {}) {
  auto strategy = (*loaded().get<SearchStrategy>(name))->clone();
  if (const Status status = strategy->configure(options); !status) fail(status.error().message);
  return strategy;
}

std::vector<std::string> names_on(const SearchResult& result) {
  std::vector<std::string> names;
  for (const RewriteStep& step : result.path) names.push_back(step.rule_name);
  return names;
}

/// Two products with one sum: merging them takes a dearer step first (the transposes), then two cheaper ones.
const char* const kHill = "x = input (4, 4)\na = transpose(x)\nb = relu(a)\nc = transpose(b)\noutput c\n";
std::vector<Rule> hill_rules() {
  return {read_rule("(x:2) relu(transpose(x)) => transpose(relu(x))"), read_rule("(x:2) transpose(transpose(x)) => x")};
}

TEST(Backtracking, FindsWhatLiesBehindAnEqualOrDearerGraph) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto strategy = search("backtracking", {{"alpha", 1.05}});
  const auto report = optimize(read_graph(kHill), hill_rules(), *strategy, cost);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.cost_before_us, 3.0);
  EXPECT_EQ(report->search.cost_after_us, 1.0);
  EXPECT_EQ(plain_text(report->best), plain_text(read_graph("x = input (4, 4)\nb = relu(x)\noutput b\n")));
  ASSERT_EQ(report->search.path.size(), 2u);
  EXPECT_EQ(report->search.path[0].cost_before_us, 3.0);
  EXPECT_EQ(report->search.path[0].cost_after_us, 3.0);
  EXPECT_EQ(report->search.path[1].cost_after_us, 1.0);
  EXPECT_EQ(plain_text(report->search.path.back().graph), plain_text(report->best));
}

TEST(Backtracking, WithAlphaOneKeepsCheaperGraphsOnly) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto strategy = search("backtracking", {{"alpha", std::int64_t{1}}});
  const auto report = optimize(read_graph(kHill), hill_rules(), *strategy, cost);
  EXPECT_EQ(report->search.cost_after_us, 3.0);
  EXPECT_TRUE(report->search.path.empty());
  EXPECT_EQ(plain_text(report->best), plain_text(read_graph(kHill)));
}

TEST(Greedy, StopsBeforeTheHill) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  EXPECT_TRUE(optimize(read_graph(kHill), hill_rules(), *search("greedy"), cost)->search.path.empty());
}

TEST(Greedy, TakesTheSteepestStepEachTime) {
  FixedPrices prices({{"matmul", 100}, {"ewadd", 10}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const auto report =
      optimize(read_graph(R"(
x = input (4, 4)
v = weight (4, 4)
w = weight (4, 4)
a = matmul(x, v)
b = matmul(x, w)
s = ewadd(a, b)
r = relu(s)
t = relu(r)
output t
)"),
               {read_rule("(x:2) relu(relu(x)) => relu(x)"),
                read_rule("(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))")},
               *search("greedy"), cost);
  ASSERT_EQ(report->search.path.size(), 2u);
  EXPECT_THAT(names_on(report->search), ElementsAre(HasSubstr("matmul"), HasSubstr("relu")));
  EXPECT_EQ(report->search.cost_after_us, 101.0) << "the sum of weights costs nothing";
}

TEST(Searches, StayWithinTheirSteps) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const Graph chain =
      read_graph("x = input (2, 2)\na = relu(x)\nb = relu(a)\nc = relu(b)\nd = relu(c)\ne = relu(d)\noutput e\n");
  const std::vector<Rule> rules = {read_rule("(x:2) relu(relu(x)) => relu(x)")};
  for (const char* name : {"backtracking", "greedy"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(optimize(chain, rules, *search(name), cost, {.steps = 2})->search.steps, 2u);
    EXPECT_EQ(optimize(chain, rules, *search(name), cost, {.steps = 2})->search.cost_after_us, 3.0);
    EXPECT_EQ(optimize(chain, rules, *search(name), cost, {.steps = 100})->search.cost_after_us, 1.0);
    EXPECT_EQ(optimize(chain, rules, *search(name), cost, {.steps = 0})->search.cost_after_us, 5.0);
  }
}

TEST(Searches, GiveTheBestSoFarWhenStopped) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const Graph chain = read_graph("x = input (2, 2)\na = relu(x)\nb = relu(a)\nc = relu(b)\nd = relu(c)\noutput d\n");
  const std::vector<Rule> rules = {read_rule("(x:2) relu(relu(x)) => relu(x)")};
  for (const char* name : {"backtracking", "greedy"}) {
    SCOPED_TRACE(name);
    const auto report = optimize(chain, rules, *search(name), cost, {},
                                 [](std::uint64_t steps, std::uint64_t, double) { return steps < 1; });
    EXPECT_TRUE(report->search.stopped_early);
    EXPECT_EQ(report->search.cost_after_us, 3.0);
  }
}

TEST(Searches, SeeOneGraphOnceWhicheverWayItIsReached) {
  // Four independent rewrites: 16 graphs, 24 orders.
  std::string text = "x = input (2, 2)\n";
  for (int i = 0; i < 4; ++i) {
    text += fmt::format("w{0} = input (2, 2)\na{0} = relu(w{0})\nb{0} = transpose(a{0})\n", i);
  }
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto report =
      optimize(read_graph(text + "output b0, b1, b2, b3\n"),
               {read_rule("(x:2) transpose(relu(x)) => relu(transpose(x))")}, *search("backtracking"), cost);
  EXPECT_EQ(report->search.steps, 16u);
  EXPECT_EQ(report->search.candidates, 32u) << "each graph has one neighbour for each rewrite not yet made";
}

TEST(Searches, RefuseOptionsThatTheyDoNotHave) {
  const auto backtracking = (*loaded().get<SearchStrategy>("backtracking"))->clone();
  EXPECT_THAT(backtracking->configure({{"beta", 1.0}}).error().message, HasSubstr("alpha"));
  EXPECT_THAT(backtracking->configure({{"alpha", 0.5}}).error().message, HasSubstr("at least 1"));
  EXPECT_FALSE((*loaded().get<SearchStrategy>("greedy"))->clone()->configure({{"alpha", 1.0}}));
}

TEST(Optimizer, TellsWhichRulesItCouldNotUse) {
  Rule wrong = read_rule("(x:2, y:2) concat[axis=0](x, y) => concat[axis=0](ewadd(x, y), y) where x.0 = y.0");
  wrong.precondition.clear();
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto report = optimize(read_graph("x = input (2, 4)\ny = input (3, 4)\nc = concat(x, y)\noutput c\n"),
                               {wrong, read_rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)")}, *search("greedy"), cost);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->refused.size(), 1u);
  EXPECT_EQ(report->refused[0].name, wrong.name);
  EXPECT_EQ(report->refused[0].times, 1u);
  ASSERT_EQ(report->unusable.size(), 1u);
}

TEST(Optimizer, RewritesWideConcats) {
  // The rule joins two; the model joins three.
  FixedPrices prices({{"relu", 10}, {"concat", 1}});
  GraphCost cost(prices, nullptr);
  const auto report =
      optimize(read_graph(R"(
x = input (1, 2)
y = input (2, 2)
z = input (3, 2)
a = relu(x)
b = relu(y)
c = relu(z)
j = concat(a, b, c)
output j
)"),
               {read_rule("(x:2, y:2) concat(relu(x), relu(y)) => relu(concat(x, y))")}, *search("backtracking"), cost);
  EXPECT_EQ(plain_text(report->best), plain_text(read_graph(R"(
x = input (1, 2)
y = input (2, 2)
z = input (3, 2)
j = concat(x, y, z)
r = relu(j)
output r
)")));
}

TEST(Flops, IsTheRoofline) {
  const auto model = (*loaded().get<CostModel>("flops"))->clone();
  ASSERT_TRUE(model->configure({{"gflops", 100.0}, {"gbytes_per_s", 10.0}, {"overhead_us", 3.0}}, loaded()));
  const Operator& matmul = testing::operator_named("matmul");
  const auto cost = [&](std::int64_t n) {
    const Shape shapes[] = {{n, n}, {n, n}};
    const InputKind kinds[] = {InputKind::kData, InputKind::kData};
    return *model->cost_us({matmul, Params(), shapes, kinds});
  };
  EXPECT_DOUBLE_EQ(cost(1000), 3.0 + 2e9 / 100e3) << "bound by computing: 2 n^3 operations";
  EXPECT_DOUBLE_EQ(cost(2), 3.0 + 3 * 4 * 4 / 10e3) << "bound by moving: three matrices of float32";
}

TEST(Flops, RefusesNonsense) {
  const auto model = (*loaded().get<CostModel>("flops"))->clone();
  EXPECT_THAT(model->configure({{"gflop", 1.0}}, loaded()).error().message, HasSubstr("gbytes_per_s"));
  EXPECT_THAT(model->configure({{"gflops", 0.0}}, loaded()).error().message, HasSubstr("more than 0"));
  EXPECT_THAT(model->configure({{"gflops", std::string("fast")}}, loaded()).error().message, HasSubstr("number"));
}

}  // namespace
}  // namespace rewright
