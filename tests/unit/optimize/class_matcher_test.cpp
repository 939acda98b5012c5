// Matches in the classes of an e-graph: which are found, and which are none.
#include <gtest/gtest.h>
#include <rewright/program_egraph.h>

#include "support/true_rules.h"
#include "unit/optimize/fixed_prices.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using testing::read_graph;
using testing::read_rule;

/// In the first round.
std::uint64_t matches(const std::string& graph, const std::string& rule) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule(rule)}, cost);
  const Graph start = read_graph(graph);
  auto egraph = ProgramEGraph::create(engine, start);
  if (!egraph) fail(egraph.error().message);
  return egraph->round(true, {}, [] { return true; })->matches;
}

const char* const kBranches =
    "(x:2, v:2, w:2) matmul(x, v), matmul(x, w) => split[axis=1, sizes=[v.1, w.1]](matmul(x, concat[axis=1](v, w)))";
const char* const kParts =
    "(x:2) let p, q = split[sizes=[s0, s1]](x) in relu(p), tanh(q) => let p, q = split[sizes=[s0, s1]](x) in "
    "relu(relu(p)), tanh(q)";

TEST(ClassMatcher, FindsPartsInEitherOrder) {
  const std::string two = "x = input (2, 2)\nv = weight (2, 2)\nw = weight (2, 2)\na = matmul(x, v)\n";
  EXPECT_EQ(matches(two + "b = matmul(x, w)\noutput a, b\n", kBranches), 2u);
  EXPECT_EQ(matches(two + "output a\n", kBranches), 0u) << "an output twice is no two outputs";
}

TEST(ClassMatcher, TakesNoTwoNodesThatGiveOneTensorForTwoOutputs) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule("(x:2) tanh(x) => relu(x)"), read_rule("(x:2) relu(x), tanh(x) => exp(x), neg(x)")},
                      cost);
  const Graph start = read_graph("x = input (2, 2)\na = relu(x)\nb = tanh(x)\noutput a, b\n");
  auto egraph = ProgramEGraph::create(engine, start);
  ASSERT_TRUE(egraph) << egraph.error().message;
  const auto go_on = [] { return true; };
  EXPECT_EQ(egraph->round(false, {}, go_on)->matches, 1u) << "a and b are one tensor from here on";
  EXPECT_EQ(egraph->round(true, {}, go_on)->matches, 1u) << "tanh again, and not the pair";
}

TEST(ProgramEGraph, BeginsWithTheChoicesOfTheStartGraph) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule("(x:2) relu(relu(x)) => relu(x)")}, cost);
  ASSERT_EQ(engine.rules().size(), 1u);
  EXPECT_EQ(to_text(engine.rules()[0]), "(x:2) relu(relu(x)) => relu(x)");
  const Graph start = read_graph("x = input (2, 2)\na = relu(x)\nb = relu(a)\noutput b\n");
  auto egraph = ProgramEGraph::create(engine, start);
  ASSERT_TRUE(egraph) << egraph.error().message;
  const auto nodes = [&] { return egraph->graph(egraph->start())->nodes().size(); };
  EXPECT_EQ(nodes(), start.nodes().size());
  EXPECT_TRUE(egraph->round(false, {}, [] { return true; })->changed);
  EXPECT_EQ(nodes(), 2u) << "a and b are one class, and the first computes it";
}

TEST(ClassMatcher, TakesOneNodeForANodeThatPartsShare) {
  const std::string splits =
      "x = input (4, 4)\na, b = split[sizes=[2, 2]](x)\nc, d = split[sizes=[1, 3]](x)\nr = relu(a)\n";
  EXPECT_EQ(matches(splits + "t = tanh(b)\noutput r, t, c\n", kParts), 1u);
  EXPECT_EQ(matches(splits + "t = tanh(d)\noutput r, t, c\n", kParts), 0u) << "a and d are of two splits";
}

TEST(ClassMatcher, ExchangesOperandsThatDiffer) {
  const std::string rule = "(x:2, y:2) ewadd(x, y) => ewmul(x, y)";
  const std::string inputs = "x = input (2, 2)\ny = input (2, 2)\n";
  EXPECT_EQ(matches(inputs + "a = ewadd(x, y)\noutput a\n", rule), 2u);
  EXPECT_EQ(matches(inputs + "a = ewadd(x, x)\noutput a\n", rule), 1u);
}

}  // namespace
}  // namespace rewright
