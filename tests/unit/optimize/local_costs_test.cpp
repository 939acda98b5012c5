// What a rewrite changes, worked out where it changes it, held against the whole graph after it.
#include "optimize/local_costs.h"

#include <rewright/optimize/search.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "optimize/hash_slopes.h"
#include "optimize/kernel_costs.h"
#include "rewrite/match_table.h"
#include "rewrite/pool_rewriter.h"
#include "support/grown_graph.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"
#include "unit/optimize/nodes_below.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using testing::Grower;
using testing::Random;
using testing::read_graph;
using testing::read_rule;

/// One graph of a pool, and everything that says what a rewrite of it costs.
class Bench {
 public:
  Bench(const Graph& start, const std::vector<Rule>& rule_list, CostModel& model)
      : cost(model, nullptr),
        pool(start),
        rules(rule_list),
        table(pool, rules),
        rewriter(pool, rules),
        whole_costs(cost.kernels(), pool),
        local_costs(cost.kernels(), pool),
        slopes(pool) {
    turn_to({pool.start_outputs().begin(), pool.start_outputs().end()});
  }

  void turn_to(std::vector<Port> now) {
    outputs = std::move(now);
    nodes = testing::nodes_below(pool, outputs);
    matches.clear();
    table.find(nodes, matches);
    if (!local_costs.open(nodes, outputs)) fail("no cost");
    slopes.open(nodes, outputs);
  }

  struct Answer {
    std::int64_t cost;
    std::uint64_t hash;
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  std::optional<Answer> locally(std::size_t move) {
    const std::uint32_t size = pool.size();
    table.read(matches[move], binding);
    std::optional<Answer> answer;
    if (rewriter.change(matches[move].program, binding, change))
      if (const auto found = *local_costs.after(change)) answer = {*found, slopes.after(change.replaced).residue()};
    pool.rollback(size);
    return answer;
  }
  /// The graph stays in the pool.
  std::optional<Answer> wholly(std::size_t move, std::vector<Port>& made) {
    table.read(matches[move], binding);
    if (rewriter.apply(nodes, outputs, matches[move].program, binding, made) != PoolRewriter::Outcome::kDone) return {};
    return Answer{*whole_costs.of(testing::nodes_below(pool, made), made), pool.hash_of(made).residue()};
  }

  GraphCost cost;
  NodePool pool;
  RuleSet rules;
  MatchTable table;
  PoolRewriter rewriter;
  PoolCosts whole_costs;
  LocalCosts local_costs;
  HashSlopes slopes;
  std::vector<Port> outputs;
  std::vector<std::uint32_t> nodes;
  std::vector<MatchRecord> matches;
  Binding binding;
  PoolRewriter::Change change;
};

const std::vector<std::vector<std::string>> kSequences = {
    {"matmul", "ewadd", "relu"}, {"conv2d", "ewadd", "relu"}, {"ewadd", "ewmul"}, {"transpose", "matmul"}};

TEST(LocalCosts, AreThoseOfTheWholeGraphAndSoIsTheHash) {
  FixedPrices prices({{"matmul", 7.25}, {"concat", 0.3}, {"relu", 0.13}, {"split", 0.7}, {"conv2d", 1e4}});
  int looked = 0, local = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    prices.sequences = seed % 3 == 0 ? std::vector<std::vector<std::string>>() : kSequences;
    const Graph start = Grower(seed).graph(static_cast<int>(5 + seed % 16));
    Bench bench(start, testing::true_rules(), prices);
    Random random(seed);
    for (int step = 0; step < 4 && !bench.matches.empty() && bench.nodes.size() < 60; ++step) {
      std::vector<Port> next = bench.outputs, made;
      for (std::size_t move = 0; move < bench.matches.size(); ++move) {
        const auto answer = bench.locally(move);
        const std::uint32_t size = bench.pool.size();
        const auto expected = bench.wholly(move, made);
        ++looked;
        if (answer) {
          ++local;
          ASSERT_TRUE(expected);
          EXPECT_EQ(answer->hash, expected->hash) << "move " << move;
          EXPECT_EQ(answer->cost, expected->cost) << "move " << move;
        }
        if (expected && random.one_in(3)) {
          next = made;  // Stays in the pool, beside what else does.
        } else {
          bench.pool.rollback(size);
        }
      }
      bench.turn_to(next);
    }
  }
  EXPECT_GE(looked, 4000);
  EXPECT_GE(local, looked / 2) << "most changes are local";
}

