// What the program's definition of its subcommands and options is also good for: manual pages and shell completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rewright::cli {

/// One option or positional argument, as CLI11 knows it.
struct ArgumentText {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional its one name.
  bool positional = false;
  bool required = false;
  bool flag = false;                 ///< Takes no value.
  std::string value;                 ///< What kind of value: "FILE", "DIR", "N".
  std::vector<std::string> choices;  ///< Where the value is one of few.
  std::string description;
};

/// A program, group or subcommand; what is hidden from --help is not there.
struct CommandText {
  std::string path;  ///< "rewright rules list".
  std::string summary;
  std::string footer;  ///< Examples, exit codes.
  std::vector<ArgumentText> arguments;
  std::vector<CommandText> commands;
};

[[nodiscard]] CommandText describe(const CLI::App& app);

struct Page {
  std::string name;  ///< "rewright-rules-list.1".
  std::string text;
};
/// One manual page (roff, man(7)) for each command, group and the program itself.
[[nodiscard]] std::vector<Page> manual_pages(const CommandText& program, const std::string& version);

/// Scripts that complete subcommands, options and their choices; file names where nothing else is wanted.
[[nodiscard]] std::string bash_completion(const CommandText& program);
[[nodiscard]] std::string zsh_completion(const CommandText& program);

}  // namespace rewright::cli
