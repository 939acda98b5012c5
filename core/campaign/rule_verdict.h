// One rule and the axioms: does it hold? As a campaign and `rules import` ask, without a store.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <span>
#include <string>
#include <vector>

#include "verify/portfolio.h"

namespace rewright {

struct RuleVerdict {
  Verdict verdict;
  std::string decided_by;  ///< The verifier; "" where none decided.
  /// Proved: under the proof's conditions, with its certificate and its trust. Otherwise as it was given.
  Rule rule;
};

/// Those that are loaded, of the usual order: refute first (evaluate), then proofs with certificates (egraph), then a
/// solver (z3).
[[nodiscard]] REWRIGHT_API std::vector<std::string> default_verifiers(const Registry& registry);

/// The verifiers are asked in their order until one decides. A certificate is replayed by the checker before the rule
/// is said to be proved. Errors: an axiom that fails its audit, a certificate that the checker rejects, verifiers that
/// contradict each other: kMismatch; no such verifier; kBudget: options.stop ended it.
[[nodiscard]] REWRIGHT_API Result<RuleVerdict> verify_rule(const Rule& rule, const AxiomSet& axioms,
                                                           std::span<const VerifierChoice> verifiers,
                                                           const Registry& registry,
                                                           const PortfolioOptions& options = {});

}  // namespace rewright
