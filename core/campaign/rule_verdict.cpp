#include "campaign/rule_verdict.h"

#include <utility>

#include "campaign/proposals.h"
#include "verify/rule_judge.h"

namespace rewright {

std::vector<std::string> default_verifiers(const Registry& registry) {
  std::vector<std::string> names;
  for (const char* name : {"evaluate", "egraph", "z3"}) {
    if (registry.find<Verifier>(name) != nullptr) names.emplace_back(name);
  }
  return names;
}

Result<RuleVerdict> verify_rule(const Rule& rule, const AxiomSet& axioms, std::span<const VerifierChoice> verifiers,
                                const Registry& registry, const PortfolioOptions& options) {
  RuleJudge judge(axioms, registry);
  REWRIGHT_CHECK(judge.check_axioms());
  REWRIGHT_TRY(PortfolioReport said, verify_all({&rule, 1}, axioms, verifiers, registry, options));
  if (!said.contradictions.empty()) return make_error(ErrorCode::kMismatch, "{}", said.contradictions.front().message);
  RuleReport& report = said.rules.front();
  RuleVerdict result{std::move(report.outcome), std::move(report.decided_by), rule};
  if (result.verdict.kind != VerdictKind::kProved) return result;
  REWRIGHT_TRY(result.rule, with_conditions(rule, result.verdict.conditions));
  result.rule.certificate = result.verdict.certificate;
  if (!result.rule.certificate.empty()) REWRIGHT_CHECK(judge.prove(result.rule, result.rule.certificate));
  result.rule.trust = trust_by(result.rule.certificate);
  return result;
}

}  // namespace rewright
