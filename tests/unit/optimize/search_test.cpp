// The search plugins on graphs whose best form is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "campaign/rule_source.h"
#include "optimize/optimizer.h"
#include "support/random.h"
#include "support/rewriter.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;
using testing::FixedPrices;
using ::testing::HasSubstr;
using testing::loaded;
using testing::plain_text;
using testing::Random;
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

TEST(Automatic, LeavesEachMemberItsShareOfFewCandidates) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto strategy = search("auto");
  OptimizeOptions options;
  options.registry = &loaded();
  options.candidates = 100;  // Fewer than the first member asks for, which ends at the hill.
  const auto report = optimize(read_graph(kHill), hill_rules(), *strategy, cost, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.cost_after_us, 1.0);
  EXPECT_LE(report->search.candidates, 100u);
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

TEST(SearchOptions, ThatAreNoNumbersOrTooLargeAreNamed) {
  const auto refusal = [](const Options& options) {
    const Status status = (*loaded().get<SearchStrategy>("backtracking"))->clone()->configure(options);
    return status ? "no error" : status.error().message;
  };
  EXPECT_THAT(refusal({{"alpha", std::string("much")}}),
              ::testing::AllOf(HasSubstr("search backtracking: alpha is a number"), HasSubstr("'much' is none")));
  EXPECT_THAT(refusal({{"alpha", 1e300}}), HasSubstr("and must be at most"));
  EXPECT_THAT(refusal({{"alpha", 0.0}}), HasSubstr("and must be at least"));
  EXPECT_THAT(refusal({{"beta", 1.0}}), HasSubstr("has no option 'beta'; there are: "));
}

/// Searches judge conditions by their own program; Rewriter judges them by name.
TEST(SearchConditions, AreThoseOfTheRules) {
  for (const char* condition :
       {"x.0 != 3", "2 | x.0", "floor((x.0 + 1) / 2) = 3", "x.0*x.1 >= 20", "x.0*x.0*x.0*x.0 >= 1", "x.0 >= 6"}) {
    const Rule rule = read_rule(fmt::format("(x:2) relu(relu(x)) => relu(x) where {}", condition));
    for (const std::int64_t rows : {3, 5, 6, 100'000}) {
      const Graph start = read_graph(fmt::format("x = input ({}, 4)\na = relu(x)\nb = relu(a)\noutput b\n", rows));
      FixedPrices prices;
      GraphCost cost(prices, nullptr);
      const auto report = optimize(start, std::vector{rule}, *search("greedy"), cost);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->search.path.size(), Rewriter({rule}).matches(start).size()) << condition << " at " << rows;
    }
  }
}

TEST(SearchConditions, SizesOfATargetAreComputedFromTheMatch) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto optimized = [&](const char* rule, const char* graph) {
    const auto report = optimize(read_graph(graph), std::vector{read_rule(rule)}, *search("greedy"), cost);
    return report ? plain_text(report->best) : report.error().message;
  };
  EXPECT_EQ(optimized("(x:2) reshape[sizes=[x.0*x.1]](relu(relu(x))) => relu(reshape[sizes=[x.0*x.1]](x))",
                      "x = input (3, 4)\na = relu(x)\nb = relu(a)\nc = reshape[sizes=[12]](b)\noutput c\n"),
            plain_text(read_graph("x = input (3, 4)\na = reshape[sizes=[12]](x)\nb = relu(a)\noutput b\n")));
  EXPECT_EQ(optimized("(x:2) slice[axes=[1], starts=[s0], sizes=[s1], steps=[2]](relu(relu(x))) => "
                      "relu(slice[axes=[1], starts=[s0], sizes=[s1], steps=[2]](x))",
                      "x = input (3, 9)\na = relu(x)\nb = relu(a)\n"
                      "c = slice[axes=[1], starts=[2], sizes=[3], steps=[2]](b)\noutput c\n"),
            plain_text(read_graph("x = input (3, 9)\na = slice[axes=[1], starts=[2], sizes=[3], steps=[2]](x)\n"
                                  "b = relu(a)\noutput b\n")));
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

