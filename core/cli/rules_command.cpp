// rewright rules SUBCOMMAND: one file each, rules_*.cpp; here is what they share.
#include <filesystem>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/rules.h"
#include "rule/rule_class.h"

namespace rewright::cli {
namespace {

constexpr std::size_t kShortId = 8;
constexpr std::size_t kFewestDigits = 4;

}  // namespace

Result<OpenStore> open_store(const std::string& folder) {
  OpenStore open;
  REWRIGHT_TRY(open.store, Store::open(folder, Store::Mode::kRead));
  REWRIGHT_TRY(open.rules, open.store->rule_texts());
  return open;
}

Result<RuleSource> read_rules(const std::string& path, const Registry& registry) {
  RuleSource source{path, {}};
  if (std::filesystem::is_directory(path)) {
    REWRIGHT_TRY(OpenStore open, open_store(path));
    source.rules = std::move(open.rules);
    return source;
  }
  REWRIGHT_TRY(const std::string content, read_file(path));
  const auto rules = parse_rules(content, registry);
  if (!rules) return make_error(rules.error().code, "'{}': {}", path, rules.error().message);
  for (const Rule& rule : *rules) source.rules.push_back(text_of(rule));
  return source;
}

RuleText text_of(const Rule& rule) {
  RuleText text = split_rule_text(to_text(rule));
  text.id = rule.id;
  text.name = rule.name;
  text.trust = name_of(rule.trust);
  return text;
}

Result<const RuleText*> find_rule(const std::vector<RuleText>& rules, const std::string& wanted) {
  std::vector<const RuleText*> found;
  for (const RuleText& rule : rules) {
    if (rule.id == wanted || rule.name == wanted) return &rule;
    const bool by_id = wanted.size() >= kFewestDigits && rule.id.starts_with(wanted);
    if (by_id || rule.name.substr(0, rule.name.rfind('-')) == wanted) found.push_back(&rule);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return make_error(ErrorCode::kNotFound,
                      "no rule has the id or name '{}'; rewright rules list shows all {} (an id may "
                      "be cut to 4 digits or more)",
                      wanted, rules.size());
  }
  return make_error(ErrorCode::kUsage, "'{}' is said of {} rules, {} and {} among them; give an id with more digits",
                    wanted, found.size(), found[0]->name, found[1]->name);
}

std::string class_of(const RuleText& rule, const Registry& registry) {
  const auto parsed = parse_rule(rule.text, registry);
  return parsed ? std::string(name_of(classify(*parsed))) : "unknown";
}

std::string short_id(const std::string& id) { return id.substr(0, kShortId); }

std::string equation(const RuleText& rule) {
  const std::string where = rule.precondition.empty() ? "" : " where " + rule.precondition;
  return fmt::format("{} => {}{}", rule.source, rule.target, where);
}

Json to_json(const RuleText& rule) {
  return {{"id", rule.id},         {"name", rule.name},     {"inputs", rule.inputs},
          {"source", rule.source}, {"target", rule.target}, {"precondition", rule.precondition},
          {"trust", rule.trust},   {"text", rule.text}};
}

Json to_json(const std::vector<RuleText>& rules) {
  Json list = Json::array();
  for (const RuleText& rule : rules) list.push_back(to_json(rule));
  return {{"rules", std::move(list)}};
}

void add_rules(Program& program) {
  const Command group = program.group("rules", "Rules: the library that a campaign has found and proved");
  add_rules_list(program, group);
  add_rules_show(program, group);
  add_rules_diff(program, group);
  add_rules_merge(program, group);
  add_rules_stats(program, group);
  add_rules_gallery(program, group);
  add_rules_export(program, group);
  add_rules_import(program, group);
  add_rules_audit(program, group);
  add_rules_derive(program, group);
}

}  // namespace rewright::cli
