// Data layouts: how they are chosen, what they cost, what of them is written.
#include "optimize/layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "optimize/chain_form.h"
#include "optimize/kernel_layouts.h"
#include "optimize/optimizer.h"
#include "optimize/pbqp.h"
#include "support/random.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

using testing::loaded;
using testing::Random;
using testing::read_graph;
using testing::read_rule;

// --- the choice ------------------------------------------------------------------------------------------------

struct Problem {
  std::vector<Pbqp::Own> nodes;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, Pbqp::Pair>> edges;

  [[nodiscard]] Pbqp::Choice solve() const {
    Pbqp pbqp;
    for (const Pbqp::Own& own : nodes) static_cast<void>(pbqp.add(own));
    for (const auto& [a, b, pair] : edges) pbqp.join(a, b, pair);
    return pbqp.solve();
  }
  [[nodiscard]] std::int64_t cost(const std::vector<std::uint8_t>& states) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) sum += nodes[i][states[i]];
    for (const auto& [a, b, pair] : edges) sum += pair[states[a]][states[b]];
    return sum;
  }
  [[nodiscard]] std::int64_t least() const {
    std::vector<std::uint8_t> states(nodes.size(), 0);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (;;) {
      best = std::min(best, cost(states));
      std::size_t i = 0;
      while (i < states.size() && ++states[i] == 3) states[i++] = 0;
      if (i == states.size()) return best;
    }
  }
};

/// Of nodes with three states.
Problem random_problem(std::uint64_t seed, bool tree) {
  Random random(seed);
  Problem problem;
  const auto count = static_cast<std::uint32_t>(random.between(1, 7));
  for (std::uint32_t i = 0; i < count; ++i) {
    Pbqp::Own own;
    own.fill(Pbqp::kBarred);
    for (std::size_t s = 0; s < 3; ++s) own[s] = random.between(-5, 20);
    problem.nodes.push_back(own);
    const std::uint32_t others = tree ? std::min(i, 1U) : i;
    for (std::uint32_t n = 0; n < others; ++n) {
      const auto j = tree ? static_cast<std::uint32_t>(random.between(0, i - 1)) : n;
      if (!tree && random.one_in(3)) continue;
      Pbqp::Pair pair;
      for (Pbqp::Own& row : pair)
        for (std::int64_t& cost : row) cost = random.between(-5, 20);
      problem.edges.emplace_back(j, i, pair);
    }
  }
  return problem;
}

TEST(Pbqp, IsExactOnTrees) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Problem problem = random_problem(seed, true);
    const Pbqp::Choice choice = problem.solve();
    EXPECT_EQ(choice.cost, problem.least()) << "seed " << seed;
    EXPECT_EQ(choice.cost, problem.cost(choice.states)) << "seed " << seed;
  }
}

TEST(Pbqp, SaysWhatItsChoiceCostsAndComesCloseOnAnyGraph) {
  std::int64_t more = 0, nodes = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Problem problem = random_problem(seed, false);
    const Pbqp::Choice choice = problem.solve();
    EXPECT_EQ(choice.cost, problem.cost(choice.states)) << "seed " << seed;
    EXPECT_GE(choice.cost, problem.least()) << "seed " << seed;
    more += choice.cost - problem.least();
    nodes += static_cast<std::int64_t>(problem.nodes.size());
  }
  EXPECT_LT(more, nodes / 2) << "costs are of -5 to 20";
}

// --- kernels and graphs ----------------------------------------------------------------------------------------

/// Convolutions cost 10, with their channels last on both sides 4, of 1 x 1 kernels 5 and 20; products take any layout;
/// everything else costs 1.
class LayoutPrices final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "layouts"; }
  [[nodiscard]] std::string summary() const override { return "prices of a test"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return false; }
  [[nodiscard]] bool knows_layouts() const override { return true; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    if (application.op.name() != "conv2d") return 1.0;
    if (!application.orders.empty() &&
        (application.orders[0] != application.orders.back() || block_of(application.orders[0]) > 0))
      return std::numeric_limits<double>::infinity();
    if (application.in[1][2] == 1) return application.orders.empty() || application.orders.back().empty() ? 5 : 20;
    return !application.orders.empty() && !application.orders.back().empty() ? channels_last : 10.0;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<LayoutPrices>(); }

  double channels_last = 4;
};

