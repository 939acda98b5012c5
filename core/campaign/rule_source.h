// Rules from where a user keeps them: a store, a file of rules with their proofs, a file of rules.
#pragma once

#include <rewright/axiom.h>
#include <rewright/export.h>
#include <rewright/registry.h>
#include <rewright/rule.h>

#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// A folder is a store: its library. A file is one of
///   rules with certificates, as `certificates export` writes them: each is replayed on the axiom files that the file
///       names, which are read anew, so Trust::kCertificate is earned here;
///   rules, one a line: Trust::kNone, whatever a comment says.
/// Errors: what cannot be read, FILE:LINE where a proof is rejected.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> read_rule_source(const std::string& path,
                                                                      const Registry& registry);

/// A file of rules with certificates, each replayed on these axioms, whichever the file names.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> read_proved_rules(const std::string& path, const AxiomSet& axioms,
                                                                       const Registry& registry);

/// Of each equation that is there in both directions only the rule that comes first.
[[nodiscard]] REWRIGHT_API std::vector<Rule> one_direction_each(const std::vector<Rule>& rules);

}  // namespace rewright
