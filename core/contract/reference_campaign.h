// A small campaign whose every candidate is proved or not: what pruners are tried on.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/rule/pruner.h>
#include <rewright/rule/rule.h>

#include <set>
#include <string>
#include <vector>

namespace rewright::contract {

struct ReferenceCampaign {
  std::vector<Candidate> candidates;  ///< In the order of enumeration, smallest first.
  /// For each candidate the proved rules that come of it, in either direction: positions in `rules`.
  std::vector<std::vector<std::size_t>> rules_of;
  std::vector<Rule> rules;  ///< Best first.
};

/// Every graph of up to three operators over sums, relu, transposes and products, without pruners. Runs in a folder of
/// its own, which is gone afterwards. Errors: operators, verifiers or axioms that are not there.
[[nodiscard]] Result<ReferenceCampaign> reference_campaign(const Registry& registry, const AxiomSet& axioms);

/// Does each of `dropped` follow from `kept`, by a derivation that the checker accepts? The texts of those that do not.
[[nodiscard]] Result<std::vector<std::string>> not_following(const std::vector<Rule>& dropped,
                                                             const std::vector<Rule>& kept, const Registry& registry);

}  // namespace rewright::contract
