// rewright describe man|bash|zsh: for the build, which installs what it writes. Not in --help.
#include "cli/describe.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"

namespace rewright::cli {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(by, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

ArgumentText argument_of(const CLI::Option& option) {
  ArgumentText text;
  text.positional = option.get_positional();
  text.names = text.positional ? std::vector{option.get_name(true)} : split(option.get_name(false, true), ',');
  text.required = option.get_required();
  text.flag = option.get_expected_max() == 0;
  text.description = option.get_description();
  // "TEXT:{text,json}", "INT:INT in [1 - 1024]", "DIR".
  const std::string type = option.get_type_name();
  text.value = text.flag ? "" : type.substr(0, type.find(':'));
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos)
    text.choices = split(type.substr(open + 1, close - open - 1), ',');
  return text;
}

CommandText command_of(const CLI::App& app, const std::string& above) {
  CommandText text;
  text.path = above.empty() ? app.get_name() : above + " " + app.get_name();
  text.summary = app.get_description();
  text.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) text.arguments.push_back(argument_of(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) text.commands.push_back(command_of(*sub, text.path));
  return text;
}

Result<ExitCode> write_pages(const CLI::App& root, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (const Page& page : manual_pages(describe(root), REWRIGHT_VERSION)) {
    REWRIGHT_CHECK(write_file((std::filesystem::path(folder) / page.name).string(), page.text));
  }
  return ExitCode::kDone;
}

}  // namespace

CommandText describe(const CLI::App& app) { return command_of(app, ""); }

void add_describe(Program& program) {
  const Command group = program.group("describe", "What installation needs to know of the program's arguments");
  group.hide();
  const CLI::App& root = program.root().app();
  auto folder = std::make_shared<std::string>();
  program
      .command(group, "man", "Writes a manual page for every subcommand", {"rewright describe man build/man"},
               [&root, folder](const Settings&) { return write_pages(root, *folder); })
      .add_option("FOLDER", *folder, "Where to")
      .required();
  program.command(group, "bash", "Prints a completion script for bash", {"rewright describe bash > rewright"},
                  [&root](const Settings&) -> Result<ExitCode> {
                    print(bash_completion(describe(root)));
                    return ExitCode::kDone;
                  });
  program.command(group, "zsh", "Prints a completion script for zsh", {"rewright describe zsh > _rewright"},
                  [&root](const Settings&) -> Result<ExitCode> {
                    print(zsh_completion(describe(root)));
                    return ExitCode::kDone;
                  });
}

}  // namespace rewright::cli