TEST(Backtracking, WithTheOwnRulesMakesTheGatesOfACellOneSum) {
  // Two products, one sum, one activation; what is taken apart at the end costs nothing.
  FixedPrices prices({{"matmul", 10}, {"ewadd", 5}, {"relu", 5}, {"split", 0}, {"concat", 100}});
  GraphCost cost(prices, nullptr);
  const auto rules =
      read_rule_source(std::string(REWRIGHT_SOURCE_DIR) + "/experiments/library/networks.rules", loaded());
  ASSERT_TRUE(rules) << rules.error().message;
  const auto report = optimize(read_graph(R"(
x = input (1, 4)
h = input (1, 4)
v = weight (4, 4)
w = weight (4, 4)
t = weight (4, 4)
u = weight (4, 4)
a = matmul(x, v)
b = matmul(h, w)
c = ewadd(a, b)
d = matmul(x, t)
e = matmul(h, u)
f = ewadd(d, e)
g = relu(c)
k = relu(f)
output g, k
)"),
                               *rules, *search("backtracking"), cost, {.steps = 40});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.cost_before_us, 60.0);
  EXPECT_EQ(report->search.cost_after_us, 30.0);
}

TEST(Beam, KeepsAsManyGraphsOfALevelAsItIsTold) {
  // Four independent rewrites that cost nothing and gain nothing: levels of 1, 4, 6, 4 and 1 graphs.
  std::string text = "x = input (2, 2)\n";
  for (int i = 0; i < 4; ++i)
    text += fmt::format("w{0} = input (2, 2)\na{0} = relu(w{0})\nb{0} = transpose(a{0})\n", i);
  const Graph start = read_graph(text + "output b0, b1, b2, b3\n");
  const std::vector<Rule> rules = {read_rule("(x:2) transpose(relu(x)) => relu(transpose(x))")};
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto steps = [&](std::int64_t width) {
    return optimize(start, rules, *search("beam", {{"width", width}}), cost)->search.steps;
  };
  EXPECT_EQ(steps(10), 16u);
  EXPECT_EQ(steps(5), 15u);
  EXPECT_EQ(steps(1), 5u);
}

TEST(EGraph, CountsWhatIsSharedOnceWhereItChoosesExactly) {
  // Greedily each output takes its cheapest maker (5 each); both from the one product would cost 8.
  FixedPrices prices({{"matmul", 8}, {"ewadd", 5}, {"ewmul", 5}, {"relu", 0.01}, {"transpose", 0.01}});
  GraphCost cost(prices, nullptr);
  const Graph start = read_graph("x = input (2, 2)\ny = input (2, 2)\na = ewadd(x, y)\nb = ewmul(x, y)\noutput a, b\n");
  // Nonsense, but the e-graph does not know that: what counts is what it chooses.
  const std::vector<Rule> rules = {read_rule("(x:2, y:2) ewadd(x, y) => relu(matmul(x, y)) where x.0 = x.1, x.0 = y.0"),
                                   read_rule("(x:2, y:2) ewmul(x, y) => transpose(matmul(x, y)) "
                                             "where x.0 = x.1, x.0 = y.0")};
  const auto greedily = optimize(start, rules, *search("egraph", {{"exact", false}}), cost);
  ASSERT_TRUE(greedily) << greedily.error().message;
  EXPECT_EQ(greedily->search.cost_after_us, 10.0);
  const auto exactly = optimize(start, rules, *search("egraph"), cost);
  ASSERT_TRUE(exactly) << exactly.error().message;
  EXPECT_NEAR(exactly->search.cost_after_us, 8.02, 1e-6);
  ASSERT_FALSE(exactly->search.path.empty());
  EXPECT_EQ(plain_text(exactly->search.path.back().graph), plain_text(exactly->best));
}