struct Costs {
  LayoutPrices prices;
  GraphCost in_order{prices, nullptr};
  GraphCost in_layouts{prices, nullptr, *loaded().get<Operator>("transpose")};
};

constexpr std::string_view kImages = "x = input (1, 4, 6, 6)\nw = weight (4, 4, 3, 3)\n";

TEST(Layouts, AreBroughtInAndOutOnceForANetwork) {
  Costs costs;
  const Graph graph = read_graph(fmt::format("{}a = conv2d(x, w)\nb = relu(a)\nc = conv2d(b, w)\noutput c\n", kImages));
  EXPECT_EQ(*costs.in_order.cost_us(graph), 21.0);
  EXPECT_EQ(*costs.in_layouts.cost_us(graph), 1 + 4 + 1 + 4 + 1) << "in, conv2d, relu, conv2d, out";
  const LayoutChoice choice = *choose_layouts(costs.in_layouts, graph);
  EXPECT_EQ(std::ranges::count(choice.orders, AxisOrder{0, 2, 3, 1}), 3);
}

TEST(Layouts, AreNotChangedWhereThatDoesNotPay) {
  Costs costs;
  costs.prices.channels_last = 9;
  const Graph graph = read_graph(fmt::format("{}a = conv2d(x, w)\noutput a\n", kImages));
  EXPECT_EQ(*costs.in_layouts.cost_us(graph), 10.0) << "9 and two reorders are more";
}

TEST(Layouts, MakeATransposeBeforeAProductFree) {
  Costs costs;
  const Graph graph = read_graph(
      "x = input (3, 5)\ny = input (4, 5)\nt = transpose(y)\nr = relu(t)\na = matmul(x, r)\n"
      "output a\n");
  EXPECT_EQ(*costs.in_order.cost_us(graph), 3.0);
  EXPECT_EQ(*costs.in_layouts.cost_us(graph), 2.0);
  const Graph heads = read_graph(
      "x = input (7, 2, 5)\nq = transpose[perm=[1, 0, 2]](x)\nk = transpose[perm=[1, 2, 0]](x)\na = matmul(q, k)\n"
      "o = transpose[perm=[1, 0, 2]](a)\nr = reshape[sizes=[7, 14]](o)\noutput r\n");
  EXPECT_EQ(*costs.in_order.cost_us(heads), 5.0);
  EXPECT_EQ(*costs.in_layouts.cost_us(heads), 2.0) << "matmul and reshape: the product writes where its users read";
}

TEST(Layouts, CarryOutATransposeThatNothingTakesAsItLies) {
  Costs costs;
  EXPECT_EQ(*costs.in_layouts.cost_us(read_graph("x = input (3, 5)\nt = transpose(x)\noutput t\n")), 1.0);
  EXPECT_EQ(*costs.in_layouts.cost_us(read_graph("x = input (2, 3, 4, 5)\nt = transpose[perm=[3, 2, 1, 0]](x)\n"
                                                 "output t\n")),
            1.0)
      << "no layout stands for it";
}

TEST(Layouts, OfAnOperandThatArrivesInOrderAreLeft) {
  Costs costs;
  const Graph graph =
      read_graph(fmt::format("{}y = input (1, 4, 6, 6)\na = conv2d(x, w)\ns = ewadd(a, y)\noutput s\n", kImages));
  EXPECT_EQ(*costs.in_layouts.cost_us(graph), 1 + 4 + 1 + 1) << "in, conv2d, out, ewadd: y need not be brought in";
}

std::vector<Tensor<Field>> values_of(const Graph& graph) {
  Random random(7);
  std::vector<Tensor<Field>> inputs;
  for (const NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Field& value : inputs.back().values()) value = Field::from_integer(random.between(-1000, 1000));
  }
  return *evaluate<Field>(graph, std::span<const Tensor<Field>>(inputs));
}

TEST(Layouts, MatricesByColumnsAreWrittenAsTransposesNextToProducts) {
  Costs costs;
  const Graph graph = read_graph(R"(
x = input (3, 5)
y = input (4, 5)
z = input (2, 5)
t = transpose(y)
u = transpose(z)
r = relu(t)
c = concat[axis=1](r, u)
p, q = split[axis=1, sizes=[2, 4]](c)
a = matmul(x, p)
b = matmul(x, q)
output a, b
)");
  const LayoutChoice choice = *choose_layouts(costs.in_layouts, graph);
  const Graph written = *write_layouts(graph, choice, **loaded().get<Operator>("transpose"));
  for (const Node& user : written.nodes()) {
    for (const Port port : user.inputs) {
      if (!written.node(port.node).applies("transpose")) continue;
      EXPECT_TRUE(user.applies("matmul")) << to_text(written);
    }
  }
  const auto before = values_of(graph), after = values_of(written);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].values(), after[i].values()) << to_text(written);
}

