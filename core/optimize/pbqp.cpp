#include "optimize/pbqp.h"

#include <algorithm>
#include <limits>

namespace rewright {

void Pbqp::clear() {
  nodes_.clear();
  edges_.clear();
}

std::uint32_t Pbqp::add(const Own& own) {
  nodes_.push_back({own, {}, false});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void Pbqp::charge(std::uint32_t node, const Own& own) {
  for (std::size_t s = 0; s < kMostStates; ++s) nodes_[node].own[s] = std::min(nodes_[node].own[s] + own[s], kBarred);
}

void Pbqp::join(std::uint32_t a, std::uint32_t b, const Pair& pair) {
  for (const std::uint32_t id : nodes_[a].edges) {
    Edge& edge = edges_[id];
    if (other_end(edge, a) != b) continue;
    for (std::size_t s = 0; s < kMostStates; ++s)
      for (std::size_t t = 0; t < kMostStates; ++t) {
        std::int64_t& cost = edge.a == a ? edge.pair[s][t] : edge.pair[t][s];
        cost = std::min(cost + pair[s][t], kBarred);
      }
    return;
  }
  const auto id = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({a, b, pair});
  nodes_[a].edges.push_back(id);
  nodes_[b].edges.push_back(id);
}

void Pbqp::disconnect(std::uint32_t edge) {
  for (const std::uint32_t end : {edges_[edge].a, edges_[edge].b}) {
    std::erase(nodes_[end].edges, edge);
    if (!nodes_[end].gone && nodes_[end].edges.size() <= 2) open_.push_back(end);
  }
}

void Pbqp::eliminate_one(std::uint32_t node) {
  const std::uint32_t id = nodes_[node].edges[0];
  const Edge edge = edges_[id];
  Own cheapest;
  for (std::size_t t = 0; t < kMostStates; ++t) {
    cheapest[t] = kBarred;
    for (std::size_t s = 0; s < kMostStates; ++s)
      cheapest[t] = std::min(cheapest[t], nodes_[node].own[s] + pair_cost(edge, node, s, t));
  }
  charge(other_end(edge, node), cheapest);
  disconnect(id);
}

void Pbqp::eliminate_two(std::uint32_t node) {
  const std::uint32_t first = nodes_[node].edges[0], second = nodes_[node].edges[1];
  const Edge left = edges_[first], right = edges_[second];
  Pair cheapest;
  for (std::size_t t = 0; t < kMostStates; ++t) {
    for (std::size_t u = 0; u < kMostStates; ++u) {
      cheapest[t][u] = kBarred;
      for (std::size_t s = 0; s < kMostStates; ++s)
        cheapest[t][u] =
            std::min(cheapest[t][u], nodes_[node].own[s] + pair_cost(left, node, s, t) + pair_cost(right, node, s, u));
    }
  }
  disconnect(first);
  disconnect(second);
  join(other_end(left, node), other_end(right, node), cheapest);
}

/// To the state that is best if every neighbour could choose for itself.
void Pbqp::fix(std::uint32_t node) {
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t s = 0; s < kMostStates; ++s) {
    std::int64_t sum = nodes_[node].own[s];
    for (const std::uint32_t id : nodes_[node].edges) {
      std::int64_t cheapest = kBarred;
      const Node& neighbour = nodes_[other_end(edges_[id], node)];
      for (std::size_t t = 0; t < kMostStates; ++t)
        cheapest = std::min(cheapest, pair_cost(edges_[id], node, s, t) + neighbour.own[t]);
      sum = std::min(sum + cheapest, kBarred);
    }
    if (sum < least) best = s, least = sum;
  }
  fixed_ = std::min(fixed_ + nodes_[node].own[best], kBarred);
  for (std::size_t s = 0; s < kMostStates; ++s)
    if (s != best) nodes_[node].own[s] = kBarred, given_nodes_[node].own[s] = kBarred;
  while (!nodes_[node].edges.empty()) {
    const std::uint32_t id = nodes_[node].edges.back();
    Own row;
    for (std::size_t t = 0; t < kMostStates; ++t) row[t] = pair_cost(edges_[id], node, best, t);
    charge(other_end(edges_[id], node), row);
    disconnect(id);
  }
}

void Pbqp::eliminate(std::uint32_t node) {
  order_.push_back(node);
  nodes_[node].gone = true;
  given_nodes_[node] = nodes_[node];
  switch (nodes_[node].edges.size()) {
    case 0: return;
    case 1: return eliminate_one(node);
    case 2: return eliminate_two(node);
    default: return fix(node);
  }
}

/// Of a node as it was when it was eliminated: all its neighbours then have their states.
std::size_t Pbqp::cheapest(std::uint32_t node, const std::vector<std::uint8_t>& states) const {
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t s = 0; s < kMostStates; ++s) {
    std::int64_t sum = given_nodes_[node].own[s];
    for (const std::uint32_t id : given_nodes_[node].edges)
      sum = std::min(sum + pair_cost(edges_[id], node, s, states[other_end(edges_[id], node)]), kBarred);
    if (sum < least) best = s, least = sum;
  }
  return best;
}

Pbqp::Choice Pbqp::solve() {
  given_nodes_ = nodes_;
  order_.clear();
  open_.clear();
  fixed_ = 0;
  for (auto node = static_cast<std::uint32_t>(nodes_.size()); node-- > 0;)
    if (nodes_[node].edges.size() <= 2) open_.push_back(node);
  while (order_.size() < nodes_.size()) {
    if (!open_.empty()) {
      const std::uint32_t node = open_.back();
      open_.pop_back();
      if (!nodes_[node].gone && nodes_[node].edges.size() <= 2) eliminate(node);
      continue;
    }
    std::uint32_t most = 0;
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (!nodes_[node].gone && (nodes_[most].gone || nodes_[node].edges.size() > nodes_[most].edges.size()))
        most = node;
    eliminate(most);
  }
  Choice choice;
  choice.states.assign(nodes_.size(), 0);
  choice.cost = fixed_;
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::uint32_t node = order_[i];
    const std::size_t best = cheapest(node, choice.states);
    choice.states[node] = static_cast<std::uint8_t>(best);
    // What others cost was charged to the neighbours that were left: the last of them pays.
    if (given_nodes_[node].edges.empty()) choice.cost = std::min(choice.cost + given_nodes_[node].own[best], kBarred);
  }
  clear();
  return choice;
}

}  // namespace rewright
