// The e-graph alone: nodes made once, congruence, and why two nodes are equal.
#include "egraph/egraph.h"

#include <gtest/gtest.h>

#include <map>

#include "support/random.h"

namespace rewright::egraph {
namespace {

using rewright::testing::Random;

/// Heads are numbers to the e-graph: 1 is f, 2 is g, 3 takes two operands.
class Terms {
 public:
  EGraph graph;
  NodeId input(std::uint32_t index) { return graph.input(index, {}); }
  NodeId apply(HeadId head, std::vector<NodeId> operands) { return graph.add(head, {}, operands, {}); }
  void merge(NodeId a, NodeId b, Reason reason) {
    graph.merge(a, b, reason);
    graph.rebuild();
  }
  bool equal(NodeId a, NodeId b) const { return graph.find(a) == graph.find(b); }
};

TEST(EGraph, MakesLikeNodesOnce) {
  Terms terms;
  const NodeId x = terms.input(0), y = terms.input(1);
  EXPECT_EQ(terms.apply(3, {x, y}), terms.apply(3, {x, y}));
  EXPECT_NE(terms.apply(3, {x, y}), terms.apply(3, {y, x}));
  const std::vector<DimId> two = {2}, three = {3};
  const std::vector<NodeId> operands = {x};
  EXPECT_NE(terms.graph.add(1, two, operands, {}), terms.graph.add(1, three, operands, {}));
}
TEST(EGraph, MergesWhatBecomesCongruentAllTheWayUp) {
  Terms terms;
  const NodeId x = terms.input(0), y = terms.input(1);
  const NodeId fx = terms.apply(1, {x}), fy = terms.apply(1, {y});
  const NodeId gfx = terms.apply(2, {fx}), gfy = terms.apply(2, {fy});
  EXPECT_FALSE(terms.equal(gfx, gfy));
  terms.merge(x, y, 0);
  EXPECT_TRUE(terms.equal(fx, fy));
  EXPECT_TRUE(terms.equal(gfx, gfy));
  EXPECT_EQ(terms.apply(1, {y}), terms.apply(1, {x}));
}
TEST(EGraph, ClosesCycles) {
  Terms terms;  // f f f x = x and f f f f f x = x give f x = x.
  std::vector<NodeId> f = {terms.input(0)};
  for (int i = 0; i < 5; ++i) f.push_back(terms.apply(1, {f.back()}));
  terms.merge(f[3], f[0], 0);
  terms.merge(f[5], f[0], 1);
  EXPECT_TRUE(terms.equal(f[1], f[0]));
  EXPECT_TRUE(terms.equal(f[4], f[0]));
}
TEST(EGraph, ForgetsEverythingWhenCleared) {
  Terms terms;
  terms.merge(terms.input(0), terms.input(1), 0);
  terms.graph.clear();
  EXPECT_EQ(terms.graph.size(), 0u);
  const NodeId x = terms.input(0), y = terms.input(1);
  EXPECT_FALSE(terms.equal(x, y));
}
TEST(EGraph, TellsTheReasonsInOrder) {
  Terms terms;
  std::vector<NodeId> x;
  for (std::uint32_t i = 0; i < 4; ++i) x.push_back(terms.input(i));
  terms.merge(x[1], x[0], 10);
  terms.merge(x[1], x[2], 11);
  terms.merge(x[3], x[2], 12);
  const auto path = terms.graph.path(x[0], x[3]);
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[0].reason, 10u);
  EXPECT_TRUE(path[0].backward);
  EXPECT_EQ(path[1].reason, 11u);
  EXPECT_FALSE(path[1].backward);
  EXPECT_EQ(path[2].reason, 12u);
  EXPECT_TRUE(path[2].backward);
}

/// Every edge of a path is a merge that was asked for, the right way round, or joins congruent nodes whose operands
/// have paths in turn.
void expect_explained(const Terms& terms, NodeId a, NodeId b, const std::map<Reason, std::pair<NodeId, NodeId>>& merges,
                      int depth) {
  ASSERT_LT(depth, 60);
  NodeId at = a;
  for (const Edge& edge : terms.graph.path(a, b)) {
    ASSERT_EQ(edge.from, at);
    at = edge.to;
    if (edge.reason != kCongruence) {
      const auto [from, to] = merges.at(edge.reason);
      ASSERT_EQ(edge.backward ? to : from, edge.from);
      ASSERT_EQ(edge.backward ? from : to, edge.to);
      continue;
    }
    ASSERT_EQ(terms.graph.head(edge.from), terms.graph.head(edge.to));
    const auto from = terms.graph.operands(edge.from), to = terms.graph.operands(edge.to);
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) expect_explained(terms, from[i], to[i], merges, depth + 1);
  }
  ASSERT_EQ(at, b);
}

TEST(EGraphProperty, IsCongruentAndExplainsEveryEquality) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Terms terms;
    std::vector<NodeId> nodes;
    for (std::uint32_t i = 0; i < 4; ++i) nodes.push_back(terms.input(i));
    std::map<Reason, std::pair<NodeId, NodeId>> merges;
    for (int step = 0; step < 60; ++step) {
      if (random.one_in(4)) {
        const NodeId a = random.pick(nodes), b = random.pick(nodes);
        const auto reason = static_cast<Reason>(merges.size());
        if (terms.graph.merge(a, b, reason)) merges.emplace(reason, std::pair(a, b));
        if (random.one_in(2)) terms.graph.rebuild();
      } else if (random.one_in(2)) {
        nodes.push_back(terms.apply(static_cast<HeadId>(random.between(1, 2)), {random.pick(nodes)}));
      } else {
        nodes.push_back(terms.apply(3, {random.pick(nodes), random.pick(nodes)}));
      }
    }
    terms.graph.rebuild();
    for (NodeId a = 0; a < terms.graph.size(); ++a) {
      for (NodeId b = 0; b < a; ++b) {
        if (terms.equal(a, b)) expect_explained(terms, a, b, merges, 0);
        if (terms.graph.is_input(a) || terms.graph.is_input(b) || terms.graph.head(a) != terms.graph.head(b)) continue;
        const auto x = terms.graph.operands(a), y = terms.graph.operands(b);
        const bool congruent =
            std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](NodeId p, NodeId q) { return terms.equal(p, q); });
        EXPECT_TRUE(!congruent || terms.equal(a, b)) << "seed " << seed << ": nodes " << a << " and " << b;
      }
    }
  }
}

TEST(EGraph, TouchesTheUsersOfWhatChanges) {
  Terms terms;
  terms.graph.set_depth([](HeadId) { return 3; });
  const NodeId x = terms.input(0), y = terms.input(1);
  const NodeId fx = terms.apply(1, {x}), gfx = terms.apply(2, {fx}), fgfx = terms.apply(1, {gfx});
  for (const NodeId node : terms.graph.touched()) terms.graph.take(node);
  terms.graph.touched().clear();
  terms.merge(x, y, 0);
  EXPECT_EQ(terms.graph.touched(), (std::vector{fx, gfx}));
  EXPECT_NE(fgfx, gfx);
}

}  // namespace
}  // namespace rewright::egraph
