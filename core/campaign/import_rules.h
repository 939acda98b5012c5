// Rules from elsewhere: nothing enters as proved because a file said so. Each is a goal like those of a campaign: the
// portfolio judges it, and the store keeps verdicts and the rules that are proved.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"
#include "verify/portfolio.h"

namespace rewright {

/// What an entry says, or TASO's entry of convolutions of so many groups ("1, 1 => 2"; "" where it leaves none open).
struct ImportInstance {
  Rule rule;
  std::string groups = {};
};

/// One entry of a file.
struct ImportCandidate {
  std::size_t index = 0;                  ///< In the file, from 0; TASO's entries may come twice, at two ranks.
  std::vector<ImportInstance> instances;  ///< None where it is no rule here; more than one of TASO's alone.
  std::string reason;                     ///< Why not.
};

enum class ImportVerdict { kProved, kConditional, kRefuted, kUnknown };
[[nodiscard]] REWRIGHT_API const char* name_of(ImportVerdict verdict);

/// One for each entry, that of its first instance; and one more for each other instance that is not refuted.
struct RuleImportReport {
  std::size_t index = 0;
  std::string groups;  ///< As ImportInstance::groups.
  ImportVerdict verdict = ImportVerdict::kUnknown;
  std::string text;  ///< The rule; "" where there is none.
  std::string precondition;
  std::string reason;
  std::string counterexample;
  std::string certificate;
};

/// `format`: "taso" (candidates), "text" (one rule a line) or "json" (what rules export --format json writes). Errors:
/// kParse, with the file and the place.
[[nodiscard]] REWRIGHT_API Result<std::vector<ImportCandidate>> read_rules(const std::string& content,
                                                                           const std::string& file,
                                                                           std::string_view format,
                                                                           const Registry& registry);

struct RuleImportOptions {
  std::string file;
  std::vector<VerifierChoice> verifiers;
  PortfolioOptions portfolio;
};

/// Judges the candidates and writes goals, verdicts and rules to the store, which must be new. Errors: kMismatch (the
/// store is in use, or verifiers contradict each other; the reproducer is then in the store), a verifier that fails.
[[nodiscard]] REWRIGHT_API Result<std::vector<RuleImportReport>> import_rules(
    const std::vector<ImportCandidate>& candidates, const AxiomSet& axioms, Store& store, const Registry& registry,
    const RuleImportOptions& options);

}  // namespace rewright
