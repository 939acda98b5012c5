// The e-graph: terms over tensors, grouped into classes of equals, closed under congruence.
//
// A node is one output of an application to other nodes (or an input of the goal). Nodes are made once for equal heads,
// sizes and classes of operands; merging two classes merges, at the next rebuild(), what they make congruent. Every
// merge leaves an edge in a forest over nodes, from which path() tells why two nodes are equal: a list of edges, each
// an instance of a rewrite or a congruence. An edge never explains itself by a later one: the path between nodes that
// are connected does not change.
//
// Invariant: wherever the goal's assumptions hold, every node is defined and has the shape that is kept with it.
//
// Source  Willsey et al.: egg: Fast and Extensible Equality Saturation, POPL 2021 (hash-consing, deferred rebuilding);
//         Nieuwenhuis, Oliveras: Proof-Producing Congruence Closure, RTA 2005 (the forest).
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "egraph/heads.h"
#include "egraph/sizes.h"

namespace rewright::egraph {

using NodeId = std::uint32_t;
inline constexpr std::uint32_t kNoId = HashIndex::kNone;

/// The reason of a merge: an instance of a rewrite (its number, of the owner's), or kCongruence.
using Reason = std::uint32_t;
inline constexpr Reason kCongruence = kNoId;

/// `from` = `to` for this reason; a rewrite leads from `from` to `to`, or back where `backward` is set.
struct Edge {
  NodeId from = 0;
  NodeId to = 0;
  Reason reason = kCongruence;
  bool backward = false;
};

class REWRIGHT_API EGraph {
 public:
  EGraph() = default;
  /// Forgets all nodes; memory is kept.
  void clear();

  /// An input of the goal.
  NodeId input(std::uint32_t index, std::span<const DimId> shape);
  /// The node of this application, which is made if its like is not there.
  NodeId add(HeadId head, std::span<const DimId> sizes, std::span<const NodeId> operands, std::span<const DimId> shape);
  /// False where they were equal already.
  bool merge(NodeId a, NodeId b, Reason reason);
  /// Restores congruence. Call it before reading classes after a merge.
  void rebuild();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId find(NodeId node) const {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  [[nodiscard]] bool is_input(NodeId node) const { return nodes_[node].head == kNoId; }
  [[nodiscard]] std::uint32_t input_index(NodeId node) const { return nodes_[node].first_size; }
  [[nodiscard]] HeadId head(NodeId node) const { return nodes_[node].head; }
  [[nodiscard]] std::span<const NodeId> operands(NodeId node) const {
    return std::span(operands_).subspan(nodes_[node].first_operand, nodes_[node].operand_count);
  }
  [[nodiscard]] std::span<const DimId> sizes(NodeId node) const {
    return std::span(dims_).subspan(nodes_[node].first_size, is_input(node) ? 0 : nodes_[node].size_count);
  }
  [[nodiscard]] std::span<const DimId> shape(NodeId node) const {
    return std::span(dims_).subspan(nodes_[node].first_dim, nodes_[node].rank);
  }
  [[nodiscard]] int rank(NodeId node) const { return nodes_[node].rank; }
  /// The next member of the node's class; after the last comes the first.
  [[nodiscard]] NodeId next(NodeId node) const { return nodes_[node].next; }
  /// A node with a congruent twin in its class says nothing new.
  [[nodiscard]] bool superfluous(NodeId node) const { return nodes_[node].superfluous; }

  /// Applications below which something has changed that a pattern rooted there can see, since they were last taken;
  /// new ones included; each once.
  [[nodiscard]] std::vector<NodeId>& touched() { return touched_; }
  void take(NodeId node) { nodes_[node].touched = false; }
  void touch_all();
  /// The depth of the deepest pattern that a head may be the root of: it sees that many applications, itself included.
  using DepthOf = std::function<int(HeadId)>;
  void set_depth(DepthOf depth_of) { depth_of_ = std::move(depth_of); }

  /// The edges that lead from a to b, in order; both must be of one class.
  [[nodiscard]] std::vector<Edge> path(NodeId a, NodeId b) const;

 private:
  struct Node {
    HeadId head = kNoId;
    std::uint32_t first_operand = 0, first_size = 0, first_dim = 0;
    std::uint16_t operand_count = 0, size_count = 0;
    std::uint8_t rank = 0, depth = 0;
    bool superfluous = false, touched = false;
    NodeId next = 0;                                 ///< In the ring of the class.
    std::uint32_t seen = 0;                          ///< Of a class, at its root: the last walk that came by.
    std::uint32_t size = 1;                          ///< Of a class, at its root.
    std::uint32_t users = kNoId, last_user = kNoId;  ///< Of a class, at its root: a list in users_.
    NodeId proof = kNoId;                            ///< The forest's edge: to there.
    Reason reason = kCongruence;
    bool backward = false;
  };
  struct User {
    NodeId node = 0;
    std::uint32_t next = kNoId;
  };

  NodeId new_node(Node node, std::span<const DimId> shape);
  [[nodiscard]] std::uint64_t hash_of(HeadId head, std::span<const DimId> sizes,
                                      std::span<const NodeId> operands) const;
  [[nodiscard]] bool alike(NodeId node, HeadId head, std::span<const DimId> sizes,
                           std::span<const NodeId> operands) const;
  void touch(NodeId node);
  void touch_above(NodeId a, NodeId b);
  void reroot(NodeId node);

  std::vector<Node> nodes_;
  mutable std::vector<NodeId> parent_;
  std::vector<NodeId> operands_;
  std::vector<DimId> dims_;
  std::vector<User> users_;
  std::vector<NodeId> stale_;  ///< Users of merged classes, to be looked up again.
  std::vector<NodeId> touched_;
  HashIndex index_;
  DepthOf depth_of_;
  int max_depth_ = 1;
  std::uint32_t walk_ = 0;
  std::vector<NodeId> frontier_;
};

}  // namespace rewright::egraph
