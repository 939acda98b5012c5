// The space that searches walk, held against matching every rule anew in the whole graph.
#include <rewright/optimize/random_walk.h>
#include <rewright/optimize/search.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "rewrite/node_pool.h"
#include "support/grown_graph.h"
#include "support/isomorphism.h"
#include "support/rewriter.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

using testing::FixedPrices;
using testing::Grower;
using testing::Random;
using testing::read_graph;
using testing::read_rule;

/// One text for graphs that differ in names and the order of nodes and operands alone; equal applications are one.
std::string form_of(const Graph& graph) {
  const NodePool pool(graph);
  return to_text(canonical(*pool.graph(pool.start_outputs())));
}

/// By rule and graph one rewrite away: how many matches lead there.
using Neighbours = std::map<std::pair<std::size_t, std::string>, int>;

Neighbours found_anew(const Rewriter& rewriter, const Graph& graph) {
  Neighbours neighbours;
  for (const Match& match : rewriter.matches(graph))
    if (const auto replaced = rewriter.apply(graph, match)) ++neighbours[{match.rule, form_of(*replaced)}];
  return neighbours;
}

Neighbours found_in_space(SearchSpace& space, SearchSpace::State state) {
  Neighbours neighbours;
  for (std::size_t move = 0; move < space.move_count(state); ++move) {
    const auto next = space.enter(state, move);
    if (*next) ++neighbours[{space.rule_of(state, move), form_of(*space.graph(**next))}];
  }
  return neighbours;
}

TEST(SearchSpace, FindsOnItsWayWhatMatchingAnewFinds) {
  const std::vector<Rule> all = testing::true_rules();
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Graph grown = Grower(seed).graph(static_cast<int>(4 + seed % 9));
    const NodePool pool(grown);
    const Graph start = *pool.graph(pool.start_outputs());
    Random random(seed * 31);
    std::vector<Rule> rules;
    for (const Rule& rule : all)
      if (!random.one_in(3)) rules.push_back(rule);
    const Rewriter rewriter(rules);
    FixedPrices prices;
    GraphCost cost(prices, nullptr);
    SearchEngine engine(rules, cost);
    const auto space = *engine.open(start);
    SearchSpace::State state = SearchSpace::kStart;
    for (int step = 0; step < 6; ++step) {
      const Graph graph = *space->graph(state);
      if (graph.nodes().size() > 40) break;
      const Neighbours in_space = found_in_space(*space, state);
      ASSERT_EQ(in_space, found_anew(rewriter, graph)) << to_text(graph);
      for (const auto& [neighbour, times] : in_space) compared += times;
      if (space->move_count(state) == 0) break;
      const auto next = *space->enter(
          state, static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(space->move_count(state)) - 1)));
      if (next) state = *next;
    }
  }
  EXPECT_GE(compared, 1500);
}

TEST(SearchSpace, CostsWhatTheWholeGraphCosts) {
  FixedPrices prices({{"matmul", 7.25}, {"concat", 0.3}, {"relu", 0.1}, {"conv2d", 1e4}});
  GraphCost cost(prices, nullptr);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Graph start = Grower(seed).graph(12);
    SearchEngine engine(testing::true_rules(), cost);
    const auto space = *engine.open(start);
    for (std::size_t move = 0; move < space->move_count(SearchSpace::kStart); ++move) {
      const SearchSpace::Look look = *space->look(SearchSpace::kStart, move);
      const auto state = *space->enter(SearchSpace::kStart, move);
      ASSERT_EQ(look.possible, state.has_value());
      if (!state) continue;
      EXPECT_EQ(look.cost_us, space->cost_us(*state));
      EXPECT_NEAR(look.cost_us, *cost.cost_us(*space->graph(*state)), 1e-6);
    }
  }
}

/// Sixty moves, most of them taken; then the best graph and the way to it.
SearchResult walked(const Graph& start, GraphCost& cost, std::size_t most_nodes) {
  SearchEngine engine(testing::true_rules(), cost);
  const SearchProblem problem{start, engine};
  RandomWalk walk = *RandomWalk::begin(problem, most_nodes);
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    const double before = walk.cost_us();
    EXPECT_TRUE(walk.propose(random, [&](double after) { return i % 3 != 0 || after <= before; }));
    if (i % 20 == 19) {
      EXPECT_TRUE(walk.back_to_best());
    }
  }
  return *walk.finish();
}

