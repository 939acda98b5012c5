#include "report/graph_difference.h"

#include <rewright/base/mixing.h>
#include <rewright/optimize/cost.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace rewright {
namespace {

std::uint64_t mix_text(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return mix(hash, text.size());
}

/// What a node is by itself: operator, parameters, types; an input also its name.
std::uint64_t own_hash(const Node& node) {
  std::uint64_t hash = 1;
  if (node.is_input()) hash = mix_text(hash, node.name);
  if (const ApplicationNode* made = node.application())
    hash = mix_text(mix_text(hash, made->op->name()), to_string(made->op->info().params, made->params));
  if (const OpaqueNode* opaque = node.opaque()) hash = mix_text(hash, opaque->serialized);
  for (const TensorType& type : node.outputs) hash = mix_text(hash, fmt::format("{}", type.shape));
  return hash;
}

struct Hashes {
  std::vector<std::uint64_t> from_inputs, to_outputs, neighbours;
};

Hashes hashes_of(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<std::uint64_t> own;
  for (const Node& node : nodes) own.push_back(own_hash(node));
  Hashes hashes{own, own, own};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Port& operand : nodes[i].inputs) {
      const std::size_t from = operand.node.value;
      hashes.from_inputs[i] = mix(mix(hashes.from_inputs[i], hashes.from_inputs[from]), operand.output);
      hashes.neighbours[i] = mix(mix(hashes.neighbours[i], own[from]), operand.output);
    }
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k) {
    const Port port = graph.outputs()[k];
    hashes.to_outputs[port.node.value] += mix(mix(2, k), port.output);
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {  // Users come after what they use; their order does not count: sums.
    for (std::size_t k = 0; k < nodes[i].inputs.size(); ++k) {
      const Port operand = nodes[i].inputs[k];
      hashes.to_outputs[operand.node.value] += mix(mix(mix(3, hashes.to_outputs[i]), k), operand.output);
      hashes.neighbours[operand.node.value] += mix(mix(mix(4, own[i]), k), operand.output);
    }
  }
  return hashes;
}

/// Where a node's first output goes: user and operand, ascending.
using Uses = std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

Uses uses_of_nodes(const Graph& graph) {
  Uses uses(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const auto& inputs = graph.nodes()[i].inputs;
    for (std::uint32_t k = 0; k < inputs.size(); ++k) uses[inputs[k].node.value].emplace_back(i, k);
  }
  return uses;
}

/// Finds pairs, the surest first; a node that has one keeps it.
class Pairing {
 public:
  Pairing(const Graph& graph, const Graph& other)
      : graph_(graph),
        other_(other),
        uses_(uses_of_nodes(graph)),
        other_uses_(uses_of_nodes(other)),
        pair_(graph.nodes().size()),
        taken_(other.nodes().size()) {
    for (const Node& node : graph.nodes()) own_.push_back(own_hash(node));
    for (const Node& node : other.nodes()) other_own_.push_back(own_hash(node));
  }

  Counterparts find() && {
    const Hashes hashes = hashes_of(graph_), others = hashes_of(other_);
    by_hash(hashes.from_inputs, others.from_inputs);
    by_hash(hashes.to_outputs, others.to_outputs);
    while (by_surroundings())
      ;
    by_hash(hashes.neighbours, others.neighbours);
    while (by_surroundings())
      ;
    by_order();
    return std::move(pair_);
  }

 private:
  void join(std::uint32_t node, std::uint32_t other) {
    pair_[node] = other;
    taken_[other] = true;
  }

  void by_hash(const std::vector<std::uint64_t>& hashes, const std::vector<std::uint64_t>& others) {
    std::map<std::uint64_t, std::vector<std::uint32_t>> free;
    for (std::uint32_t j = 0; j < others.size(); ++j)
      if (!taken_[j]) free[mix(others[j], other_own_[j])].push_back(j);
    std::map<std::uint64_t, std::size_t> next;
    for (std::uint32_t i = 0; i < hashes.size(); ++i) {
      if (pair_[i]) continue;
      const std::uint64_t key = mix(hashes[i], own_[i]);
      const auto found = free.find(key);
      if (found == free.end() || next[key] == found->second.size()) continue;
      join(i, found->second[next[key]++]);
    }
  }

  /// Those of which all operands, or all uses, are pairs. True: there were some.
  bool by_surroundings() {
    bool found = false;
    for (std::uint32_t i = 0; i < pair_.size(); ++i) {
      if (pair_[i]) continue;
      std::optional<std::uint32_t> candidate = by_operands(i);
      if (!candidate) candidate = by_uses(i);
      if (!candidate) continue;
      join(i, *candidate);
      found = true;
    }
    return found;
  }

