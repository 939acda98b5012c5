// Matches in a pool, and what applying them gives, where that needs sizes to be solved for or cannot be done.
#include "rewrite/pool_rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "support/own_operators.h"
#include "support/rewriter.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using rewright::testing::read_graph;
using rewright::testing::read_rule;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A graph in a pool with a rule, and the rule's matches there.
struct Bench {
  Bench(const Rule& rule, const Graph& graph)
      : start(graph), pool(start), rules({rule}), table(pool, rules), rewriter(pool, rules), nodes(pool.size()) {
    std::iota(nodes.begin(), nodes.end(), 0);
    table.find(nodes, matches);
  }
  PoolRewriter::Outcome apply(std::size_t match) {
    table.read(matches.at(match), binding);
    return rewriter.apply(nodes, pool.start_outputs(), matches[match].program, binding, outputs);
  }

  Graph start;
  NodePool pool;
  RuleSet rules;
  MatchTable table;
  PoolRewriter rewriter;
  std::vector<std::uint32_t> nodes;
  std::vector<MatchRecord> matches;
  Binding binding;
  std::vector<Port> outputs;
};

// s0*s1 tells neither s0 nor s1; the other reshape does, and then the product is held against them.
TEST(PoolRewriter, SolvesForSizesThatAProductDoesNotTell) {
  const Rule flat =
      read_rule("(x:2) reshape[sizes=[s0, s1]](reshape[sizes=[s0*s1]](relu(x))) => reshape[sizes=[s0, s1]](relu(x))");
  const auto model = [](const std::string& inner) {
    return read_graph("x = input (2, 6)\nr = relu(x)\na = " + inner + "\nb = reshape[sizes=[4, 3]](a)\noutput b\n");
  };
  const std::string line = "reshape[sizes=[12]](r)";
  Bench bench(flat, model(line));
  ASSERT_THAT(bench.matches, SizeIs(1));
  EXPECT_THAT(Rewriter({flat}).matches(model(line)), SizeIs(1));
  ASSERT_EQ(bench.apply(0), PoolRewriter::Outcome::kDone) << bench.rewriter.refusal();
  EXPECT_EQ(bench.pool.shape(bench.outputs.at(0)), (Shape{4, 3}));
  EXPECT_EQ(bench.pool.operands(bench.outputs[0].node.value)[0].node.value, 1u) << "the reshape is of relu(x) itself";
  EXPECT_THAT(Bench(flat, model("reshape[sizes=[2, 6]](r)")).matches, SizeIs(0));
}

TEST(PoolRewriter, HoldsAProductOfInputSizesAgainstTheParameter) {
  const Rule flat = read_rule("(x:2) relu(reshape[sizes=[x.0*x.1]](x)) => reshape[sizes=[x.0*x.1]](relu(x))");
  const Graph graph = read_graph("x = input (2, 6)\na = reshape[sizes=[12]](x)\nb = relu(a)\noutput b\n");
  EXPECT_THAT(Bench(flat, graph).matches, SizeIs(1));
  const Rule half = read_rule("(x:2) relu(reshape[sizes=[x.0, x.1]](x)) => reshape[sizes=[x.0, x.1]](relu(x))");
  EXPECT_THAT(
      Bench(half, read_graph("x = input (2, 6)\na = reshape[sizes=[6, 2]](x)\nb = relu(a)\noutput b\n")).matches,
      SizeIs(0));
}

// Both parts have both inputs: they are joined by x, and must have one w.
TEST(PoolRewriter, JoinsPartsByEveryInputThatTheyShare) {
  const Rule both = read_rule(
      "(x:2, w:2) relu(relu(matmul(x, w))), relu(relu(ewadd(x, w))) => relu(matmul(x, w)), relu(ewadd(x, w))");
  const auto model = [](const std::string& other) {
    return read_graph(
        "x = input (4, 4)\nw = weight (4, 4)\nv = weight (4, 4)\nm = matmul(x, w)\na = relu(m)\nb = "
        "relu(a)\ns = ewadd(x, " +
        other + ")\nc = relu(s)\nd = relu(c)\noutput b, d\n");
  };
  for (const char* other : {"w", "v"}) {
    const std::size_t found = Bench(both, model(other)).matches.size();
    EXPECT_EQ(found, other == std::string("w") ? 1u : 0u);
    EXPECT_EQ(Rewriter({both}).matches(model(other)).size(), found);
  }
}

// What x.0 leaves of the first part is s0, which the second part must be.
TEST(PoolRewriter, SolvesForASizeBesideThatOfAnInput) {
  const Rule parts = read_rule(
      "(x:1, y:1) let p, q = split[sizes=[x.0 + s0, s0]](relu(y)) in p, q, relu(relu(x)) => "
      "let p, q = split[sizes=[x.0 + s0, s0]](y) in relu(p), relu(q), relu(x)");
  const auto model = [](int size) {
    return read_graph(
        fmt::format("x = input ({})\ny = input (5)\na = relu(x)\nb = relu(a)\nr = relu(y)\np, q = "
                    "split[axis=0, sizes=[3, 2]](r)\noutput p, q, b\n",
                    size));
  };
  for (const int size : {1, 2, 4}) {
    const std::size_t found = Bench(parts, model(size)).matches.size();
    EXPECT_EQ(found, size == 1 ? 1u : 0u) << size;
    EXPECT_EQ(Rewriter({parts}).matches(model(size)).size(), found) << size;
  }
}

