#include "egraph/chain.h"

namespace rewright::egraph {

std::optional<std::vector<ChainStep>> Explainer::explain(NodeId a, NodeId b) {
  position_.clear();
  steps_.clear();
  between(a, b);
  if (steps_.size() > kMostSteps) return std::nullopt;
  return std::move(steps_);
}

void Explainer::between(NodeId a, NodeId b) {
  if (a == b || steps_.size() > kMostSteps) return;
  for (const Edge& edge : graph_.path(a, b)) {
    if (edge.reason == kCongruence) {
      const auto from = graph_.operands(edge.from), to = graph_.operands(edge.to);
      for (std::size_t i = 0; i < from.size(); ++i) {
        position_.push_back(static_cast<std::uint8_t>(i));
        between(from[i], to[i]);
        position_.pop_back();
      }
      continue;
    }
    const Instance& instance = instances_.list[edge.reason];
    const Use& use = *instance.use;
    const std::span<const NodeId> nodes = instances_.nodes;
    const auto variables = nodes.subspan(instance.variables, use.first_slot.size());
    const auto matched = nodes.subspan(instance.from, use.from->applications.size());
    const auto built = nodes.subspan(instance.to, use.to->applications.size());
    const Side& first = edge.backward ? *use.to : *use.from;
    const Side& second = edge.backward ? *use.from : *use.to;
    if (!first.root.is_variable) conform(first, edge.backward ? built : matched, variables, 0);
    steps_.push_back({position_, edge.reason, edge.backward});
    if (!second.root.is_variable) release(second, edge.backward ? matched : built, variables, 0);
  }
}

/// Turns the term of nodes[k] into the instance of the side's application k.
void Explainer::conform(const Side& side, std::span<const NodeId> nodes, std::span<const NodeId> variables,
                        std::uint32_t k) {
  const auto operands = graph_.operands(nodes[k]);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Ref wanted = side.applications[k].operands[i];
    position_.push_back(static_cast<std::uint8_t>(i));
    between(operands[i], wanted.is_variable ? variables[wanted.index] : nodes[wanted.index]);
    if (!wanted.is_variable) conform(side, nodes, variables, wanted.index);
    position_.pop_back();
  }
}

/// The way back.
void Explainer::release(const Side& side, std::span<const NodeId> nodes, std::span<const NodeId> variables,
                        std::uint32_t k) {
  const auto operands = graph_.operands(nodes[k]);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Ref given = side.applications[k].operands[i];
    position_.push_back(static_cast<std::uint8_t>(i));
    if (!given.is_variable) release(side, nodes, variables, given.index);
    between(given.is_variable ? variables[given.index] : nodes[given.index], operands[i]);
    position_.pop_back();
  }
}

}  // namespace rewright::egraph