  [[nodiscard]] bool may_be(std::uint32_t node, std::uint32_t other) const {
    return !taken_[other] && own_[node] == other_own_[other];
  }

  [[nodiscard]] std::optional<std::uint32_t> by_operands(std::uint32_t node) const {
    const auto& inputs = graph_.nodes()[node].inputs;
    if (inputs.empty() || !pair_[inputs[0].node.value]) return {};
    for (const auto& [user, operand] : other_uses_[*pair_[inputs[0].node.value]]) {
      const auto& others = other_.nodes()[user].inputs;
      if (operand != 0 || !may_be(node, user) || others.size() != inputs.size()) continue;
      const auto same = [&](const Port& a, const Port& b) {
        return a.output == b.output && pair_[a.node.value] == b.node.value;
      };
      if (std::ranges::equal(inputs, others, same)) return user;
    }
    return {};
  }

  [[nodiscard]] std::optional<std::uint32_t> by_uses(std::uint32_t node) const {
    if (uses_[node].empty() || !pair_[uses_[node][0].first]) return {};
    const auto [user, operand] = uses_[node][0];
    const auto& others = other_.nodes()[*pair_[user]].inputs;
    if (operand >= others.size()) return {};
    const std::uint32_t candidate = others[operand].node.value;
    if (!may_be(node, candidate) || uses_[node].size() != other_uses_[candidate].size()) return {};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> mapped;
    for (const auto& [by, at] : uses_[node]) {
      if (!pair_[by]) return {};
      mapped.emplace_back(*pair_[by], at);
    }
    std::ranges::sort(mapped);
    return mapped == other_uses_[candidate] ? std::optional(candidate) : std::nullopt;
  }

  /// Nodes between changes, which have no neighbour that stayed: in order, where there are as many on both sides.
  void by_order() {
    std::map<std::uint64_t, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> alike;
    std::vector<bool> stays(pair_.size());
    for (std::uint32_t i = 0; i < pair_.size(); ++i) stays[i] = pair_[i].has_value();
    for (std::uint32_t i = 0; i < pair_.size(); ++i)
      if (!stays[i] && is_alone(graph_, uses_, stays, i)) alike[own_[i]].first.push_back(i);
    for (std::uint32_t j = 0; j < taken_.size(); ++j)
      if (!taken_[j] && is_alone(other_, other_uses_, taken_, j)) alike[other_own_[j]].second.push_back(j);
    for (const auto& [own, nodes] : alike) {
      const auto& [mine, others] = nodes;
      if (mine.size() != others.size()) continue;
      for (std::size_t n = 0; n < mine.size(); ++n) join(mine[n], others[n]);
    }
  }

  [[nodiscard]] static bool is_alone(const Graph& graph, const Uses& uses, const std::vector<bool>& stays,
                                     std::uint32_t node) {
    const auto& inputs = graph.nodes()[node].inputs;
    return !inputs.empty() && !uses[node].empty() &&
           std::ranges::none_of(inputs, [&](const Port& port) { return stays[port.node.value]; }) &&
           std::ranges::none_of(uses[node], [&](const auto& use) { return stays[use.first]; });
  }

  const Graph& graph_;
  const Graph& other_;
  Uses uses_, other_uses_;
  std::vector<std::uint64_t> own_, other_own_;
  Counterparts pair_;
  std::vector<bool> taken_;
};

}  // namespace

Counterparts counterparts(const Graph& graph, const Graph& other) { return Pairing(graph, other).find(); }

Counterparts reversed(const Counterparts& counterparts, std::size_t size) {
  Counterparts back(size);
  for (std::uint32_t i = 0; i < counterparts.size(); ++i)
    if (counterparts[i]) back[*counterparts[i]] = i;
  return back;
}

std::vector<bool> touched_nodes(const Graph& graph, const Counterparts& counterparts, const Graph& other) {
  const std::vector<bool> weight = weight_only(graph);
  const auto takes_another = [&](std::uint32_t node) {
    const auto& inputs = graph.nodes()[node].inputs;
    const auto& others = other.nodes()[*counterparts[node]].inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const std::uint32_t operand = inputs[k].node.value;
      if (weight[operand] && counterparts[operand] != others[k].node.value) return true;
    }
    return false;
  };
  std::vector<bool> touched;
  for (std::uint32_t i = 0; i < counterparts.size(); ++i)
    touched.push_back(!counterparts[i] || (!weight[i] && takes_another(i)));
  return touched;
}

std::vector<bool> changed_nodes(const Graph& graph, const Graph& other) {
  return touched_nodes(graph, counterparts(graph, other), other);
}

}  // namespace rewright
