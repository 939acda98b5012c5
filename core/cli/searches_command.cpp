// rewright searches list
#include <rewright/optimize/search.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"

namespace rewright::cli {
namespace {

Json to_json(const SearchStrategy& search, const std::vector<SearchOption>& options) {
  Json list = Json::array();
  for (const SearchOption& option : options)
    list.push_back({{"name", option.name},
                    {"default", *option.value},
                    {"least", option.least},
                    {"most", option.most},
                    {"meaning", option.meaning}});
  return {{"name", search.name()}, {"summary", search.summary()}, {"options", std::move(list)}};
}

Result<ExitCode> list_searches(const Settings& settings) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  Json list = Json::array();
  Table table({"search", "option", "default", "what it is"});
  for (const SearchStrategy* known : registry.all<SearchStrategy>()) {
    const auto search = known->clone();  // Its options are those of an object of its own.
    const std::vector<SearchOption> options = search->options();
    list.push_back(to_json(*search, options));
    table.add({search->name(), "", "", search->summary()});
    for (const SearchOption& option : options)
      table.add({"", option.name, fmt::format("{:g}", *option.value), option.meaning});
  }
  if (settings.json) {
    print_json({{"searches", std::move(list)}});
  } else {
    print(table.to_string());
  }
  return ExitCode::kDone;
}

}  // namespace

void add_searches(Program& program) {
  const Command group = program.group("searches", "Search strategies of rewright optimize, and their options");
  program.command(group, "list", "Lists every search strategy with its options and their defaults",
                  {"rewright searches list", "rewright searches list --json",
                   "rewright optimize IN.onnx -o OUT.onnx --search beam --search-option width=16"},
                  list_searches);
}

}  // namespace rewright::cli
