// rewright rules list STORE
#include "cli/rules.h"

namespace rewright::cli {
namespace {

Result<ExitCode> list(const Settings& settings, const std::string& folder) {
  REWRIGHT_TRY(const OpenStore open, open_store(folder));
  if (settings.json) {
    print_json(to_json(open.rules));
    return ExitCode::kDone;
  }
  Table table({"id", "trust", "name", "rule"});
  for (const RuleText& rule : open.rules) {
    table.add({short_id(rule.id), rule.trust, rule.name, equation(rule)});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_rules_list(Program& program, CLI::App& group) {
  auto folder = std::make_shared<std::string>();
  CLI::App& command =
      program.command(group, "list", "Lists the rules of a store: id, trust, name, source => target, condition",
                      {"rewright rules list quickstart.store", "rewright rules list quickstart.store --json"},
                      [folder](const Settings& settings) { return list(settings, *folder); });
  command.add_option("STORE", *folder, "The store")->required();
}

}  // namespace rewright::cli