TEST(RandomWalk, GoesOnInFreshSpacesFromTheSameGraphs) {
  FixedPrices prices({{"matmul", 7.25}, {"concat", 0.3}, {"relu", 0.1}, {"conv2d", 1e4}});
  GraphCost cost(prices, nullptr);
  std::size_t steps = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Graph start = Grower(seed).graph(12);
    const double start_us = *cost.cost_us(start);
    for (const std::size_t most_nodes : {RandomWalk::kMostNodes, std::size_t{40}, std::size_t{1}}) {
      const SearchResult result = walked(start, cost, most_nodes);
      EXPECT_EQ(result.cost_before_us, start_us);
      EXPECT_NEAR(result.cost_after_us, *cost.cost_us(result.best), 1e-6);
      EXPECT_LE(result.cost_after_us, start_us);
      double before_us = start_us;
      for (const RewriteStep& step : result.path) {
        EXPECT_NEAR(step.cost_before_us, before_us, 1e-6) << "a way without gaps";
        EXPECT_NEAR(step.cost_after_us, *cost.cost_us(step.graph), 1e-6);
        before_us = step.cost_after_us;
      }
      EXPECT_NEAR(before_us, result.cost_after_us, 1e-6);
      steps += result.path.size();
    }
  }
  EXPECT_GT(steps, 50u);
}

TEST(SearchSpace, LeavesNoTraceOfWhatItOnlyLookedAt) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const Graph start = Grower(5).graph(14);
  SearchEngine engine(testing::true_rules(), cost);
  const auto space = *engine.open(start);
  const std::size_t nodes = space->node_count();
  for (std::size_t move = 0; move < space->move_count(SearchSpace::kStart); ++move)
    ASSERT_TRUE(space->look_for_new(SearchSpace::kStart, move));
  EXPECT_EQ(space->node_count(), nodes);
}

TEST(SearchSpace, KnowsAGraphWhicheverWayItIsReached) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const Graph start = read_graph(
      "x = input (2, 3)\ny = input (2, 3)\na = relu(x)\nb = transpose(a)\nc = relu(y)\nd = transpose(c)\noutput b, "
      "d\n");
  SearchEngine engine({read_rule("(x:2) transpose(relu(x)) => relu(transpose(x))")}, cost);
  const auto space = *engine.open(start);
  ASSERT_EQ(space->move_count(SearchSpace::kStart), 2u);
  std::vector<SearchSpace::State> ways;
  for (std::size_t first : {0u, 1u}) {
    EXPECT_FALSE(space->look_for_new(SearchSpace::kStart, first)->known);
    ways.push_back(**space->enter(SearchSpace::kStart, first));
  }
  EXPECT_FALSE(space->look_for_new(ways[0], 0)->known);
  EXPECT_TRUE(space->look_for_new(ways[1], 0)->known);
  EXPECT_TRUE(space->look_for_new(SearchSpace::kStart, 0)->known);
}

TEST(SearchSpace, TakesNoHashForEquality) {
  // Hashes are linear, and so those of these two neighbours are equal; the graphs are not.
  const std::string inputs = "x = input (2, 2)\ny = input (2, 2)\n";
  const Graph start = read_graph(inputs +
                                 "a = transpose(x)\nb = relu(a)\nc = transpose(y)\nd = relu(c)\ns = ewadd(b, d)\n"
                                 "output s\n");
  const std::vector<Rule> rules = {read_rule("(x:2) relu(transpose(x)) => transpose(relu(x))")};
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine(rules, cost);
  const auto space = *engine.open(start);
  ASSERT_EQ(space->move_count(SearchSpace::kStart), 2u);
  std::vector<std::uint64_t> hashes;
  for (std::size_t move : {0u, 1u}) {
    EXPECT_FALSE(space->look_for_new(SearchSpace::kStart, move)->known);
    const Graph next = *space->graph(**space->enter(SearchSpace::kStart, move));
    const NodePool pool(next);
    hashes.push_back(pool.hash_of(pool.start_outputs()).residue());
  }
  EXPECT_EQ(hashes[0], hashes[1]) << "otherwise this test says nothing";
}