/// What the only match costs, worked out locally; nothing where that is left to the whole graph.
std::optional<double> local_cost(const std::string& graph, const std::string& rule,
                                 std::vector<std::vector<std::string>> sequences = {}) {
  FixedPrices prices({{"concat", 3}, {"matmul", 10}});
  prices.sequences = std::move(sequences);
  const Graph start = read_graph(graph);
  Bench bench(start, {read_rule(rule)}, prices);
  EXPECT_EQ(bench.matches.size(), 1u);
  const auto answer = bench.locally(0);
  if (!answer) return std::nullopt;
  std::vector<Port> made;
  EXPECT_EQ(*answer, *bench.wholly(0, made));
  return PoolCosts::to_us(answer->cost);
}

TEST(LocalCosts, LeaveSplitsThatBecomeOneToTheWholeGraph) {
  const std::string splits =
      "x = input (6, 4)\ny = input (4, 4)\na, b = split[sizes=[4, 2]](x)\nc, d = split[sizes=[3, 1]](a)\n";
  EXPECT_EQ(local_cost(splits + "r = relu(y)\ns = relu(r)\noutput b, c, d, s\n", "(x:2) relu(relu(x)) => relu(x)"), 2.0)
      << "beside them it is local: one split, one relu";
  EXPECT_EQ(local_cost(splits + "m = matmul(a, y)\noutput b, c, d, m\n", "(x:2, y:2) matmul(x, y) => transpose(y)"),
            std::nullopt)
      << "a is split alone then";
}

TEST(LocalCosts, TellApplicationsApartByAnyOperand) {
  const std::string norms =
      "x = input (2, 3)\ns = input (3)\nb = input (3)\nm = input (3)\nv = input (3)\nw = input (3)\na = relu(x)\n"
      "c = relu(a)\np = batch_norm(a, s, b, m, v)\n";
  EXPECT_EQ(local_cost(norms + "q = batch_norm(c, s, b, m, w)\noutput p, q\n", "(x:2) relu(relu(x)) => relu(x)"), 3.0)
      << "the last operand differs";
  EXPECT_EQ(local_cost(norms + "q = batch_norm(c, s, b, m, v)\noutput p, q\n", "(x:2) relu(relu(x)) => relu(x)"),
            std::nullopt)
      << "two become one";
}

TEST(LocalCosts, KnowTheKernelOfATargetThatUsesWhatIsReplaced) {
  EXPECT_NEAR(*local_cost("x = input (2, 2)\na = relu(x)\nb = tanh(a)\noutput b\n", "(x:2) relu(x) => relu(relu(x))",
                          {{"relu", "relu", "tanh"}}),
              1.2, 1e-6);
  // What is made takes the replaced tensor, and not itself, which would keep it out of the kernel.
  EXPECT_NEAR(*local_cost("x = input (2, 2)\na = relu(x)\nb = exp(a)\noutput b\n", "(x:2) relu(x) => tanh(relu(x))",
                          {{"relu", "tanh"}}),
              2.1, 1e-6);
}

TEST(HashSlopes, TellTheOutputsOfANodeApart) {
  FixedPrices prices;
  const Graph start = read_graph(
      "x = input (1, 2)\ny = input (3, 2)\nc = concat(x, y)\na, b = split[sizes=[1, 3]](c)\n"
      "r = relu(a)\nt = tanh(b)\noutput r, t\n");
  Bench bench(start, {read_rule("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y")}, prices);
  ASSERT_EQ(bench.matches.size(), 1u);
  bench.table.read(bench.matches[0], bench.binding);
  ASSERT_TRUE(bench.rewriter.change(bench.matches[0].program, bench.binding, bench.change));
  std::vector<Port> made;
  EXPECT_EQ(bench.slopes.after(bench.change.replaced).residue(), bench.wholly(0, made)->hash);
}

TEST(LocalCosts, TakeChangesBack) {
  FixedPrices prices({{"matmul", 7.25}});
  prices.sequences = kSequences;
  const Graph start = Grower(7).graph(20);
  Bench bench(start, testing::true_rules(), prices);
  std::vector<std::optional<Bench::Answer>> first;
  for (std::size_t move = 0; move < bench.matches.size(); ++move) first.push_back(bench.locally(move));
  for (std::size_t move = bench.matches.size(); move-- > 0;) EXPECT_EQ(bench.locally(move), first[move]);
}

TEST(LocalCosts, LeaveOutWhatNothingUsesAnyMore) {
  const std::string rule = "(x:2) transpose(transpose(x)) => x";
  EXPECT_NEAR(*local_cost("x = input (2, 3)\na = transpose(x)\nb = transpose(a)\nc = relu(b)\noutput c\n", rule), 1,
              1e-6);
  EXPECT_NEAR(*local_cost("x = input (2, 3)\na = transpose(x)\nb = transpose(a)\nc = relu(b)\noutput c, a\n", rule), 2,
              1e-6);
}