// relu(x) becomes y, and y is relu(x): a tensor cannot take its own place.
TEST(PoolRewriter, RefusesATensorInItsOwnPlace) {
  const Rule exchange = read_rule("(x:2, y:2) relu(x), ewadd(x, y) => y, x where x.0 = y.0, x.1 = y.1");
  const Graph graph = read_graph("x = input (2, 2)\na = relu(x)\nb = ewadd(x, a)\noutput a, b\n");
  Bench bench(exchange, graph);
  bool cyclic = false;
  for (std::size_t i = 0; i < bench.matches.size(); ++i)
    cyclic = cyclic || bench.apply(i) == PoolRewriter::Outcome::kCyclic;
  EXPECT_TRUE(cyclic);
  Match match;
  match.inputs = {{{0}, 0}, {{1}, 0}};
  match.nodes = {{1}, {2}};
  const auto replaced = Rewriter({exchange}).apply(graph, match);
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(replaced.error().message, "rule " + exchange.name + ": replacing this match would make the graph cyclic");
}

// The product of both would be its own operand.
TEST(PoolRewriter, RefusesAMergeOfWhatComesOneAfterTheOther) {
  const Rule merge = read_rule(
      "(x:2, y:2, w:2) matmul(x, w), matmul(y, w) => let p, q = split[axis=0, sizes=[x.0, "
      "y.0]](matmul(concat[axis=0](x, y), w)) in p, q");
  Bench bench(merge, read_graph("x = input (4, 4)\nw = weight (4, 4)\nm = matmul(x, w)\nr = relu(m)\nn = matmul(r, w)\n"
                                "output n\n"));
  ASSERT_THAT(bench.matches, SizeIs(2)) << "either of them may be the first output";
  for (const std::size_t i : {0, 1}) EXPECT_EQ(bench.apply(i), PoolRewriter::Outcome::kCyclic);
}

// A rule whose precondition was lost: at large sizes those of its target are beyond all numbers.
TEST(PoolRewriter, RefusesATargetWhoseSizesAreNoNumbers) {
  const SymbolicDim x = SymbolicDim::variable(SizeVar::read("x.0"));
  for (const SymbolicDim& size : {x * x * x * x, 2'000'000'000'000 * x, x * x * x + 9'000'000 * x * x * x}) {
    Rule wrong = read_rule("(x:1) relu(relu(x)) => reshape[sizes=[x.0]](relu(x))");
    wrong.target.nodes.at(1).params = SymbolicParams({SizeList<SymbolicDim>{{size}}});
    wrong.precondition.clear();
    const Graph graph = read_graph("x = input (1000000000000)\na = relu(x)\nb = relu(a)\noutput b\n");
    Bench bench(wrong, graph);
    ASSERT_THAT(bench.matches, SizeIs(1)) << to_string(size);
    EXPECT_EQ(bench.apply(0), PoolRewriter::Outcome::kRefused) << to_string(size);
    EXPECT_THAT(bench.rewriter.refusal(), HasSubstr("a size of reshape in its target is not determined by the match"));
    const Rewriter rewriter({wrong});
    const auto replaced = rewriter.apply(graph, rewriter.matches(graph).at(0));
    ASSERT_FALSE(replaced) << to_string(size);
    EXPECT_EQ(replaced.error().code, ErrorCode::kInternal);
    EXPECT_EQ(replaced.error().message,
              "rule " + wrong.name + ": a size of reshape in its target is not determined by the match");
  }
}

TEST(PoolRewriter, PutsSizesBesideANumberWithAFraction) {
  const Registry own = test::load_own_operators(REWRIGHT_BUILD_DIR "/tests/plugins/rewrite/own_operators.so");
  const auto parsed =
      parse_rule("(x:2) resized[sizes=[x.0*x.1], by=0.5](relu(x)) => relu(resized[sizes=[x.0*x.1], by=0.5](x))", own);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto graph = parse_graph("x = input (2, 6)\na = relu(x)\nb = resized[sizes=[12], by=0.5](a)\noutput b\n", own);
  ASSERT_TRUE(graph) << graph.error().message;
  Bench bench(*parsed, *graph);
  ASSERT_THAT(bench.matches, SizeIs(1));
  ASSERT_EQ(bench.apply(0), PoolRewriter::Outcome::kDone) << bench.rewriter.refusal();
  const Port resized = bench.pool.operands(bench.outputs.at(0).node.value)[0];
  const NodePool::Label& label = bench.pool.label(resized.node.value);
  EXPECT_EQ(to_string(label.op->info().params, label.params), "[sizes=[12], by=0.5]");
}

}  // namespace
}  // namespace rewright
