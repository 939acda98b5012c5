#include "campaign/proposals.h"

#include "rule/canonical.h"
#include "rule/conditions.h"
#include "rule/usable.h"

namespace rewright {
namespace {

// A rule that can be applied, or why there is none.
Result<Rule> usable_rule(const Graph& source, const Graph& target, FreeSizes free) {
  REWRIGHT_TRY(Rule rule, generalise(source, target, free));
  REWRIGHT_CHECK(check_usable(rule));
  return rule;
}

}  // namespace

Result<Proposal> propose(const CandidateRecord& candidate, bool reversed, FreeSizes free, const Registry& registry) {
  REWRIGHT_TRY(const Graph source, parse_graph(reversed ? candidate.target : candidate.source, registry));
  REWRIGHT_TRY(const Graph target, parse_graph(reversed ? candidate.source : candidate.target, registry));
  Proposal proposal;
  proposal.record = {candidate.position, reversed, free == FreeSizes::kNumber, {}, {}};
  Result<Rule> rule = usable_rule(source, target, free);
  if (rule) {
    proposal.rule = *std::move(rule);
  } else {
    proposal.record.reason = rule.error().message;
  }
  return proposal;
}

Result<Rule> with_conditions(Rule rule, const std::vector<Constraint>& conditions) {
  if (conditions.empty()) return rule;
  REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
  std::vector<Constraint> known = source.defined;
  known.insert(known.end(), rule.precondition.begin(), rule.precondition.end());
  REWRIGHT_TRY(const auto missing, missing_conditions(known, conditions, size_order(rule)));
  rule.precondition.insert(rule.precondition.end(), missing.begin(), missing.end());
  rule.id = rule_id(rule);
  return rule;
}

Result<GoalBook> GoalBook::open(Store& store) {
  GoalBook book(store);
  REWRIGHT_TRY(const std::vector<GoalRecord> goals, store.goals());
  for (const GoalRecord& goal : goals) {
    book.positions_[goal.id] = goal.position;
    if (goal.status == "proved") book.proved_.insert(goal.id);
  }
  return book;
}

bool GoalBook::has_news(const Proposal& proposal) const {
  return proposal.rule && !positions_.contains(proposal.rule->id);
}

bool GoalBook::is_proved(const Proposal& proposal) const {
  return proposal.rule && proved_.contains(proposal.rule->id);
}

Status GoalBook::add(Proposal proposal) {
  if (const std::optional<Rule>& rule = proposal.rule) {
    const auto next = static_cast<std::int64_t>(positions_.size());
    const auto [known, fresh] = positions_.emplace(rule->id, next);
    proposal.record.goal = known->second;
    if (fresh) {
      GoalRecord goal;
      goal.position = next;
      goal.id = rule->id;
      goal.text = to_text(*rule);
      goal.name = rule->name;
      goal.example = example_text(*rule);
      REWRIGHT_CHECK(store_->add(goal));
    }
  }
  return store_->add(proposal.record);
}

}  // namespace rewright
