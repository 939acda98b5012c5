// rewright plugins list
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"

namespace rewright::cli {
namespace {

Json to_json(const LoadedPlugin& plugin) {
  return {{"name", plugin.name},
          {"version", plugin.version},
          {"summary", plugin.summary},
          {"file", plugin.file},
          {"provides", plugin.provides}};
}

Result<ExitCode> list_plugins(const Settings& settings) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  if (settings.json) {
    Json list = Json::array();
    for (const LoadedPlugin& plugin : registry.plugins()) list.push_back(to_json(plugin));
    print_json({{"plugins", std::move(list)}});
    return ExitCode::kDone;
  }
  Table table({"name", "version", "provides", "summary", "file"});
  for (const LoadedPlugin& plugin : registry.plugins()) {
    table.add({plugin.name, plugin.version, fmt::format("{}", fmt::join(plugin.provides, ", ")), plugin.summary,
               plugin.file});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_plugins(Program& program) {
  CLI::App& group = program.group("plugins", "Plugins: operators, verifiers, pruners, searches, costs, runtimes");
  program.command(group, "list", "Lists every plugin that was loaded, with its version, what it provides and its file",
                  {"rewright plugins list", "rewright --plugin build/my_operator.so plugins list --json"},
                  list_plugins);
}

}  // namespace rewright::cli
