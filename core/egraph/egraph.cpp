#include "egraph/egraph.h"

#include <algorithm>
#include <utility>

namespace rewright::egraph {
namespace {

constexpr int kDefaultDepth = 3;

}  // namespace

void EGraph::clear() {
  nodes_.clear();
  parent_.clear();
  operands_.clear();
  dims_.clear();
  users_.clear();
  stale_.clear();
  touched_.clear();
  index_.clear();
  max_depth_ = 1;
  walk_ = 0;
}

NodeId EGraph::new_node(Node node, std::span<const DimId> shape) {
  const auto id = static_cast<NodeId>(nodes_.size());
  node.first_dim = static_cast<std::uint32_t>(dims_.size());
  node.rank = static_cast<std::uint8_t>(shape.size());
  dims_.insert(dims_.end(), shape.begin(), shape.end());
  node.next = id;
  nodes_.push_back(node);
  parent_.push_back(id);
  return id;
}

NodeId EGraph::input(std::uint32_t index, std::span<const DimId> shape) {
  Node node;
  node.first_size = index;
  return new_node(node, shape);
}

std::uint64_t EGraph::hash_of(HeadId head, std::span<const DimId> sizes, std::span<const NodeId> operands) const {
  std::uint64_t hash = head;
  for (const DimId size : sizes) hash = mix(hash, size);
  for (const NodeId operand : operands) hash = mix(hash, find(operand));
  return mix(hash, operands.size());
}

bool EGraph::alike(NodeId node, HeadId head, std::span<const DimId> sizes, std::span<const NodeId> operands) const {
  return nodes_[node].head == head && std::ranges::equal(this->sizes(node), sizes) &&
         std::ranges::equal(this->operands(node), operands, [this](NodeId a, NodeId b) { return find(a) == find(b); });
}

NodeId EGraph::add(HeadId head, std::span<const DimId> sizes, std::span<const NodeId> operands,
                   std::span<const DimId> shape) {
  const std::uint64_t hash = hash_of(head, sizes, operands);
  const auto found = index_.find(hash, [&](std::uint32_t node) { return alike(node, head, sizes, operands); });
  if (found != kNoId) return found;
  Node node;
  node.head = head;
  node.first_operand = static_cast<std::uint32_t>(operands_.size());
  node.operand_count = static_cast<std::uint16_t>(operands.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  node.first_size = static_cast<std::uint32_t>(dims_.size());
  node.size_count = static_cast<std::uint16_t>(sizes.size());
  dims_.insert(dims_.end(), sizes.begin(), sizes.end());
  node.depth = static_cast<std::uint8_t>(depth_of_ ? depth_of_(head) : kDefaultDepth);
  max_depth_ = std::max<int>(max_depth_, node.depth);
  const NodeId id = new_node(node, shape);
  index_.insert(hash, id);
  for (const NodeId operand : operands) {
    Node& used = nodes_[find(operand)];
    const auto user = static_cast<std::uint32_t>(users_.size());
    users_.push_back({id, kNoId});
    (used.last_user == kNoId ? used.users : users_[used.last_user].next) = user;
    used.last_user = user;
  }
  touch(id);
  return id;
}

void EGraph::touch(NodeId node) {
  if (nodes_[node].touched) return;
  nodes_[node].touched = true;
  touched_.push_back(node);
}

void EGraph::touch_all() {
  touched_.clear();
  for (NodeId node = 0; node < nodes_.size(); ++node) {
    nodes_[node].touched = false;
    if (!is_input(node) && !nodes_[node].superfluous) touch(node);
  }
}

/// The applications that see a change in these classes, class by class upwards; each class is walked through once.
void EGraph::touch_above(NodeId a, NodeId b) {
  ++walk_;
  frontier_ = {a, b};
  for (const NodeId root : frontier_) nodes_[root].seen = walk_;
  std::size_t next = 0;
  for (int distance = 1; distance < max_depth_; ++distance) {
    for (const std::size_t end = frontier_.size(); next < end; ++next) {
      for (std::uint32_t user = nodes_[frontier_[next]].users; user != kNoId; user = users_[user].next) {
        const NodeId node = users_[user].node;
        if (nodes_[node].superfluous) continue;
        if (nodes_[node].depth > distance) touch(node);
        const NodeId root = find(node);
        if (std::exchange(nodes_[root].seen, walk_) != walk_) frontier_.push_back(root);
      }
    }
  }
}

void EGraph::reroot(NodeId node) {
  NodeId before = kNoId;
  Reason reason = kCongruence;
  bool backward = false;
  while (node != kNoId) {
    Node& here = nodes_[node];
    const NodeId after = here.proof;
    std::swap(here.reason, reason);
    std::swap(here.backward, backward);
    here.proof = before;
    here.backward = !here.backward;
    before = node;
    node = after;
  }
}

bool EGraph::merge(NodeId a, NodeId b, Reason reason) {
  NodeId root_a = find(a), root_b = find(b);
  if (root_a == root_b) return false;
  bool backward = false;
  if (nodes_[root_a].size > nodes_[root_b].size) {
    std::swap(a, b);
    std::swap(root_a, root_b);
    backward = true;
  }
  reroot(a);
  nodes_[a].proof = b;
  nodes_[a].reason = reason;
  nodes_[a].backward = backward;
  touch_above(root_a, root_b);
  for (std::uint32_t user = nodes_[root_a].users; user != kNoId; user = users_[user].next)
    stale_.push_back(users_[user].node);
  parent_[root_a] = root_b;
  nodes_[root_b].size += nodes_[root_a].size;
  std::swap(nodes_[root_a].next, nodes_[root_b].next);
  if (nodes_[root_a].users != kNoId) {
    Node& kept = nodes_[root_b];
    (kept.last_user == kNoId ? kept.users : users_[kept.last_user].next) = nodes_[root_a].users;
    kept.last_user = nodes_[root_a].last_user;
  }
  return true;
}

void EGraph::rebuild() {
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    const NodeId node = stale_[i];
    if (nodes_[node].superfluous) continue;
    const std::uint64_t hash = hash_of(head(node), sizes(node), operands(node));
    const auto found =
        index_.find(hash, [&](std::uint32_t other) { return alike(other, head(node), sizes(node), operands(node)); });
    if (found == kNoId) {
      index_.insert(hash, node);
    } else if (found != node) {
      nodes_[node].superfluous = true;
      merge(node, found, kCongruence);
    }
  }
  stale_.clear();
}

std::vector<Edge> EGraph::path(NodeId a, NodeId b) const {
  const auto root_path = [this](NodeId node) {
    std::vector<NodeId> path;
    for (; node != kNoId; node = nodes_[node].proof) path.push_back(node);
    return path;
  };
  std::vector<NodeId> up = root_path(a), down = root_path(b);
  while (!up.empty() && !down.empty() && up.back() == down.back()) {
    // The last node that both have in common is where the way turns.
    if (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
      up.pop_back();
      down.pop_back();
    } else {
      break;
    }
  }
  std::vector<Edge> edges;
  for (std::size_t i = 0; i + 1 < up.size(); ++i)
    edges.push_back({up[i], up[i + 1], nodes_[up[i]].reason, nodes_[up[i]].backward});
  for (std::size_t i = down.size() - 1; i > 0; --i)
    edges.push_back({down[i], down[i - 1], nodes_[down[i - 1]].reason, !nodes_[down[i - 1]].backward});
  return edges;
}

}  // namespace rewright::egraph
