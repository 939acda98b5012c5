// Graphs that are compared without being made, held against the same graphs made.
#include "optimize/graph_comparison.h"

#include <gtest/gtest.h>

#include "rewrite/match_table.h"
#include "support/grown_graph.h"
#include "support/true_rules.h"
#include "unit/optimize/nodes_below.h"

namespace rewright {
namespace {

using testing::Grower;
using testing::read_graph;
using testing::read_rule;

/// Graphs of one pool, each with what one rewrite makes of it.
class Bench {
 public:
  struct Changed {
    std::vector<Port> from;
    PoolRewriter::Change change;
    std::vector<Port> made;  ///< The same, made.
  };

  Bench(const Graph& start, const std::vector<Rule>& rule_list)
      : pool(start), rules(rule_list), table(pool, rules), rewriter(pool, rules), comparison(pool) {
    look_around({pool.start_outputs().begin(), pool.start_outputs().end()});
  }

  void look_around(const std::vector<Port>& outputs) {
    const std::vector<std::uint32_t> nodes = testing::nodes_below(pool, outputs);
    std::vector<MatchRecord> matches;
    table.find(nodes, matches);
    for (const MatchRecord& match : matches) {
      Binding binding;
      table.read(match, binding);
      Changed changed{outputs, {}, {}};
      if (!rewriter.change(match.program, binding, changed.change)) continue;
      if (rewriter.apply(nodes, outputs, match.program, binding, changed.made) != PoolRewriter::Outcome::kDone)
        fail("a change that is no rewrite");
      all.push_back(std::move(changed));
    }
  }
  [[nodiscard]] bool equal(const Changed& a, const Changed& b) {
    return comparison.equal({a.from, a.change.replaced}, {b.from, b.change.replaced});
  }
  [[nodiscard]] bool is_already(const Changed& a, const std::vector<Port>& graph) {
    return comparison.equal({a.from, a.change.replaced}, {graph, {}});
  }

  NodePool pool;
  RuleSet rules;
  MatchTable table;
  PoolRewriter rewriter;
  GraphComparison comparison;
  std::vector<Changed> all;
};

TEST(GraphComparison, SaysWhatMakingBothGraphsSays) {
  int same = 0, different = 0, across = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph start = Grower(seed).graph(static_cast<int>(5 + seed % 12));
    Bench bench(start, testing::true_rules());
    const std::size_t first = std::min<std::size_t>(bench.all.size(), 6);
    for (std::size_t i = 0; i < first; ++i) bench.look_around(std::vector<Port>(bench.all[i].made));
    for (std::size_t i = 0; i < bench.all.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const Bench::Changed &a = bench.all[i], &b = bench.all[j];
        const bool expected = a.made == b.made;
        ASSERT_EQ(bench.equal(a, b), expected) << i << ", " << j;
        ASSERT_EQ(bench.is_already(a, b.made), expected) << i << ", " << j;
        ++(expected ? same : different);
        across += expected && a.from != b.from ? 1 : 0;
      }
  }
  EXPECT_GE(same, 1000);
  EXPECT_GE(across, 250) << "graphs that two ways lead to";
  EXPECT_GE(different, 10'000);
}

TEST(GraphComparison, TakesOperandsThatCommuteInEitherOrder) {
  Bench bench(read_graph("x = input (2, 2)\ny = input (2, 2)\na = transpose(x)\nb = transpose(a)\nc = relu(y)\n"
                         "d = ewadd(b, c)\ne = ewadd(c, x)\noutput d, e\n"),
              {read_rule("(x:2) transpose(transpose(x)) => x")});
  ASSERT_EQ(bench.all.size(), 1u);
  const std::vector<Port> made = bench.all[0].made;
  EXPECT_EQ(made[0], made[1]) << "one node, with the operands as e has them";
  EXPECT_TRUE(bench.is_already(bench.all[0], made));
  EXPECT_FALSE(bench.is_already(bench.all[0], bench.all[0].from));
}

/// Every sum of two sums like it: trying both orders of each without remembering would take 2^40 steps.
TEST(GraphComparison, RemembersWhatItHasCompared) {
  std::string text = "x = input (2, 2)\na = transpose(x)\nb = transpose(a)\nr0 = relu(b)\ns0 = tanh(b)\n";
  for (int i = 1; i <= 40; ++i) text += fmt::format("r{0} = ewadd(r{1}, s{1})\ns{0} = ewmul(r{1}, s{1})\n", i, i - 1);
  Bench bench(read_graph(text + "output r40, s40\n"), {read_rule("(x:2) transpose(transpose(x)) => x")});
  ASSERT_EQ(bench.all.size(), 1u);
  EXPECT_TRUE(bench.is_already(bench.all[0], bench.all[0].made));
  std::vector<Port> exchanged = {bench.all[0].made[1], bench.all[0].made[0]};
  EXPECT_FALSE(bench.is_already(bench.all[0], exchanged));
}

TEST(GraphComparison, IsNoMatterOfDepth) {
  std::string text = "x = input (2, 2)\na = transpose(x)\nb = transpose(a)\nr0 = relu(b)\n";
  for (int i = 1; i <= 20'000; ++i) text += fmt::format("r{} = tanh(r{})\n", i, i - 1);
  Bench bench(read_graph(text + "output r20000\n"), {read_rule("(x:2) transpose(transpose(x)) => x")});
  ASSERT_EQ(bench.all.size(), 1u);
  EXPECT_TRUE(bench.is_already(bench.all[0], bench.all[0].made));
  EXPECT_FALSE(bench.is_already(bench.all[0], bench.all[0].from));
}

}  // namespace
}  // namespace rewright
