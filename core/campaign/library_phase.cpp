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

// A general form was no goal, or one that no verifier decided; it becomes one that is proved.
Result<std::int64_t> goal_of(Store& store, const ProvedRule& proved) {
  if (proved.goal) return *proved.goal;
  REWRIGHT_TRY(Statement row, store.database().prepare("SELECT position FROM goals WHERE id = ?"));
  REWRIGHT_TRY(const bool known, row.query(proved.rule.id));
  REWRIGHT_TRY(const std::int64_t count, store.count("goals"));
  GoalRecord goal;
  goal.position = known ? row.integer(0) : count;
  goal.id = proved.rule.id;
  goal.text = goal.rule = to_text(proved.rule);
  goal.name = proved.rule.name;
  goal.example = example_text(proved.rule);
  goal.status = "proved";
  goal.trust = name_of(proved.rule.trust);
  goal.certificate = proved.rule.certificate;
  REWRIGHT_CHECK(known ? store.settle(goal) : store.add(goal));
  return goal.position;
}

Status write(Run& run, const Library& library) {
  std::set<std::string> names;
  for (const ProvedRule& proved : library.rules) {
    REWRIGHT_TRY(const std::int64_t goal, goal_of(run.store, proved));
    RuleRecord record{static_cast<std::int64_t>(names.size()), goal, proved.rule, to_text(proved.rule)};
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