TEST(Layouts, AreWrittenIntoATransposeThatIsThere) {
  const Graph graph = read_graph("x = input (2, 3, 4)\nt = transpose[perm=[1, 2, 0]](x)\nr = relu(t)\noutput r\n");
  LayoutChoice choice{0, std::vector<AxisOrder>(graph.nodes().size())};
  choice.orders[2] = {0, 2, 1};  // The relu is computed by columns.
  const Graph written = *write_layouts(graph, choice, **loaded().get<Operator>("transpose"));
  EXPECT_EQ(to_text(written),
            "x = input (2, 3, 4)\ntranspose = transpose[perm=[1, 0, 2]](x)\nr = relu(transpose)\n"
            "transpose_2 = transpose[perm=[0, 2, 1]](r)\noutput transpose_2\n");
  EXPECT_EQ(values_of(graph)[0].values(), values_of(written)[0].values());
}

TEST(Layouts, OfAChainOfSplitsAreThoseOfTheSplit) {
  Costs costs;
  const Graph wide = read_graph(R"(
x = input (3, 5)
y = input (6, 5)
t = transpose(y)
r = relu(t)
p, q, u = split[axis=1, sizes=[1, 2, 3]](r)
a = matmul(x, p)
b = matmul(x, q)
c = matmul(x, u)
output a, b, c
)");
  const Graph chain = *to_chains(wide);
  EXPECT_EQ(chain.operator_count(), wide.operator_count() + 1);
  EXPECT_EQ(*costs.in_layouts.cost_us(chain), *costs.in_layouts.cost_us(wide));
  const LayoutChoice choice = *choose_layouts(costs.in_layouts, chain);
  EXPECT_EQ(choice.cost_us, *costs.in_layouts.cost_us(wide));
  for (std::size_t i = 0; i < chain.nodes().size(); ++i) {
    const Node& node = chain.nodes()[i];
    if (!node.applies("split")) continue;
    EXPECT_EQ(choice.orders[i], choice.orders[i - 1]) << "one kernel, one order: that of what it splits";
  }
  const Graph written = *write_layouts(chain, choice, **loaded().get<Operator>("transpose"));
  const auto before = values_of(wide), after = values_of(written);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].values(), after[i].values()) << to_text(written);
}

// --- blocks ----------------------------------------------------------------------------------------------------

/// Convolutions cost 10, in blocks of 16 channels 3, and 4 from an image in order into blocks; the image has to have as
/// many channels as a block. Nothing else is dearer in one order than in another, bringing into another costs 1.
class BlockPrices final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "blocks"; }
  [[nodiscard]] std::string summary() const override { return "prices of a test"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return false; }
  [[nodiscard]] bool knows_layouts() const override { return true; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const auto orders = application.orders;
    if (std::ranges::any_of(orders, [](const AxisOrder& order) { return block_of(order) == 8; })) return kNever;
    if (application.op.name() != "conv2d") return 1.0;
    const bool from = !orders.empty() && !orders[0].empty(), to = !orders.empty() && !orders.back().empty();
    if ((from && block_of(orders[0]) == 0) || (to && block_of(orders.back()) == 0)) return kNever;
    if (from && application.in[0][1] < 16) return kNever;
    return from ? to ? 3.0 : kNever : to ? 4.0 : 10.0;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<BlockPrices>(); }
};

struct BlockCosts {
  BlockPrices prices;
  GraphCost in_order{prices, nullptr};
  GraphCost in_layouts{prices, nullptr, *loaded().get<Operator>("transpose")};
};

TEST(Layouts, InBlocksAreEnteredByAConvolutionOfFewChannels) {
  BlockCosts costs;
  const Graph graph = read_graph(
      "x = input (1, 3, 6, 6)\nw = weight (16, 3, 3, 3)\nv = weight (16, 16, 3, 3)\na = conv2d(x, w)\nb = relu(a)\n"
      "c = conv2d(b, v)\noutput c\n");
  EXPECT_EQ(*costs.in_order.cost_us(graph), 21.0);
  const LayoutChoice choice = *choose_layouts(costs.in_layouts, graph);
  EXPECT_EQ(choice.cost_us, 4 + 1 + 3 + 1) << "into blocks, relu, conv2d, out";
  EXPECT_EQ(std::ranges::count(choice.orders, AxisOrder{0, 1, 2, 3, -16}), 3);
}

