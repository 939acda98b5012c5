// Rules from where a user keeps them: a store, a file of rules with their proofs, a file of rules.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <string>
#include <string_view>
#include <vector>

#include "campaign/family_members.h"
#include "store/store.h"
#include "verify/certificate_text.h"

namespace rewright {

/// The library of a store, each rule judged again (rule_judge.h): its id is the hash of its text, its proof is replayed
/// or the solver that gave its word is asked again, the axioms stood their audit. Rules with operators that are loaded
/// in another version than the store was made with are Trust::kNone, and so are those whose solver cannot be asked
/// here. Errors: kMismatch, the row that was changed or whose proof is rejected; kNotFound, an axiom file.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> judged_rules(Store& store, const Registry& registry);

/// A folder is a store: judged_rules. A file is one of
///   rules with certificates, as `certificates export` writes them: each is replayed on the axiom files that the file
///       names, which are read anew, so Trust::kCertificate is earned here;
///       of families also the members that the file names and those that `uses` asks for, and what these lead to;
///   rules, one a line: Trust::kNone, whatever a comment says.
/// Errors: what cannot be read, FILE:LINE where a proof is rejected.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> read_rule_source(const std::string& path, const Registry& registry,
                                                                      const ParameterUses& uses = {});

/// The axiom files that a file of rules with certificates names; none of one without.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::string>> axiom_files_of(const std::string& path);

/// What can be proved from the operators' definitions becomes Trust::kTheorem, with that proof, which is replayed:
/// rules that rest on axioms, on a solver, on nothing. Others stay what they are.
REWRIGHT_API void make_theorems(std::vector<Rule>& rules, const Registry& registry);

/// Rules with their proofs as a file: each with the parameters that may be free; one that is a member of the family of
/// an earlier one becomes a line there.
[[nodiscard]] REWRIGHT_API Result<CertificateFile> with_families(CertificateFile file, const AxiomSet& axioms,
                                                                 const Registry& registry);

/// A file of rules with certificates, each replayed on these axioms, whichever the file names.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> read_proved_rules(const std::string& path, const AxiomSet& axioms,
                                                                       const Registry& registry);

/// Of each equation that is there in both directions only the rule that comes first.
[[nodiscard]] REWRIGHT_API std::vector<Rule> one_direction_each(const std::vector<Rule>& rules);

}  // namespace rewright
