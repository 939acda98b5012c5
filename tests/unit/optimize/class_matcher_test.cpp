// Matches in the classes of an e-graph: which are found, and which are none.
#include <rewright/optimize/program_egraph.h>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/true_rules.h"
#include "support/fixed_prices.h"

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

/// The same product twice: one class of two choices, of which the start makes the first.
struct Twice {
  FixedPrices prices;
  GraphCost cost{prices, nullptr};
  SearchEngine engine{{read_rule("(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))")}, cost};
  Graph start = read_graph(
      "x = input (2, 2)\ny = input (2, 2)\nz = input (2, 2)\nm = matmul(x, y)\na = matmul(m, z)\n"
      "n = matmul(y, z)\nb = matmul(x, n)\nr = relu(a)\ns = tanh(b)\noutput r, s\n");
  Result<ProgramEGraph> egraph = ProgramEGraph::create(engine, start);
  Twice() {
    if (!egraph->round(false, {}, [] { return true; })->changed) fail("nothing was joined");
  }
  /// The class that a choice gives, of a tensor that has another choice.
  [[nodiscard]] std::pair<ProgramEGraph::Class, std::int32_t> other_choice() const {
    const auto choices = egraph->choices();
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const ProgramEGraph::Class of = choices[i].outputs[0];
      if (egraph->start()[of] != static_cast<std::int32_t>(i)) return {of, static_cast<std::int32_t>(i)};
    }
    fail("each tensor has one choice");
  }
};

TEST(ProgramEGraph, NamesTheRuleThatJoinedTwoTensorsOfTheStart) {
  const Twice twice;
  std::vector<std::int32_t> selection(twice.egraph->start().begin(), twice.egraph->start().end());
  const auto [of, choice] = twice.other_choice();
  selection[of] = choice;
  const auto path = twice.egraph->path(selection);
  ASSERT_TRUE(path) << path.error().message;
  ASSERT_EQ(path->size(), 2u) << "both tensors become the first, then both the second";
  for (const RewriteStep& step : *path) EXPECT_EQ(step.rule_id, twice.engine.rules()[0].id);
  EXPECT_EQ(structural_hash(path->back().graph), structural_hash(*twice.egraph->graph(selection)));
}

TEST(ProgramEGraph, TakesNoSelectionThatIsNoGraph) {
  const Twice twice;
  const std::vector<std::int32_t> start(twice.egraph->start().begin(), twice.egraph->start().end());
  const auto error_without = [&](ProgramEGraph::Class of, std::int32_t choice) {
    std::vector<std::int32_t> selection = start;
    selection[of] = choice;
    const auto graph = twice.egraph->graph(selection);
    return graph ? "none" : graph.error().message;
  };
  const ProgramEGraph::Class output = twice.egraph->outputs()[0];
  const std::int32_t relu = start[output];
  const ProgramEGraph::Class sum = twice.egraph->choices()[static_cast<std::size_t>(relu)].operands[0];
  EXPECT_EQ(error_without(output, -1), "an output of the graph is not chosen");
  EXPECT_EQ(error_without(sum, -1), "what is chosen from the e-graph is no graph");
  EXPECT_EQ(error_without(sum, relu), "what is chosen from the e-graph is no graph") << "relu of itself";
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
