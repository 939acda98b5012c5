// What the subcommands of `rewright rules` share: stores as they are shown, and the word by which a rule is named.
#pragma once

#include <rewright/base/result.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/program.h"
#include "store/compare.h"
#include "store/store.h"

namespace rewright::cli {

struct OpenStore {
  std::unique_ptr<Store> store;
  std::vector<RuleText> rules;
};
[[nodiscard]] Result<OpenStore> open_store(const std::string& folder);

/// The rules of a store (its folder) or of a text file of one rule a line.
[[nodiscard]] Result<RuleSource> read_rules(const std::string& path, const Registry& registry);

/// A rule as a store would show it.
[[nodiscard]] RuleText text_of(const Rule& rule);

/// By id, by the beginning of an id (4 digits or more), by name, or by the name without its digits where one rule alone
/// has it.
[[nodiscard]] Result<const RuleText*> find_rule(const std::vector<RuleText>& rules, const std::string& wanted);

/// What the rule does to floating-point numbers (rule/rule_class.h); "unknown" where an operator is not loaded.
[[nodiscard]] std::string class_of(const RuleText& rule, const Registry& registry);

/// The first digits, as tables show it.
[[nodiscard]] std::string short_id(const std::string& id);
/// "source => target where condition".
[[nodiscard]] std::string equation(const RuleText& rule);

[[nodiscard]] Json to_json(const RuleText& rule);
[[nodiscard]] Json to_json(const std::vector<RuleText>& rules);

// One subcommand each, in the file of that name.
void add_rules_list(Program& program, const Command& group);
void add_rules_show(Program& program, const Command& group);
void add_rules_diff(Program& program, const Command& group);
void add_rules_merge(Program& program, const Command& group);
void add_rules_stats(Program& program, const Command& group);
void add_rules_gallery(Program& program, const Command& group);
void add_rules_export(Program& program, const Command& group);
void add_rules_import(Program& program, const Command& group);
void add_rules_audit(Program& program, const Command& group);   // rules_audit.cpp
void add_rules_derive(Program& program, const Command& group);  // rules_audit.cpp

}  // namespace rewright::cli
