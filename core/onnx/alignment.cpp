#include "onnx/alignment.h"

#include <rewright/base/mixing.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

namespace rewright::model {
namespace {

/// Users of a tensor are compared one with the other up to this number.
constexpr std::size_t kMostUsers = 64;

bool alike(const Node& a, const Node& b) {
  if (a.content.index() != b.content.index() || a.inputs.size() != b.inputs.size() || a.outputs != b.outputs)
    return false;
  if (a.application()) return *a.application() == *b.application();
  return a.opaque() && a.opaque()->serialized == b.opaque()->serialized;
}

std::size_t hash_of(const Node& node, const std::vector<Port>& inputs) {
  std::size_t hash = std::hash<const void*>()(node.application() ? node.application()->op : nullptr);
  if (!node.outputs.empty()) hash = hash * 31 + std::hash<std::int64_t>()(node.outputs[0].shape.elements());
  for (const Port& port : inputs) hash = mix(hash, port.node.value * 64ULL + port.output);
  return hash;
}

/// The positions at which `user` takes the first node's outputs, and which of these.
std::vector<std::pair<std::size_t, std::uint32_t>> places(const Node& user, NodeId of) {
  std::vector<std::pair<std::size_t, std::uint32_t>> found;
  for (std::size_t k = 0; k < user.inputs.size(); ++k)
    if (user.inputs[k].node == of) found.emplace_back(k, user.inputs[k].output);
  return found;
}

/// By node: a weight, or an application on such alone.
std::vector<bool> nodes_on_weights(const Graph& graph) {
  std::vector<bool> known;
  for (const Node& node : graph.nodes()) {
    const bool on_known = std::ranges::all_of(node.inputs, [&](Port port) { return known[port.node.value]; });
    known.push_back(node.is_weight() || (node.application() && on_known));
  }
  return known;
}

}  // namespace

std::vector<std::vector<NodeId>> users_of(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
    for (const Port& port : graph.nodes()[i].inputs) users[port.node.value].push_back(NodeId{i});
  return users;
}

Alignment::Alignment(const Graph& now, const Graph& then, Guesses guesses)
    : now_(now),
      then_(then),
      then_of_(now.nodes().size()),
      now_of_(then.nodes().size()),
      same_(now.nodes().size(), false),
      users_now_(users_of(now)),
      users_then_(users_of(then)) {
  match_inputs();
  match_same();
  if (guesses >= Guesses::kNeighbours) {
    match_outputs();
    match_users();
  }
  if (guesses >= Guesses::kWeights) match_weights();
  if (guesses >= Guesses::kAll) match_rest();
}

void Alignment::match_inputs() {
  std::unordered_map<std::string, NodeId> by_name;
  for (const NodeId id : then_.inputs()) by_name[then_.node(id).name] = id;
  for (const NodeId id : now_.inputs()) {
    const Node& node = now_.node(id);
    const auto found = by_name.find(node.name);
    if (found == by_name.end()) continue;
    const Node& other = then_.node(found->second);
    if (node.is_weight() != other.is_weight() || node.outputs != other.outputs || node.constant() != other.constant())
      continue;
    then_of_[id.value] = found->second;
    now_of_[found->second.value] = id;
    same_[id.value] = true;
  }
}

/// (1), from the inputs on.
void Alignment::match_same() {
  std::unordered_multimap<std::size_t, NodeId> applications;
  for (std::uint32_t i = 0; i < then_.nodes().size(); ++i) {
    const Node& node = then_.nodes()[i];
    if (!node.is_input()) applications.emplace(hash_of(node, node.inputs), NodeId{i});
  }
  for (std::uint32_t i = 0; i < now_.nodes().size(); ++i) {
    const Node& node = now_.nodes()[i];
    if (node.is_input()) continue;
    std::vector<Port> operands;
    for (const Port& port : node.inputs) {
      if (same_[port.node.value]) operands.push_back({*then_of_[port.node.value], port.output});
    }
    if (operands.size() != node.inputs.size()) continue;
    const auto [first, last] = applications.equal_range(hash_of(node, operands));
    for (auto at = first; at != last; ++at) {
      const Node& other = then_.node(at->second);
      if (now_of_[at->second.value] || !alike(node, other) || other.inputs != operands) continue;
      then_of_[i] = at->second;
      now_of_[at->second.value] = NodeId{i};
      same_[i] = true;
      break;
    }
  }
}

/// True where both were free and are alike; then they correspond.
bool Alignment::match(NodeId now, NodeId then) {
  if (then_of_[now.value] || now_of_[then.value] || !alike(now_.node(now), then_.node(then))) return false;
  then_of_[now.value] = then;
  now_of_[then.value] = now;
  matched_.push_back(now);
  return true;
}

void Alignment::match_operands() {
  for (; operands_looked_at_ < matched_.size(); ++operands_looked_at_) {
    const NodeId now = matched_[operands_looked_at_], then = *then_of_[now.value];
    for (std::size_t k = 0; k < now_.node(now).inputs.size(); ++k) {
      const Port a = now_.node(now).inputs[k], b = then_.node(then).inputs[k];
      if (a.output == b.output) match(a.node, b.node);
    }
  }
}

/// (2) and (3), as far as they lead.
void Alignment::match_neighbours() {
  match_operands();
  for (; users_looked_at_ < matched_.size(); ++users_looked_at_) {
    match_users_of(matched_[users_looked_at_]);
    match_operands();
  }
}

void Alignment::match_outputs() {
  for (std::size_t i = 0; i < std::min(now_.outputs().size(), then_.outputs().size()); ++i) {
    const Port a = now_.outputs()[i], b = then_.outputs()[i];
    if (a.output == b.output) match(a.node, b.node);
  }
  match_neighbours();
}

void Alignment::match_users() {
  for (std::uint32_t i = 0; i < same_.size(); ++i)
    if (same_[i]) match_users_of(NodeId{i});
  match_neighbours();
}

void Alignment::match_users_of(NodeId now) {
  const NodeId then = *then_of_[now.value];
  const auto& others = users_then_[then.value];
  if (users_now_[now.value].size() > kMostUsers || others.size() > kMostUsers) return;
  for (const NodeId user : users_now_[now.value]) {
    if (then_of_[user.value]) continue;
    const auto wanted = places(now_.node(user), now);
    const auto fits = [&](NodeId other) {
      return !now_of_[other.value] && alike(now_.node(user), then_.node(other)) &&
             places(then_.node(other), then) == wanted;
    };
    const auto found = std::ranges::find_if(others, fits);
    if (found == others.end()) continue;
    const bool is_only =
        std::none_of(found + 1, others.end(), [&](NodeId other) { return other != *found && fits(other); });
    if (is_only) match(user, *found);
  }
}

/// (4).
void Alignment::match_weights() {
  const std::vector<bool> on_weights = nodes_on_weights(now_);
  std::vector<std::vector<NodeId>> weights(on_weights.size());  // Those of the original that a node on weights reads.
  for (std::uint32_t i = 0; i < on_weights.size(); ++i) {
    if (!on_weights[i]) continue;
    if (now_.nodes()[i].is_input() && then_of_[i]) weights[i].push_back(*then_of_[i]);
    for (const Port& port : now_.nodes()[i].inputs) {
      const auto& read = weights[port.node.value];
      if (weights[i].size() + read.size() <= kMostUsers) weights[i].insert(weights[i].end(), read.begin(), read.end());
    }
  }
  for (std::uint32_t i = 0; i < on_weights.size(); ++i) {
    if (on_weights[i] || then_of_[i]) continue;
    std::optional<NodeId> only;
    bool is_only = true;
    for (const Port& port : now_.nodes()[i].inputs) {
      for (const NodeId weight : weights[port.node.value]) {
        for (const NodeId user : users_then_[weight.value]) {
          if (now_of_[user.value] || !alike(now_.nodes()[i], then_.node(user))) continue;
          is_only = is_only && (!only || *only == user);
          only = user;
        }
      }
    }
    if (only && is_only) match(NodeId{i}, *only);
  }
  match_neighbours();
}

/// (5), the nodes first that there are fewest of.
void Alignment::match_rest() {
  struct Class {
    std::vector<NodeId> now, then;
  };
  std::vector<Class> classes;
  std::unordered_multimap<std::size_t, std::size_t> by_hash;
  const auto class_of = [&](const Graph& graph, NodeId id) -> Class& {
    const Node& node = graph.node(id);
    const std::size_t hash = hash_of(node, {});
    const auto [first, last] = by_hash.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const Class& known = classes[at->second];
      if (alike(node, known.now.empty() ? then_.node(known.then[0]) : now_.node(known.now[0])))
        return classes[at->second];
    }
    by_hash.emplace(hash, classes.size());
    return classes.emplace_back();
  };
  for (std::uint32_t i = 0; i < then_of_.size(); ++i)
    if (!then_of_[i] && !now_.nodes()[i].is_input()) class_of(now_, NodeId{i}).now.push_back(NodeId{i});
  for (std::uint32_t i = 0; i < now_of_.size(); ++i)
    if (!now_of_[i] && !then_.nodes()[i].is_input()) class_of(then_, NodeId{i}).then.push_back(NodeId{i});
  std::ranges::stable_sort(classes, {}, [](const Class& nodes) { return nodes.now.size(); });
  for (Class& nodes : classes) {
    std::erase_if(nodes.now, [&](NodeId id) { return then_of_[id.value].has_value(); });
    std::erase_if(nodes.then, [&](NodeId id) { return now_of_[id.value].has_value(); });
    if (nodes.now.size() != nodes.then.size()) continue;
    for (std::size_t i = 0; i < nodes.now.size(); ++i) match(nodes.now[i], nodes.then[i]);
    match_neighbours();
  }
}

}  // namespace rewright::model