TEST(SearchSpace, TellsManyGraphsOfOneHashApart) {
  // One leaf after the other of a balanced sum: whichever comes first, the linear hash is the same.
  constexpr std::size_t kLeaves = 16;
  std::string text, nodes;
  std::vector<std::string> level;
  for (std::size_t i = 0; i < kLeaves; ++i) {
    text += fmt::format("x{} = input (2, 2)\n", i);
    nodes += fmt::format("a{0} = transpose(x{0})\nb{0} = relu(a{0})\n", i);
    level.push_back(fmt::format("b{}", i));
  }
  while (level.size() > 1) {
    std::vector<std::string> sums;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      sums.push_back(fmt::format("s{}_{}", level.size(), i));
      nodes += fmt::format("{} = ewadd({}, {})\n", sums.back(), level[i], level[i + 1]);
    }
    level = sums;
  }
  const Graph start = read_graph(text + nodes + "output " + level[0] + "\n");
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule("(x:2) relu(transpose(x)) => transpose(relu(x))")}, cost);
  const auto space = *engine.open(start);
  ASSERT_EQ(space->move_count(SearchSpace::kStart), kLeaves);
  std::vector<SearchSpace::State> neighbours;
  for (std::size_t move = 0; move < kLeaves; ++move) {
    EXPECT_FALSE(space->look_for_new(SearchSpace::kStart, move)->known) << move;
    neighbours.push_back(**space->enter(SearchSpace::kStart, move));
  }
  for (std::size_t move = 0; move < kLeaves; ++move)
    EXPECT_TRUE(space->look_for_new(SearchSpace::kStart, move)->known) << move;
  std::size_t news = 0;
  for (const SearchSpace::State state : neighbours)
    for (std::size_t move = 0; move < space->move_count(state); ++move)
      if (!space->look_for_new(state, move)->known) ++news;
  EXPECT_EQ(news, kLeaves * (kLeaves - 1) / 2) << "the second leaf in either order";
}

TEST(SearchSpace, AsksTheCostModelForWholeGraphsWhereCostsDoNotAddUp) {
  // A graph of several operators costs less than its operators one by one.
  class Bundled final : public CostModel {
   public:
    [[nodiscard]] std::string name() const override { return "bundled"; }
    [[nodiscard]] std::string summary() const override { return ""; }
    [[nodiscard]] std::string device() const override { return ""; }
    [[nodiscard]] bool measured() const override { return false; }
    Status configure(const Options&, const Registry&) override { return {}; }
    [[nodiscard]] Result<double> cost_us(const Application&) override { return asked_++ == 0 ? 1.0 : 5.0; }
    [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Bundled>(); }

   private:
    int asked_ = 0;
  } model;
  GraphCost cost(model, nullptr);
  SearchEngine engine({read_rule("(x:2) relu(relu(x)) => relu(x)")}, cost);
  const Graph start = read_graph("x = input (2, 3)\na = relu(x)\nb = relu(a)\nc = transpose(b)\noutput c\n");
  const auto space = *engine.open(start);
  EXPECT_NEAR(space->cost_us(SearchSpace::kStart), *cost.cost_us(start), 1e-6);
}

TEST(SearchEngine, SaysWhichRulesItCouldNotUse) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)")}, cost);
  EXPECT_THAT(engine.unusable(), ::testing::ElementsAre(::testing::HasSubstr("order of operands")));
}

TEST(NodePool, KeepsEqualApplicationsOnce) {
  const auto hash = [](const std::string& rest) {
    const Graph graph = read_graph("x = input (2, 2)\ny = input (2, 2)\n" + rest);
    const NodePool pool(graph);
    return std::pair(pool.size(), pool.start_outputs()[0]);
  };
  EXPECT_EQ(hash("s = ewadd(x, y)\nt = ewadd(y, x)\np = ewmul(s, t)\noutput p\n").first, 4u);
  EXPECT_EQ(hash("s = matmul(x, y)\nt = matmul(y, x)\np = ewmul(s, t)\noutput p\n").first, 5u);
}

