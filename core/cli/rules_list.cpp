// rewright rules list STORE
#include "cli/rules.h"

namespace rewright::cli {
namespace {

Result<ExitCode> list(const Settings& settings, const std::string& folder) {
  REWRIGHT_TRY(const OpenStore open, open_store(folder));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  if (settings.json) {
    Json json = to_json(open.rules);
    for (std::size_t i = 0; i < open.rules.size(); ++i) json["rules"][i]["class"] = class_of(open.rules[i], registry);
    print_json(json);
    return ExitCode::kDone;
  }
  Table table({"id", "trust", "class", "name", "rule"});
  for (const RuleText& rule : open.rules) {
    table.add({short_id(rule.id), rule.trust, class_of(rule, registry), rule.name, equation(rule)});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_rules_list(Program& program, const Command& group) {
  auto folder = std::make_shared<std::string>();
  const Command command =
      program.command(group, "list", "Lists the rules of a store: id, trust, class, name, source => target, condition",
                      {"rewright rules list quickstart.store", "rewright rules list quickstart.store --json"},
                      [folder](const Settings& settings) { return list(settings, *folder); });
  command.add_option("STORE", *folder, "The store").required();
}

}  // namespace rewright::cli