TEST(LocalCosts, KnowWhenAKernelIsSplitOrJoined) {
  // The product has one user before the relus become one, and the kernel reaches to the end.
  const std::string relus = "(x:2) relu(relu(x)) => relu(x)";
  EXPECT_NEAR(*local_cost("x = input (2, 2)\nw = weight (2, 2)\na = matmul(x, w)\nb = relu(a)\nc = relu(b)\n"
                          "d = transpose(c)\noutput d\n",
                          relus, {{"matmul", "relu", "transpose"}}),
              10.2, 1e-6);
  // A second user of the product ends its kernel.
  EXPECT_NEAR(*local_cost("x = input (2, 2)\nw = weight (2, 2)\na = matmul(x, w)\nb = relu(a)\nc = transpose(a)\n"
                          "d = transpose(c)\nf = tanh(d)\noutput b, f\n",
                          "(x:2) transpose(transpose(x)) => x", {{"matmul", "relu"}}),
              12, 1e-6);
}

TEST(LocalCosts, LeaveGraphsOfInfiniteCostToTheWholeGraph) {
  FixedPrices prices({{"exp", std::numeric_limits<double>::infinity()}});
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule("(x:2) tanh(x) => exp(x)"), read_rule("(x:2) relu(relu(x)) => relu(x)")}, cost);
  const Graph start = read_graph("x = input (2, 2)\na = relu(x)\nb = relu(a)\nc = tanh(b)\noutput c\n");
  const auto space = *engine.open(start);
  const auto by = [&](SearchSpace::State from, std::size_t rule) {
    for (std::size_t move = 0; move < space->move_count(from); ++move)
      if (space->rule_of(from, move) == rule) return move;
    fail("no such match");
  };
  for (int i = 0; i < 5; ++i)  // The first looks are made in full.
    EXPECT_EQ(space->look(SearchSpace::kStart, by(SearchSpace::kStart, 1))->cost_us, 2);
  const SearchSpace::State infinite = **space->enter(SearchSpace::kStart, by(SearchSpace::kStart, 0));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(space->look(infinite, by(infinite, 1))->cost_us, PoolCosts::to_us(PoolCosts::kMost));
}

TEST(LocalCosts, JoinConcatsOfConcats) {
  EXPECT_NEAR(*local_cost("x = input (1, 2)\ny = input (1, 2)\nz = input (1, 2)\na = concat(x, y)\nb = relu(a)\n"
                          "c = relu(b)\nd = concat(c, z)\noutput d\n",
                          "(x:2) relu(relu(x)) => x"),
              3, 1e-6);
}

TEST(LocalCosts, LeaveToTheWholeGraphWhereApplicationsBecomeOne) {
  EXPECT_FALSE(
      local_cost("x = input (2, 2)\na = transpose(x)\nb = transpose(a)\nc = relu(b)\nd = relu(x)\n"
                 "e = ewmul(c, d)\noutput e\n",
                 "(x:2) transpose(transpose(x)) => x"));
}

TEST(LocalCosts, MayMakeSomethingFromWhatIsReplaced) {
  // relu(x) becomes relu(relu(x)), of which the inner one is what is replaced.
  const std::string rule = "(x:2) relu(x) => relu(relu(x))";
  EXPECT_NEAR(*local_cost("x = input (2, 2)\na = relu(x)\nb = transpose(a)\noutput b\n", rule), 3, 1e-6);
  FixedPrices prices;
  const Graph start = read_graph("x = input (2, 2)\na = relu(x)\nb = relu(a)\noutput b\n");
  Bench bench(start, {read_rule(rule)}, prices);
  ASSERT_EQ(bench.matches.size(), 2u);
  EXPECT_FALSE(bench.locally(0)) << "the outer one is there, and its operand would be replaced";
  EXPECT_TRUE(bench.locally(1));
}

TEST(SearchSpace, LooksTheSameAgainWhetherWhollyOrLocally) {
  // The first looks from a state are made in full, the others where something changes.
  FixedPrices prices({{"matmul", 7.25}, {"relu", 0.1}});
  GraphCost cost(prices, nullptr);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Graph start = Grower(seed).graph(14);
    SearchEngine engine(testing::true_rules(), cost);
    const auto twice = *engine.open(start);
    for (std::size_t move = 0; move < twice->move_count(SearchSpace::kStart); ++move) {
      const auto in_full = (*engine.open(start))->look(SearchSpace::kStart, move);
      const auto here = twice->look(SearchSpace::kStart, move);
      EXPECT_EQ(here->possible, in_full->possible);
      EXPECT_EQ(here->cost_us, in_full->cost_us);
    }
  }
}

}  // namespace
}  // namespace rewright