TEST(NodePool, KeysTellSumsApartThatExchangeOperands) {
  const auto pool_of = [](const std::string& sums) {
    return NodePool(read_graph("a = input (2, 2)\nb = input (2, 2)\nc = input (2, 2)\nd = input (2, 2)\n" + sums +
                               "s = ewadd(p, q)\noutput s\n"));
  };
  const auto key = [&](const std::string& sums) {
    const NodePool pool = pool_of(sums);
    return pool.key_of(pool.start_outputs());
  };
  const auto hash = [&](const std::string& sums) {
    const NodePool pool = pool_of(sums);
    return pool.hash_of(pool.start_outputs()).residue();
  };
  const std::string sums = "p = ewadd(a, b)\nq = ewadd(c, d)\n", exchanged = "p = ewadd(a, c)\nq = ewadd(b, d)\n";
  EXPECT_EQ(hash(sums), hash(exchanged)) << "otherwise this test says nothing";
  EXPECT_NE(key(sums), key(exchanged));
  EXPECT_EQ(key(sums), key("q = ewadd(b, a)\np = ewadd(d, c)\n"));
}

TEST(NodePool, TakesBackWhatWasAddedLast) {
  const Graph graph = read_graph("x = input (2, 2)\na = relu(x)\noutput a\n");
  NodePool pool(graph);
  const Operator& relu = testing::operator_named("relu");
  const LabelId label = pool.label_of(relu, Params());
  std::vector<Port> last = {pool.start_outputs()[0]};
  for (int i = 0; i < 5000; ++i) last = {Port{{*pool.add(label, last)}, 0}};  // The table grows on the way.
  const Port deep = last[0];
  pool.rollback(2);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.add(label, std::vector<Port>{Port{{0}, 0}}), 1u) << "what stays is found";
  last = {pool.start_outputs()[0]};
  for (int i = 0; i < 5000; ++i) last = {Port{{*pool.add(label, last)}, 0}};
  EXPECT_EQ(last[0], deep);
}

TEST(SearchSpace, MakesNoOutputThatNothingNeedsAnyMore) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine({read_rule("(x:2) let t = transpose(x) in t, relu(t) => tanh(transpose(x)), transpose(relu(x))")},
                      cost);
  const Graph start = read_graph("x = input (2, 3)\na = transpose(x)\nb = relu(a)\noutput b\n");
  const auto space = *engine.open(start);
  ASSERT_EQ(space->move_count(SearchSpace::kStart), 1u);
  const auto state = *space->enter(SearchSpace::kStart, 0);
  ASSERT_TRUE(state) << engine.refused().at(0).reason;
  EXPECT_EQ(space->cost_us(*state), 2) << "relu and transpose; the tanh is left out";
}

TEST(SearchSpace, APathGoesByNoDetour) {
  FixedPrices prices;
  GraphCost cost(prices, nullptr);
  SearchEngine engine(
      {read_rule("(x:2) relu(transpose(x)) => transpose(relu(x))"),
       read_rule("(x:2) transpose(relu(x)) => relu(transpose(x))"), read_rule("(x:2) tanh(x) => relu(x)")},
      cost);
  const Graph start = read_graph("x = input (2, 2)\na = relu(x)\nb = transpose(a)\nc = tanh(b)\noutput c\n");
  const auto space = *engine.open(start);
  const auto by = [&](SearchSpace::State from, std::size_t rule) {
    for (std::size_t move = 0; move < space->move_count(from); ++move)
      if (space->rule_of(from, move) == rule) return **space->enter(from, move);
    fail("no such match");
  };
  const SearchSpace::State away = by(SearchSpace::kStart, 1), back = by(away, 0), on = by(back, 2);
  EXPECT_EQ(space->path(away)->size(), 1u);
  EXPECT_EQ(space->path(back)->size(), 0u) << "it is the start again";
  EXPECT_EQ(space->path(on)->size(), 1u);
}

}  // namespace
}  // namespace rewright
