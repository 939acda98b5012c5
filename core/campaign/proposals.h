// From candidates to goals: a candidate is generalised in both directions, and every direction that can serve as a rule
// is a goal, once, whichever candidates lead to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign/phases.h"

namespace rewright {

/// One direction of a candidate.
struct Proposal {
  ProposalRecord record;     ///< `goal` is not set yet; `reason` says why there is no rule.
  std::optional<Rule> rule;  ///< One that can be applied.
};
/// Errors: a candidate that cannot be read back. A direction that makes no rule is no error.
[[nodiscard]] Result<Proposal> propose(const CandidateRecord& candidate, bool reversed, FreeSizes free,
                                       const Registry& registry);

/// The rule with the conditions of its proof, in normal form, as far as nothing implies them.
[[nodiscard]] Result<Rule> with_conditions(Rule rule, const std::vector<Constraint>& conditions);

/// The goals of a store by id, and how more are added.
class GoalBook {
 public:
  [[nodiscard]] static Result<GoalBook> open(Store& store);
  /// True if the proposal is a goal that is not there yet.
  [[nodiscard]] bool has_news(const Proposal& proposal) const;
  [[nodiscard]] bool is_proved(const Proposal& proposal) const;
  /// Writes the proposal, and its goal if that is new.
  Status add(Proposal proposal);

 private:
  explicit GoalBook(Store& store) : store_(&store) {}
  Store* store_;
  std::map<std::string, std::int64_t> positions_;
  std::set<std::string> proved_;
};

}  // namespace rewright