TEST(Layouts, InBlocksAreLeftWhereAPartWouldBeginInsideOne) {
  BlockCosts costs;
  const auto graph = [](int left, int right) {
    return read_graph(
        fmt::format("x = input (1, 3, 6, 6)\nw = weight ({0}, 3, 3, 3)\nv = weight ({1}, 3, 3, 3)\n"
                    "u = weight (16, 32, 3, 3)\na = conv2d(x, w)\nb = conv2d(x, v)\n"
                    "c = concat[axis=1](a, b)\nd = conv2d(c, u)\noutput d\n",
                    left, right));
  };
  EXPECT_EQ(*costs.in_layouts.cost_us(graph(16, 16)), 4 + 4 + 1 + 3 + 1);
  EXPECT_EQ(*costs.in_layouts.cost_us(graph(8, 24)), (4 + 1) + (4 + 1) + 1 + 4 + 1) << "out of blocks, and in again";
  const Graph halves = read_graph(
      "x = input (1, 3, 6, 6)\nw = weight (32, 3, 3, 3)\na = conv2d(x, w)\n"
      "b, c = split[axis=1, sizes=[8, 24]](a)\ns = relu(b)\nt = relu(c)\noutput s, t\n");
  EXPECT_EQ(*costs.in_layouts.cost_us(halves), 4 + 1 + 1 + 2);
}

TEST(Layouts, InBlocksAreNoOrderOfAxesForATranspose) {
  BlockCosts costs;
  const std::string head = "x = input (1, 16, 6, 6)\nw = weight (16, 16, 3, 3)\na = conv2d(x, w)\n";
  EXPECT_EQ(*costs.in_layouts.cost_us(read_graph(head + "t = transpose[perm=[0, 2, 3, 1]](a)\noutput t\n")), 4 + 1)
      << "out of blocks, right into the order that the transpose stands for";
  EXPECT_EQ(*costs.in_layouts.cost_us(read_graph(head + "t = softmax[axis=3](a)\noutput t\n")), 4 + 1 + 1);
  const Graph graph = read_graph(head + "r = relu(a)\noutput r\n");
  const LayoutChoice choice = *choose_layouts(costs.in_layouts, graph);
  const Graph written = *write_layouts(graph, choice, **loaded().get<Operator>("transpose"));
  EXPECT_EQ(written.operator_count(), graph.operator_count()) << "nothing of blocks is written";
}

// --- searches --------------------------------------------------------------------------------------------------

OptimizeReport optimized(const Graph& graph, LayoutUse use, const std::vector<Rule>& rules) {
  Costs costs;
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  auto report = optimize(graph, rules, *search, costs.in_order,
                         {.registry = &loaded(), .layout = use, .in_layouts = &costs.in_layouts});
  EXPECT_TRUE(report) << report.error().message;
  return *report;
}

TEST(Layouts, AreChosenForEveryGraphThatASearchLooksAt) {
  Costs costs;
  const Graph graph = read_graph(
      fmt::format("{}a = conv2d(x, w)\nb = relu(a)\nc = relu(b)\nd = relu(c)\ne = conv2d(d, w)\noutput e\n", kImages));
  SearchEngine engine({read_rule("(x:4) relu(relu(x)) => relu(x)")}, costs.in_layouts);
  const auto space = *engine.open(graph);
  for (int i = 0; i < 5; ++i)  // However often: later looks from a graph may be made otherwise than the first.
    EXPECT_EQ(space->look(SearchSpace::kStart, 0)->cost_us, 1 + 4 + 2 + 4 + 1) << "in, conv2d, 2 relus, conv2d, out";
}

