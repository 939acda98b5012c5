// Partitioned boolean quadratic problems: choose a state for every node so that the sum of what the states cost by
// themselves and in pairs along edges is least.
//
//   sum over nodes of own[node][state] + sum over edges of pair[state of one][state of the other]
//
// Nodes of at most two neighbours are eliminated exactly; where there are none, the node of most neighbours is fixed to
// what looks best from there. So the choice is exact for series-parallel graphs, and good for others.
//
// Source  Scholz, Eckstein: Register Allocation for Irregular Architectures, LCTES 2002; for layouts, Anderson, Gregg:
//         Optimal DNN Primitive Selection with Partitioned Boolean Quadratic Programming, CGO 2018.
#pragma once

#include <rewright/base/visibility.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rewright {

class REWRIGHT_API Pbqp {
 public:
  static constexpr std::size_t kMostStates = 8;
  /// Costs from here on stand for what cannot be. A sum of a few of them is none that overflows.
  static constexpr std::int64_t kBarred = std::int64_t{1} << 58;
  using Own = std::array<std::int64_t, kMostStates>;  ///< kBarred for states that a node does not have.
  using Pair = std::array<Own, kMostStates>;

  /// Takes back all nodes.
  void clear();
  std::uint32_t add(const Own& own);
  /// Adds to what two different nodes cost together; pair[state of a][state of b].
  void join(std::uint32_t a, std::uint32_t b, const Pair& pair);
  /// Adds to what a node costs by itself.
  void charge(std::uint32_t node, const Own& own);

  struct Choice {
    std::int64_t cost = 0;  ///< At least kBarred where there is no choice.
    std::vector<std::uint8_t> states;
  };
  /// The same choice for the same sequence of calls.
  [[nodiscard]] Choice solve();

 private:
  struct Edge {
    std::uint32_t a = 0, b = 0;
    Pair pair = {};
  };
  struct Node {
    Own own = {};
    std::vector<std::uint32_t> edges;
    bool gone = false;
  };
  [[nodiscard]] std::int64_t pair_cost(const Edge& edge, std::uint32_t node, std::size_t own, std::size_t other) const {
    return edge.a == node ? edge.pair[own][other] : edge.pair[other][own];
  }
  [[nodiscard]] std::uint32_t other_end(const Edge& edge, std::uint32_t node) const {
    return edge.a == node ? edge.b : edge.a;
  }
  void disconnect(std::uint32_t edge);
  void eliminate(std::uint32_t node);
  void eliminate_one(std::uint32_t node);
  void eliminate_two(std::uint32_t node);
  void fix(std::uint32_t node);
  [[nodiscard]] std::size_t cheapest(std::uint32_t node, const std::vector<std::uint8_t>& states) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Node> given_nodes_;  ///< As they were before the first elimination.
  std::vector<std::uint32_t> order_, open_;
  std::int64_t fixed_ = 0;  ///< What the nodes cost by themselves that were fixed.
};

}  // namespace rewright
