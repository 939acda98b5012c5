#include "discover/usage.h"

namespace rewright {

Result<Usage> usage_of(Store& store) {
  Usage usage;
  REWRIGHT_TRY(const std::vector<RuleText> rules, store.rule_texts());
  for (const RuleText& rule : rules) {
    ++usage.rules;
    REWRIGHT_TRY(const std::vector<VerdictRecord> verdicts, store.verdicts(rule.goal));
    bool told = false;
    for (const VerdictRecord& record : verdicts) {
      if (record.verdict.kind != VerdictKind::kProved) continue;
      told |= !record.verdict.axioms.empty() || !record.verdict.certificate.empty();
      for (const std::string& axiom : record.verdict.axioms) {
        auto& ids = usage.rules_of[axiom];
        if (ids.empty() || ids.back() != rule.id) ids.push_back(rule.id);
      }
    }
    usage.silent += !told;
  }
  return usage;
}

}  // namespace rewright
