// One rule in an e-graph, saturated: what the prover and the deriver share.
#pragma once

#include <rewright/egraph/prover.h>

#include <vector>

#include "egraph/chain.h"
#include "egraph/goal.h"
#include "egraph/render.h"

namespace rewright::egraph {

enum class Outcome : std::uint8_t { kEqual, kSaturated, kLimit };

class Saturation {
 public:
  Saturation() {
    graph_.set_depth([this](HeadId head) { return rewrites_.depth_of(head); });
  }
  Saturation(const Saturation&) = delete;
  Saturation& operator=(const Saturation&) = delete;

  [[nodiscard]] Rewrites& rewrites() { return rewrites_; }
  [[nodiscard]] const SaturationStats& stats() const { return stats_; }
  void set_stats(const SaturationStats& stats) { stats_ = stats; }

  /// The rule's sides, and nothing else, in the e-graph.
  Status load(const Rule& rule, std::span<const Constraint> more = {});
  [[nodiscard]] bool equal() const;
  /// Axioms that stay among the operators of both sides come first; the others only where these lead nowhere.
  Outcome saturate(const SaturationLimits& limits, const Rewrites::MayAssume& may_assume = nullptr);
  /// The matches at one node, in order.
  [[nodiscard]] std::vector<Match> matches_at(NodeId node, const Rewrites::Wanted& wanted);
  /// The operators of all nodes; of a node's class.
  [[nodiscard]] Vocabulary vocabulary() const;
  [[nodiscard]] Vocabulary operators_of_class(NodeId node) const;
  /// Applies one match and restores congruence; false if that merged nothing.
  bool apply(const Match& match);
  /// A certificate of the goal, whose sides must be equal.
  Result<EqualityProof> explain(const Rule& rule);
  /// The conditions taken for granted on the goal's chains.
  Result<std::vector<Constraint>> assumptions();
  [[nodiscard]] Constraint constraint_of(const Condition& condition) const;

  [[nodiscard]] const RuleGraph& goal() const { return goal_; }
  [[nodiscard]] const EGraph& graph() const { return graph_; }

 private:
  Outcome saturate_with(const Vocabulary& vocabulary, const SaturationLimits& limits,
                        const Rewrites::MayAssume& may_assume);

  Heads heads_;
  Sizes sizes_;
  EGraph graph_;
  Rewrites rewrites_{heads_};
  RuleGraph goal_{heads_, sizes_, graph_};
  Instances instances_;
  Explainer explainer_{graph_, instances_};
  Renderer renderer_{heads_, sizes_, graph_, instances_};
  std::vector<Match> matches_;
  SaturationStats stats_;
};

}  // namespace rewright::egraph
