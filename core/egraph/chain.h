// From an e-graph to a chain of steps: why two nodes are equal, as rewrites of one term, one position at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/rewrites.h"

namespace rewright::egraph {

/// A rewrite of the subterm at a position; operands are counted from 0.
struct ChainStep {
  std::vector<std::uint8_t> position;
  std::uint32_t instance = 0;
  bool backward = false;  ///< From what the instance built to what it had matched.
};

class Explainer {
 public:
  /// Chains of more steps are given up: nobody would read them, and something is wrong with the search.
  static constexpr std::size_t kMostSteps = 4000;

  Explainer(const EGraph& graph, const Instances& instances) : graph_(graph), instances_(instances) {}

  /// The steps that turn the term of `a` into the term of `b`, which must be in its class; nothing if there are too
  /// many.
  [[nodiscard]] std::optional<std::vector<ChainStep>> explain(NodeId a, NodeId b);

 private:
  void between(NodeId a, NodeId b);
  void conform(const Side& side, std::span<const NodeId> nodes, std::span<const NodeId> variables, std::uint32_t k);
  void release(const Side& side, std::span<const NodeId> nodes, std::span<const NodeId> variables, std::uint32_t k);

  const EGraph& graph_;
  const Instances& instances_;
  std::vector<std::uint8_t> position_;
  std::vector<ChainStep> steps_;
};

}  // namespace rewright::egraph