TEST(Layouts, JointlyFindWhatOneAfterTheOtherDoesNot) {
  // A 1 x 1 kernel made 3 x 3 is dearer in order, and cheaper between others that have their channels last.
  const Graph graph = read_graph(fmt::format(
      "{}v = weight (4, 4, 1, 1)\na = conv2d(x, w)\nb = conv2d(a, v)\nc = conv2d(b, w)\noutput c\n", kImages));
  const std::vector<Rule> rules = {testing::read_rule(
      "(x:4, w:4) conv2d(x, w) => conv2d(x, enlarge[kernel=[3, 3]](w)) where w.2 <= 3, w.3 <= 3, w.2 + w.3 <= 5")};
  std::map<LayoutUse, double> cost;
  for (const LayoutUse use : {LayoutUse::kNone, LayoutUse::kOnly, LayoutUse::kSequential, LayoutUse::kJoint}) {
    const OptimizeReport report = optimized(graph, use, rules);
    EXPECT_EQ(report.search.cost_before_us, 25) << "10, 5, 10";
    cost[use] = report.search.cost_after_us;
    EXPECT_EQ(values_of(graph)[0].values(), values_of(report.best)[0].values());
  }
  EXPECT_EQ(cost[LayoutUse::kNone], 25);
  EXPECT_EQ(cost[LayoutUse::kOnly], 1 + 4 + 1 + 5 + 1 + 4 + 1);
  EXPECT_EQ(cost[LayoutUse::kSequential], 1 + 4 + 1 + 5 + 1 + 4 + 1);
  EXPECT_EQ(cost[LayoutUse::kJoint], 1 + 4 + 4 + 4 + 1);
}

TEST(Layouts, InBlocksAreSearchedJointlyToo) {
  // What is joined of 8 and 8 channels has left the blocks before; the one convolution that does both need not.
  BlockCosts costs;
  const Graph graph = read_graph(
      "x = input (1, 16, 6, 6)\nw = weight (8, 16, 3, 3)\nv = weight (8, 16, 3, 3)\nu = weight (16, 16, 3, 3)\n"
      "a = conv2d(x, w)\nb = conv2d(x, v)\nc = concat[axis=1](a, b)\nd = conv2d(c, u)\noutput d\n");
  const std::vector<Rule> rules = {testing::read_rule(
      "(x:4, w:4, v:4) concat[axis=1](conv2d(x, w), conv2d(x, v)) => conv2d(x, concat(w, v)) where w.2 = v.2, w.3 = "
      "v.3")};
  std::map<LayoutUse, double> cost;
  for (const LayoutUse use : {LayoutUse::kNone, LayoutUse::kOnly, LayoutUse::kSequential, LayoutUse::kJoint}) {
    const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
    const auto report = optimize(graph, rules, *search, costs.in_order,
                                 {.registry = &loaded(), .layout = use, .in_layouts = &costs.in_layouts});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->search.cost_before_us, 31) << "10, 10, 1, 10";
    cost[use] = report->search.cost_after_us;
  }
  EXPECT_EQ(cost[LayoutUse::kNone], 20);
  EXPECT_EQ(cost[LayoutUse::kOnly], (4 + 1) + (4 + 1) + 1 + 4 + 1);
  EXPECT_EQ(cost[LayoutUse::kSequential], 4 + 3 + 1);
  EXPECT_EQ(cost[LayoutUse::kJoint], 4 + 3 + 1);
}

TEST(Layouts, AreNotSearchedWithoutACostToChooseThemBy) {
  testing::FixedPrices prices;
  GraphCost cost(prices, nullptr);
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  const auto report = optimize(read_graph("x = input (2, 2)\na = relu(x)\noutput a\n"), {}, *search, cost,
                               {.registry = &loaded(), .layout = LayoutUse::kJoint});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "layouts are asked for without a cost to choose them by");
}

TEST(Layouts, OnlyAppliesNoRule) {
  const Graph graph = read_graph(
      "x = input (3, 5)\ny = input (4, 5)\nt = transpose(y)\nr = relu(t)\nu = relu(r)\n"
      "a = matmul(x, u)\noutput a\n");
  const OptimizeReport only = optimized(graph, LayoutUse::kOnly, testing::true_rules());
  ASSERT_EQ(only.search.path.size(), 1u);
  EXPECT_EQ(only.search.path[0].rule_name, kLayoutStep);
  EXPECT_EQ(only.search.cost_after_us, 3.0);
  EXPECT_GT(only.reordered, 0u);
  const OptimizeReport joint = optimized(graph, LayoutUse::kJoint, testing::true_rules());
  EXPECT_EQ(joint.search.cost_after_us, 2.0) << "one relu and the product";
}

}  // namespace
}  // namespace rewright
