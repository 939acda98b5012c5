#include "egraph/saturation.h"

#include <algorithm>

namespace rewright::egraph {

Status Saturation::load(const Rule& rule, std::span<const Constraint> more) {
  sizes_.clear();
  graph_.clear();
  instances_.clear();
  return goal_.load(rule, more);
}

bool Saturation::equal() const {
  for (std::size_t k = 0; k < goal_.source().size(); ++k) {
    if (graph_.find(goal_.source()[k]) != graph_.find(goal_.target()[k])) return false;
  }
  return true;
}

Outcome Saturation::saturate(const SaturationLimits& limits, const Rewrites::MayAssume& may_assume) {
  stats_ = {};
  if (equal()) return Outcome::kEqual;
  const Outcome outcome = saturate_with(vocabulary(), limits, may_assume);
  if (outcome != Outcome::kSaturated) return outcome;
  graph_.touch_all();
  return saturate_with(Vocabulary().set(), limits, may_assume);
}

Vocabulary Saturation::vocabulary() const {
  Vocabulary operators;
  for (NodeId node = 0; node < graph_.size(); ++node) {
    if (!graph_.is_input(node)) operators.set(heads_[graph_.head(node)].operator_number);
  }
  return operators;
}

/// Applies axioms to nodes in the order in which these appear or change, until all outputs are equal.
Outcome Saturation::saturate_with(const Vocabulary& vocabulary, const SaturationLimits& limits,
                                  const Rewrites::MayAssume& may_assume) {
  Rewrites::Wanted wanted;
  wanted.vocabulary = vocabulary;
  for (std::size_t next = 0; next < graph_.touched().size(); ++next) {
    const NodeId node = graph_.touched()[next];
    graph_.take(node);
    if (graph_.superfluous(node)) continue;
    matches_.clear();
    rewrites_.match(graph_, sizes_, wanted, node, matches_);
    for (const Match& match : matches_) {
      stats_.nodes = graph_.size();
      if (++stats_.matches > limits.matches || stats_.nodes > limits.nodes) return Outcome::kLimit;
      if (rewrites_.apply(match, graph_, sizes_, instances_, may_assume) != Rewrites::Applied::kMerged) continue;
      graph_.rebuild();
      if (equal()) return Outcome::kEqual;
    }
  }
  return Outcome::kSaturated;
}

std::vector<Match> Saturation::matches_at(NodeId node, const Rewrites::Wanted& wanted) {
  std::vector<Match> matches;
  if (!graph_.is_input(node)) rewrites_.match(graph_, sizes_, wanted, node, matches);
  return matches;
}

Vocabulary Saturation::operators_of_class(NodeId node) const {
  Vocabulary operators;
  NodeId member = node;
  do {
    if (!graph_.is_input(member)) operators.set(heads_[graph_.head(member)].operator_number);
    member = graph_.next(member);
  } while (member != node);
  return operators;
}

bool Saturation::apply(const Match& match) {
  if (rewrites_.apply(match, graph_, sizes_, instances_) != Rewrites::Applied::kMerged) return false;
  graph_.rebuild();
  return true;
}

Result<EqualityProof> Saturation::explain(const Rule& rule) {
  EqualityProof proof;
  renderer_.begin(rule, goal_.names());
  proof.certificate = "certificate 1\n";
  for (std::size_t k = 0; k < goal_.source().size(); ++k) {
    const auto steps = explainer_.explain(goal_.source()[k], goal_.target()[k]);
    if (!steps)
      return make_error(ErrorCode::kBudget, "output {} has a proof of more than {} steps", k, Explainer::kMostSteps);
    proof.steps += steps->size();
    renderer_.append_output(k, *steps, proof.certificate);
  }
  proof.axioms.assign(renderer_.axioms().begin(), renderer_.axioms().end());
  return proof;
}

Constraint Saturation::constraint_of(const Condition& condition) const {
  return {condition.kind, sizes_.symbolic(condition.left, goal_.names()),
          sizes_.symbolic(condition.right, goal_.names())};
}

Result<std::vector<Constraint>> Saturation::assumptions() {
  std::vector<Constraint> conditions;
  for (std::size_t k = 0; k < goal_.source().size(); ++k) {
    const auto steps = explainer_.explain(goal_.source()[k], goal_.target()[k]);
    if (!steps) return make_error(ErrorCode::kBudget, "the proof has too many steps");
    for (const ChainStep& step : *steps) {
      const Instance& instance = instances_.list[step.instance];
      for (std::uint32_t i = 0; i < instance.assumed_count; ++i) {
        Constraint condition = constraint_of(instances_.assumed[instance.assumed + i]);
        if (std::ranges::find(conditions, condition) == conditions.end()) conditions.push_back(std::move(condition));
      }
    }
  }
  return conditions;
}

}  // namespace rewright::egraph
