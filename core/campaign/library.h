// From proved rules to a library: the chain of pruners that work on rules, and what it leaves.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/phases.h"
#include "store/derivations.h"
#include "verify/rule_judge.h"

namespace rewright {

struct ProvedRule {
  Rule rule;
  std::optional<std::int64_t> goal;  ///< Where its proof is; none for a more general form of a rule, which was no goal.
};

struct Library {
  std::vector<ProvedRule> rules;              ///< Best first; the two directions of an equation side by side.
  std::vector<DerivationRecord> derivations;  ///< Of the rules that were dropped, from those above; in order of goal.
};

/// True if `a` comes before `b` in a library: it is smaller (applications of both sides, shared ones counted as often
/// as they are used), then more general (more inputs, then fewer conditions), then cheaper (it does not lead to the
/// larger side), then first by its id.
[[nodiscard]] bool comes_before(const Rule& a, const Rule& b);

/// Adds the general forms that are not `known` and whose proofs the checker accepts; the log says which others it does
/// not, and how many were added.
REWRIGHT_API void add_general_forms(std::vector<ProvedRule>& rules, std::vector<std::optional<Rule>> forms,
                                    std::set<std::string> known, RuleJudge& judge,
                                    const std::function<void(const std::string&)>& log);

/// Sorts the rules and lets the campaign's pruners of rules drop what is superfluous, in their order. Where the
/// campaign says `generalise`, more general forms of what is left are proved (campaign/generality.h), and the pruners
/// see these and what is left once more. Then each dropped rule gets a derivation from what is left in the end, and
/// every derivation is replayed. A rule for which none is found within the limits comes back. Of each equation that
/// stays the library has both directions, as far as they are rules. Without pruners of rules the library is what was
/// proved. Nothing: the run was stopped.
[[nodiscard]] Result<std::optional<Library>> build_library(Run& run, std::vector<ProvedRule> proved);

}  // namespace rewright
