// From proved rules to a library: the chain of pruners that work on rules, and what it leaves.
#pragma once

#include "campaign/phases.h"
#include "rule/derivations.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rewright {

struct ProvedRule {
  Rule rule;
  std::int64_t goal = 0;  ///< Where its proof is.
};

struct Library {
  std::vector<ProvedRule> rules;              ///< Best first; the two directions of an equation side by side.
  std::vector<DerivationRecord> derivations;  ///< Of the rules that were dropped, from those above; in order of goal.
};

/// True if `a` comes before `b` in a library: it is smaller (applications of both sides, shared ones counted as often
/// as they are used), then more general (fewer conditions, then more inputs), then cheaper (it does not lead to the
/// larger side), then first by its id.
[[nodiscard]] bool comes_before(const Rule& a, const Rule& b);

/// Sorts the rules, lets the campaign's pruners of rules drop what is superfluous, in their order, and finds for each
/// dropped rule a derivation from what is left in the end; every derivation is replayed. A rule for which none is found
/// within the limits comes back. Of each equation that stays the library has both directions, as far as they are rules.
/// Without pruners of rules the library is what was proved. Nothing: the run was stopped.
[[nodiscard]] Result<std::optional<Library>> build_library(Run& run, std::vector<ProvedRule> proved);

}  // namespace rewright