/// Each output can be made of the exponential of either of its operands: as many of these as a vertex cover has. Halves
/// of all solve its relaxation, so that the integer program must branch.
struct VertexCover {
  explicit VertexCover(std::size_t vertices) {
    std::string text;
    for (std::size_t i = 0; i < vertices; ++i) text += fmt::format("x{} = input (2, 2)\n", i);
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < vertices; ++i) {
      for (const std::size_t step : {1, 2, 5}) {
        const std::size_t edge = outputs.size() + 1;
        outputs.push_back(fmt::format("y{}", edge));
        text += fmt::format("s{0} = ewadd(x{1}, x{2})\ny{0} = leaky_relu[alpha={0}](s{0})\n", edge, i,
                            (i + step) % vertices);
        rules.push_back(read_rule(fmt::format(
            "(x:2, y:2) leaky_relu[alpha={}](ewadd(x, y)) => leaky_relu[alpha={}](exp(x))", edge, edge + 1000)));
      }
    }
    graph = read_graph(text + fmt::format("output {}\n", fmt::join(outputs, ", ")));
  }

  FixedPrices prices{{{"exp", 8}, {"ewadd", 100}}};
  GraphCost cost{prices, nullptr};
  Graph graph;
  std::vector<Rule> rules;
};

TEST(EGraph, SaysThatItCouldNotChooseExactly) {
  VertexCover cover(40);
  const auto report = optimize(cover.graph, cover.rules, *search("egraph", {{"nodes", std::int64_t{1}}}), cover.cost);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.note, "egraph: the integer program was not solved within 1 nodes");
  EXPECT_LT(report->search.cost_after_us, report->search.cost_before_us) << "what was found until then counts";
}

