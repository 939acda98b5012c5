// rewright rules diff A B
#include "cli/rules.h"
#include "rule/compare.h"

namespace rewright::cli {
namespace {

struct Arguments {
  std::string before;
  std::string after;
};

Json to_json(const std::vector<const RuleText*>& rules) {
  Json list = Json::array();
  for (const RuleText* rule : rules) list.push_back(cli::to_json(*rule));
  return list;
}

void print_rules(Table& table, const std::string& mark, const std::vector<const RuleText*>& rules) {
  for (const RuleText* rule : rules) table.add({mark, short_id(rule->id), rule->name, equation(*rule)});
}

Result<ExitCode> diff(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const RuleSource before, read_rules(arguments.before, registry));
  REWRIGHT_TRY(const RuleSource after, read_rules(arguments.after, registry));
  REWRIGHT_TRY(const RuleDiff found, rewright::diff(before, after, registry));
  const bool equal = found.lost.empty() && found.fresh.empty();
  if (settings.json) {
    print_json({{"new", to_json(found.fresh)}, {"lost", to_json(found.lost)}, {"common", found.common}});
    return equal ? ExitCode::kDone : ExitCode::kNegative;
  }
  Table table({"", "id", "name", "rule"});
  print_rules(table, "lost", found.lost);
  print_rules(table, "new", found.fresh);
  if (!equal) print(table.to_string());
  print_line(fmt::format("{} new, {} lost, {} in both", with_commas(found.fresh.size()), with_commas(found.lost.size()),
                         with_commas(found.common)));
  return equal ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_rules_diff(Program& program, CLI::App& group) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      program.command(group, "diff", "Which rules are new, and which are lost, from one library to another",
                      {"rewright rules diff old.store new.store", "rewright rules diff library.rules new.store --json"},
                      [arguments](const Settings& settings) { return diff(settings, *arguments); });
  command.add_option("A", arguments->before, "A store, or a text file with one rule a line")->required();
  command.add_option("B", arguments->after, "The other one")->required();
}

}  // namespace rewright::cli
