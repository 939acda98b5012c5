// rewright rules merge A B... -o C
#include "campaign/merge_stores.h"
#include "cli/rules.h"

namespace rewright::cli {
namespace {

struct RulesMergeArguments {
  std::vector<std::string> stores;
  std::string target;
};

Result<ExitCode> merge(const Settings& settings, const RulesMergeArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const MergeReport report, merge_stores(arguments.stores, arguments.target, registry));
  if (settings.json) {
    Json parts = Json::array();
    for (const MergeReport::Part& part : report.parts)
      parts.push_back({{"store", part.store}, {"rules", part.rules}, {"added", part.added}});
    print_json({{"store", arguments.target}, {"rules", report.rules}, {"parts", std::move(parts)}});
    return ExitCode::kDone;
  }
  Table table({"store", "rules", "added"});
  table.align_right({1, 2});
  for (const MergeReport::Part& part : report.parts)
    table.add({part.store, with_commas(part.rules), with_commas(part.added)});
  table.add({arguments.target, with_commas(report.rules), ""});
  print(table.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_rules_merge(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesMergeArguments>();
  const Command command =
      program.command(group, "merge", "Joins stores into a new one: every rule once, verdicts and provenance of all",
                      {"rewright rules merge here.store there.store -o both.store"},
                      [arguments](const Settings& settings) { return merge(settings, *arguments); });
  command.add_option("STORE", arguments->stores, "Two stores or more").required().expected(2, -1);
  command.add_option("-o,--output", arguments->target, "The new store's folder").required().type_name("DIR");
}

}  // namespace rewright::cli