/// Stops the search at the third question that came later than `gap` after the one before.
Result<OptimizeReport> stopped_after_gaps(VertexCover& cover, std::chrono::milliseconds gap, double& seconds_to_stop) {
  auto last = std::chrono::steady_clock::now();
  int waits = 0;
  const auto progress = [&](std::uint64_t, std::uint64_t, double best_us) {
    const auto now = std::chrono::steady_clock::now();
    if (best_us < 33'000 && now - last > gap) ++waits;
    last = now;
    return waits < 3;
  };
  auto report = optimize(cover.graph, cover.rules, *search("egraph", {{"nodes", std::int64_t{1'000'000'000}}}),
                         cover.cost, {}, progress);
  seconds_to_stop = std::chrono::duration<double>(std::chrono::steady_clock::now() - last).count();
  return report;
}

/// Of all that asks whether to go on, the integer program alone waits between its questions, and by itself it would not
/// end for minutes. A machine that does other work makes the rest wait too: then a longer wait is looked for.
TEST(EGraph, StopsWithinTheIntegerProgramWithTheBestSoFar) {
  VertexCover cover(110);
  constexpr int kLast = 90;
  for (const int gap_ms : {15, 30, 45, 60, 75, kLast}) {
    double seconds_to_stop = 0;
    const auto report = stopped_after_gaps(cover, std::chrono::milliseconds(gap_ms), seconds_to_stop);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->search.stopped_early);
    if (report->search.note.empty() && gap_ms < kLast) continue;
    EXPECT_EQ(report->search.note, "egraph: the integer program was stopped; its best so far counts");
    EXPECT_LT(report->search.cost_after_us, report->search.cost_before_us);
    EXPECT_LT(seconds_to_stop, 10) << "a wide limit, for machines that do other work";
    return;
  }
}

/// CBC's C interface had state that is the whole process's; the models that are used now have none.
TEST(EGraph, ChoosesExactlyInSeveralThreadsAtOnce) {
  const Graph start = read_graph("x = input (2, 2)\ny = input (2, 2)\na = ewadd(x, y)\nb = relu(a)\noutput a, b\n");
  const std::vector<Rule> rules = {read_rule("(x:2, y:2) ewadd(x, y) => ewmul(x, y)"),
                                   read_rule("(x:2) relu(x) => transpose(x) where x.0 = x.1")};
  ::testing::internal::CaptureStdout();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 60; ++k) {
        FixedPrices prices({{"ewadd", 5}, {"ewmul", 4}, {"relu", 3}, {"transpose", 2}});
        GraphCost cost(prices, nullptr);
        const auto report = optimize(start, rules, *search("egraph"), cost);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_NEAR(report->search.cost_after_us, 6, 1e-6);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(EGraph, FiltersOutWhatWouldBeComputedFromItself) {
  // transpose(transpose(x)) is x: x would be computed from its own transpose.
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto report =
      optimize(read_graph("x = input (4, 4)\na = transpose(x)\nb = transpose(a)\nc = relu(b)\noutput c, a\n"),
               {read_rule("(x:2) transpose(transpose(x)) => x"), read_rule("(x:2) relu(x) => relu(relu(x))"),
                read_rule("(x:2) relu(transpose(x)) => transpose(relu(x))")},
               *search("egraph"), cost);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.cost_after_us, 2.0);
}

TEST(EGraph, TakesPartsForOneSplitOnlyWhereTheyAre) {
  // The second part went through a relu since: what is joined is not what was split.
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const Graph start = read_graph(
      "x = input (4, 2)\np, q = split[axis=0, sizes=[2, 2]](x)\nr = relu(q)\nc = concat[axis=0](p, r)\noutput c\n");
  const auto report =
      optimize(start, {read_rule("(x:2) let p, q = split[axis=0, sizes=[s0, s1]](x) in concat[axis=0](p, q) => x")},
               *search("egraph"), cost);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(plain_text(report->best), plain_text(start));
}

TEST(EGraph, ChoosesWholesWhereHalvesWouldBeCheaper) {
  // Any two of three products are enough (19 with what uses them), half of each would be less.
  FixedPrices prices({{"matmul", 8}, {"broadcast_div", 50}, {"broadcast_max", 50}, {"broadcast_sub", 50}});
  GraphCost cost(prices, nullptr);
  const Graph start = read_graph(
      "x = input (2, 2)\ny = input (2, 2)\na = broadcast_div(x, y)\nb = broadcast_max(x, y)\n"
      "c = broadcast_sub(x, y)\noutput a, b, c\n");
  std::vector<Rule> rules;
  for (const char* rule : {"broadcast_div(x, y) => relu(matmul(x, y))", "broadcast_div(x, y) => relu(matmul(y, x))",
                           "broadcast_max(x, y) => tanh(matmul(y, x))", "broadcast_max(x, y) => tanh(matmul(x, x))",
                           "broadcast_sub(x, y) => exp(matmul(x, x))", "broadcast_sub(x, y) => exp(matmul(x, y))"})
    rules.push_back(read_rule(fmt::format("(x:2, y:2) {} where x.0 = x.1, y.0 = y.1, x.0 = y.0", rule)));
  const auto report = optimize(start, rules, *search("egraph"), cost);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.note, "");
  EXPECT_NEAR(report->search.cost_after_us, 19, 1e-6);
}

TEST(EGraph, TellsWhichRulesItCouldNotUse) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto refusal = [&](std::string_view rule, std::string_view graph) -> std::string {
    Rule wrong = read_rule(rule);
    wrong.precondition.clear();
    const auto report = optimize(read_graph(graph), {wrong}, *search("egraph"), cost);
    if (!report) return report.error().message;
    EXPECT_EQ(plain_text(report->best), plain_text(read_graph(graph)));
    return report->refused.size() == 1 && report->refused[0].name == wrong.name ? report->refused[0].reason : "";
  };
  EXPECT_EQ(refusal("(x:2) relu(x) => transpose(x) where x.0 = x.1", "x = input (2, 3)\na = relu(x)\noutput a\n"),
            "replaces a tensor by one of another shape or element type");
  EXPECT_EQ(refusal("(x:2, y:2) concat[axis=0](x, y) => concat[axis=0](ewadd(x, y), y) where x.0 = y.0",
                    "x = input (2, 4)\ny = input (3, 4)\nc = concat(x, y)\noutput c\n"),
            "ewadd: sizes along an axis must be equal, but are 2 and 3");
}

// --- all of them -----------------------------------------------------------------------------------------------

class EverySearch : public ::testing::TestWithParam<const char*> {};

/// Two products of one tensor, summed: the merged weights, then the doubled relu, are the optimum of 101.
const char* const kSum = R"(
x = input (4, 4)
v = weight (4, 4)
w = weight (4, 4)
a = matmul(x, v)
b = matmul(x, w)
s = ewadd(a, b)
r = relu(s)
t = relu(r)
output t
)";
std::vector<Rule> sum_rules() {
  return {read_rule("(x:2) relu(relu(x)) => relu(x)"), read_rule("(x:2) relu(x) => relu(relu(x))"),
          read_rule("(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))"),
          read_rule("(x:2, y:2, z:2) matmul(x, ewadd(y, z)) => ewadd(matmul(x, y), matmul(x, z))")};
}

TEST_P(EverySearch, FindsTheOptimumOfASmallGraph) {
  FixedPrices prices({{"matmul", 100}, {"ewadd", 10}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const auto report = optimize(read_graph(kSum), sum_rules(), *search(GetParam()), cost, {.steps = 200});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.cost_before_us, 212.0);
  EXPECT_EQ(report->search.cost_after_us, 101.0);
  EXPECT_EQ(*cost.cost_us(report->best), 101.0);
  EXPECT_GT(report->search.candidates, 0u);
}

TEST_P(EverySearch, TellsHowItsBestFell) {
  FixedPrices prices({{"matmul", 100}, {"ewadd", 10}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const SearchResult result =
      optimize(read_graph(kSum), sum_rules(), *search(GetParam()), cost, {.steps = 200})->search;
  ASSERT_GE(result.curve.size(), 2u);
  EXPECT_EQ(result.curve.front().best_us, 212.0);
  EXPECT_NEAR(result.curve.back().best_us, 101.0, 1e-6);
  for (std::size_t i = 1; i < result.curve.size(); ++i) {
    EXPECT_LT(result.curve[i].best_us, result.curve[i - 1].best_us);
    EXPECT_GE(result.curve[i].candidates, result.curve[i - 1].candidates);
    EXPECT_LE(result.curve[i].steps, result.steps);
  }
  ASSERT_FALSE(result.path.empty());
  EXPECT_EQ(result.path.front().cost_before_us, 212.0);
  EXPECT_EQ(result.path.back().cost_after_us, 101.0);
}

TEST_P(EverySearch, HasSomethingAtAnyMoment) {
  // Stopped after any number of reports, it gives a graph no dearer than the start, and than what it had before.
  FixedPrices prices({{"matmul", 100}, {"ewadd", 10}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  double last_us = 1e9;
  for (int allowed = 0; allowed < 12; ++allowed) {
    int reports = 0;
    const auto report = optimize(read_graph(kSum), sum_rules(), *search(GetParam()), cost, {.steps = 200},
                                 [&](std::uint64_t, std::uint64_t, double) { return reports++ < allowed; });
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_LE(report->search.cost_after_us, std::min(last_us, 212.0));
    EXPECT_EQ(*cost.cost_us(report->search.best), report->search.cost_after_us);
    last_us = report->search.cost_after_us;
  }
}

TEST_P(EverySearch, StaysWithinItsBudgets) {
  FixedPrices prices({{"matmul", 100}, {"ewadd", 10}, {"relu", 1}});
  GraphCost cost(prices, nullptr);
  const Graph start = read_graph(kSum);
  for (std::uint64_t budget : {0u, 1u, 3u, 7u}) {
    EXPECT_LE(optimize(start, sum_rules(), *search(GetParam()), cost, {.steps = budget})->search.steps, budget);
    const auto report = optimize(start, sum_rules(), *search(GetParam()), cost, {.candidates = budget + 4});
    EXPECT_LE(report->search.candidates, budget + 4);
  }
  EXPECT_EQ(optimize(start, sum_rules(), *search(GetParam()), cost, {.steps = 0})->search.cost_after_us, 212.0);
}

TEST_P(EverySearch, DependsOnItsSeedAlone) {
  FixedPrices prices({{"matmul", 3}, {"ewadd", 2}, {"relu", 1}, {"concat", 1}, {"split", 0.5}});
  GraphCost cost(prices, nullptr);
  const auto said = [&](std::uint64_t seed, int threads) {
    const auto report = optimize(read_graph(kSum), testing::true_rules(), *search(GetParam()), cost,
                                 {.steps = 6, .seed = seed, .threads = threads});
    return fmt::format("{} {} {}\n{}", report->search.steps, report->search.candidates,
                       fmt::join(names_on(report->search), " "), to_text(report->best));
  };
  for (std::uint64_t seed : {1u, 2u}) {
    EXPECT_EQ(said(seed, 1), said(seed, 1));
    EXPECT_EQ(said(seed, 1), said(seed, 3));
  }
}

TEST_P(EverySearch, HasNothingToDoWithoutRules) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto report = optimize(read_graph(kSum), {}, *search(GetParam()), cost, {.steps = 20});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->search.path.empty());
  EXPECT_EQ(report->search.candidates, 0u);
}

TEST_P(EverySearch, SaysWhatItsOptionsAre) {
  const auto strategy = search(GetParam());
  for (const SearchOption& option : strategy->options()) {
    EXPECT_GE(*option.value, option.least) << option.name;
    EXPECT_LE(*option.value, option.most) << option.name;
    EXPECT_FALSE(option.meaning.empty()) << option.name;
    EXPECT_TRUE(strategy->configure({{option.name, option.least}})) << option.name;
    EXPECT_EQ(*option.value, option.least);
    EXPECT_EQ(*strategy->clone()->options()[0].value, *strategy->options()[0].value) << "a clone has the settings";
  }
  EXPECT_THAT(strategy->configure({{"nonsense", 1.0}}).error().message, HasSubstr(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Plugins, EverySearch,
                         ::testing::Values("backtracking", "greedy", "beam", "annealing", "sampling", "mcts", "egraph"),
                         [](const auto& info) { return std::string(info.param); });

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

TEST(Optimizer, SaysWhyARuleWasRefusedTheFirstTime) {
  Rule wrong = read_rule("(x:2) relu(x) => transpose(x) where x.0 = x.1");
  wrong.precondition.clear();
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto report =
      optimize(read_graph("x = input (2, 3)\ny = input (4, 5)\na = relu(x)\nb = relu(y)\noutput a, b\n"), {wrong},
               *search("greedy"), cost);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->refused.size(), 1u);
  EXPECT_EQ(report->refused[0].times, 2u);
  EXPECT_THAT(report->refused[0].reason, HasSubstr("(2, 3)"));
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

std::vector<Tensor<Field>> values_of(const Graph& graph) {
  Random random(3);
  std::vector<Tensor<Field>> inputs;
  for (const NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Field& value : inputs.back().values()) value = Field::from_integer(random.between(-1000, 1000));
  }
  return *evaluate<Field>(graph, std::span<const Tensor<Field>>(inputs));
}

/// A split into parts of 1, 2, 3, ... rows, some work on each, and their concat, in the same order.
std::string split_and_join(int parts, std::string_view work, bool with_weights) {
  std::string sizes, names, joined, text;
  for (int i = 0; i < parts; ++i) {
    sizes += fmt::format("{}{}", i == 0 ? "" : ", ", i + 1);
    names += fmt::format("{}p{}", i == 0 ? "" : ", ", i);
    joined += fmt::format("{}r{}", i == 0 ? "" : ", ", i);
    text += fmt::format("r{0} = {1}(p{0}{2})\n", i, work, with_weights ? ", w" : "");
  }
  return fmt::format("x = input ({}, 4)\n{}{} = split[sizes=[{}]](x)\n{}j = concat({})\noutput j\n",
                     parts * (parts + 1) / 2, with_weights ? "w = weight (4, 3)\n" : "", names, sizes, text, joined);
}

// The rules join and split two; the models three and five, unequal ones.
TEST(Optimizer, RulesOfTwoPartsServeSplitsAndConcatsOfSeveral) {
  const std::vector<Rule> rules = {read_rule("(x:2, y:2) concat(relu(x), relu(y)) => relu(concat(x, y))"),
                                   read_rule("(x:2, y:2, w:2) concat(matmul(x, w), matmul(y, w)) => "
                                             "matmul(concat(x, y), w)"),
                                   read_rule("(x:2) concat(split[sizes=[s0, s1]](x)) => x")};
  for (const int parts : {3, 5}) {
    for (const bool with_weights : {false, true}) {
      const std::string_view work = with_weights ? "matmul" : "relu";
      const Graph graph = read_graph(split_and_join(parts, work, with_weights));
      FixedPrices prices({{"relu", 10}, {"matmul", 10}, {"split", 2}});
      GraphCost cost(prices, nullptr);
      const auto report = optimize(graph, rules, *search("backtracking"), cost);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->search.cost_before_us, parts * 10 + 3) << "one split, one concat";
      EXPECT_EQ(report->search.path.size(), static_cast<std::size_t>(2 * (parts - 1))) << "two rules for each link";
      EXPECT_EQ(plain_text(report->best),
                plain_text(read_graph(fmt::format("x = input ({}, 4)\n{}r = {}(x{})\noutput r\n",
                                                  parts * (parts + 1) / 2, with_weights ? "w = weight (4, 3)\n" : "",
                                                  work, with_weights ? ", w" : ""))));
      EXPECT_EQ(values_of(report->best)[0].values(), values_of(graph)[0].values());
    }
  }
}

TEST(Optimizer, MergesSeveralProductsAndSplitsThemOnce) {
  const std::vector<Rule> rules = {
      read_rule("(x:2, w:2, v:2) matmul(x, w), matmul(x, v) => split[axis=1, sizes=[w.1, v.1]](matmul(x, "
                "concat[axis=1](w, v)))")};
  std::string text = "x = input (6, 4)\n", outputs;
  for (int i = 0; i < 5; ++i) {
    text += fmt::format("w{0} = weight (4, {1})\nm{0} = matmul(x, w{0})\n", i, 2 * i + 1);
    outputs += fmt::format("{}m{}", i == 0 ? "" : ", ", i);
  }
  const Graph graph = read_graph(text + "output " + outputs + "\n");
  FixedPrices prices({{"matmul", 10}, {"split", 1}, {"concat", 1}});
  GraphCost cost(prices, nullptr);
  const auto report = optimize(graph, rules, *search("greedy"), cost);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->search.cost_after_us, 11) << to_text(report->best);
  EXPECT_EQ(report->best.operator_count(), 3u) << "a concat of the weights, a product, a split\n"
                                               << to_text(report->best);
  const auto before = values_of(graph), after = values_of(report->best);
  for (std::size_t k = 0; k < before.size(); ++k) EXPECT_EQ(before[k].values(), after[k].values()) << k;
}

TEST(Optimizer, ReadsRulesOfSeveralPartsAsItReadsGraphs) {
  FixedPrices prices({{"relu", 10}, {"concat", 1}});
  GraphCost cost(prices, nullptr);
  const Graph graph = read_graph(split_and_join(3, "relu", false));
  const auto report = optimize(
      graph,
      {read_rule("(x:2) let p, q, r = split[sizes=[s0, s1, s2]](x) in concat(relu(p), relu(q), relu(r)) => relu(x)")},
      *search("greedy"), cost);
  EXPECT_EQ(report->best.operator_count(), 1u) << to_text(report->best);
  EXPECT_EQ(values_of(report->best)[0].values(), values_of(graph)[0].values());
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
