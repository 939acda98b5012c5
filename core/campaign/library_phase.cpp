#include "campaign/library.h"
#include "rule/canonical.h"

#include <set>

namespace rewright {
namespace {

// The rules that are proved well enough, in the order of their goals, each once: the conditions of their proofs may
// make two goals one rule.
Result<std::vector<ProvedRule>> proved_rules(Run& run) {
  REWRIGHT_TRY(const std::vector<GoalRecord> goals, run.store.goals());
  std::vector<ProvedRule> proved;
  std::set<std::string> ids;
  for (const GoalRecord& goal : goals) {
    if (goal.status != "proved") continue;
    if (run.config.trust == Trust::kCertificate && goal.trust != name_of(Trust::kCertificate)) continue;
    REWRIGHT_TRY(Rule rule, parse_rule(goal.rule, run.registry));
    rule.id = rule_id(rule);
    if (!ids.insert(rule.id).second) continue;
    rule.trust = goal.trust == name_of(Trust::kCertificate) ? Trust::kCertificate : Trust::kSolver;
    rule.certificate = goal.certificate;
    REWRIGHT_CHECK(read_example(goal.example, rule));
    proved.push_back({std::move(rule), goal.position});
  }
  return proved;
}

Status write(Run& run, const Library& library) {
  std::set<std::string> names;
  for (const ProvedRule& proved : library.rules) {
    RuleRecord record{static_cast<std::int64_t>(names.size()), proved.goal, proved.rule, to_text(proved.rule)};
    record.rule.name = unique_name(record.rule, names);
    REWRIGHT_CHECK(run.store.add(record));
  }
  if (library.derivations.empty()) return {};
  REWRIGHT_TRY(DerivationTable table, DerivationTable::open(run.store));
  for (const DerivationRecord& derivation : library.derivations) REWRIGHT_CHECK(table.add(derivation));
  return {};
}

}  // namespace

Result<bool> library_phase(Run& run) {
  REWRIGHT_TRY(std::vector<ProvedRule> proved, proved_rules(run));
  REWRIGHT_TRY(const std::optional<Library> library, build_library(run, std::move(proved)));
  if (!library) return false;
  REWRIGHT_CHECK(run.store.database().transaction([&]() -> Status {
    REWRIGHT_CHECK(write(run, *library));
    return run.store.finish("library");
  }));
  return true;
}

}  // namespace rewright
