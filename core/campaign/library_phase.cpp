#include "campaign/phases.h"
#include "rule/canonical.h"

#include <set>

namespace rewright {

Result<bool> library_phase(Run& run) {
  REWRIGHT_CHECK(run.store.database().transaction([&]() -> Status {
    REWRIGHT_TRY(const std::vector<GoalRecord> goals, run.store.goals());
    std::set<std::string> ids, names;
    for (const GoalRecord& goal : goals) {
      if (goal.status != "proved") continue;
      if (run.config.trust == Trust::kCertificate && goal.trust != name_of(Trust::kCertificate)) continue;
      RuleRecord record{static_cast<std::int64_t>(ids.size()), goal.position, {}, goal.rule};
      REWRIGHT_TRY(record.rule, parse_rule(goal.rule, run.registry));
      record.rule.id = rule_id(record.rule);
      if (!ids.insert(record.rule.id).second) continue;  // Two goals that the conditions of their proofs made equal.
      record.rule.name = unique_name(record.rule, names);
      record.rule.trust = goal.trust == name_of(Trust::kCertificate) ? Trust::kCertificate : Trust::kSolver;
      record.rule.certificate = goal.certificate;
      REWRIGHT_CHECK(read_example(goal.example, record.rule));
      REWRIGHT_CHECK(run.store.add(record));
    }
    return run.store.finish("library");
  }));
  return true;
}

}  // namespace rewright
