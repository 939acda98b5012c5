#include <algorithm>
#include <optional>
#include <set>

#include "campaign/library.h"
#include "campaign/rule_source.h"
#include "rule/canonical.h"

namespace rewright {
namespace {

void report(Run& run, const char* unit, std::size_t done, std::size_t all) {
  run.progress.report({.phase = "library",
                       .unit = unit,
                       .done = done,
                       .fraction = static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, all))});
}

// The rules that are proved well enough, in the order of their goals, each once: the conditions of their proofs may
// make two goals one rule. Nothing: stopped.
Result<std::optional<std::vector<ProvedRule>>> proved_rules(Run& run) {
  REWRIGHT_TRY(const std::vector<GoalRecord> goals, run.store.goals());
  std::vector<ProvedRule> proved;
  std::set<std::string> ids;
  for (const GoalRecord& goal : goals) {
    const auto done = static_cast<std::size_t>(&goal - goals.data());
    if (done % 1024 == 0) {
      if (run.should_stop()) return std::optional<std::vector<ProvedRule>>();
      report(run, "goals", done, goals.size());
    }
    if (goal.status != "proved") continue;
    if (trust_by(goal.certificate) < run.config.trust) continue;
    REWRIGHT_TRY(Rule rule, parse_rule(goal.rule, run.registry));
    rule.id = rule_id(rule);
    if (!ids.insert(rule.id).second) continue;
    rule.trust = trust_by(goal.certificate);
    rule.certificate = goal.certificate;
    REWRIGHT_CHECK(read_example(goal.example, rule));
    proved.push_back({std::move(rule), goal.position});
  }
  return std::optional(std::move(proved));
}

// A rule that was no goal, or one that no verifier decided, as one that is proved.
Result<GoalRecord> goal_of(Store& store, const Rule& rule, std::int64_t position, const std::string& where) {
  REWRIGHT_TRY(SqlStatement row, store.database().prepare("SELECT position, status FROM goals WHERE id = ?"));
  REWRIGHT_TRY(const bool known, row.query(rule.id));
  if (known && row.text(1) == "refuted")
    return make_error(ErrorCode::kMismatch,
                      "the rule {} ({}) is proved {}, and a verifier has refuted it, so an axiom or a verifier is "
                      "wrong; look at both",
                      to_text(rule), rule.id, where);
  GoalRecord goal;
  goal.position = known ? row.integer(0) : position;
  goal.id = rule.id;
  goal.text = goal.rule = to_text(rule);
  goal.name = rule.name;
  goal.example = example_text(rule);
  goal.status = "proved";
  goal.trust = name_of(rule.trust);
  goal.certificate = rule.certificate;
  return goal;
}

Status add_goal(Store& store, const GoalRecord& goal) {
  REWRIGHT_TRY(const std::int64_t known, store.count("goals", fmt::format("position = {}", goal.position)));
  return known > 0 ? store.settle(goal) : store.add(goal);
}

// The rules of the files that the campaign names, as goals that are proved, unless they are goals already.
Status add_rules_of_files(Run& run, std::vector<ProvedRule>& proved, std::vector<GoalRecord>& goals) {
  std::set<std::string> known;
  for (const ProvedRule& one : proved) known.insert(one.rule.id);
  REWRIGHT_TRY(const std::int64_t count, run.store.count("goals"));
  for (const AxiomFile& file : run.config.rules) {
    REWRIGHT_TRY(std::vector<Rule> rules, read_proved_rules(file.path, run.axioms, run.registry));
    for (Rule& rule : rules) {
      if (!known.insert(rule.id).second) continue;
      REWRIGHT_TRY(GoalRecord goal, goal_of(run.store, rule, count + static_cast<std::int64_t>(goals.size()),
                                            fmt::format("in '{}'", file.path)));
      proved.push_back({std::move(rule), goal.position});
      goals.push_back(std::move(goal));
    }
  }
  return {};
}

Status write(Run& run, const Library& library, const std::vector<GoalRecord>& goals) {
  for (const GoalRecord& goal : goals) REWRIGHT_CHECK(add_goal(run.store, goal));
  std::set<std::string> names;
  REWRIGHT_TRY(std::int64_t next, run.store.count("goals"));
  for (const ProvedRule& proved : library.rules) {
    if (names.size() % 1024 == 0) report(run, "rules", names.size(), library.rules.size());
    std::int64_t position = proved.goal.value_or(next);
    if (!proved.goal) {
      REWRIGHT_TRY(const GoalRecord goal, goal_of(run.store, proved.rule, next, "from others"));
      REWRIGHT_CHECK(add_goal(run.store, goal));
      position = goal.position;
      if (position == next) ++next;
    }
    RuleRecord record{static_cast<std::int64_t>(names.size()), position, proved.rule, to_text(proved.rule)};
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
  REWRIGHT_TRY(std::optional<std::vector<ProvedRule>> proved, proved_rules(run));
  if (!proved) return false;
  std::vector<GoalRecord> goals;
  REWRIGHT_CHECK(add_rules_of_files(run, *proved, goals));
  REWRIGHT_TRY(const std::optional<Library> library, build_library(run, std::move(*proved)));
  if (!library) return false;
  REWRIGHT_CHECK(run.store.database().transaction([&]() -> Status {
    REWRIGHT_CHECK(write(run, *library, goals));
    return run.store.finish("library");
  }));
  return true;
}

}  // namespace rewright
