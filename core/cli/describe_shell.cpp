// Completion scripts. Both walk the words before the cursor to find the subcommand, then offer its subcommands, or,
// after a dash, its options; after an option with few values, those. Sources: the bash manual, "Programmable
// Completion"; the zsh manual, "Completion System".
#include <fmt/format.h>

#include <algorithm>

#include "cli/describe.h"
#include "cli/quoted.h"

namespace rewright::cli {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

namespace {

/// A command without the program's name in front: "", "rules", "rules list".
struct Place {
  std::string path;
  const CommandText* command;
};

void collect(const CommandText& command, std::size_t skip, std::vector<Place>& places) {
  places.push_back({command.path.size() > skip ? command.path.substr(skip) : "", &command});
  for (const CommandText& sub : command.commands) collect(sub, skip, places);
}

std::vector<Place> places_of(const CommandText& program) {
  std::vector<Place> places;
  collect(program, program.path.size() + 1, places);
  return places;
}

std::string last_word(const std::string& path) { return path.substr(path.rfind(' ') + 1); }

/// `case` patterns of all paths, and, for each option with choices or another value, what follows it.
std::string known_paths(const std::vector<Place>& places) {
  std::string patterns;
  for (const Place& place : places)
    if (!place.path.empty()) patterns += (patterns.empty() ? "" : " | ") + quoted(place.path);
  return patterns;
}

/// By option with a value: `what` of the option's place, its names and its choices.
template <class What>
void for_each_value(const std::vector<Place>& places, What what) {
  for (const Place& place : places)
    for (const ArgumentText& argument : place.command->arguments) {
      if (argument.positional || argument.flag) continue;
      std::string patterns;
      for (const std::string& name : argument.names) {
        // The program's own options may stand behind any subcommand.
        const std::string pattern = place.path.empty() ? "*:" + name : quoted(fmt::format("{}:{}", place.path, name));
        patterns += (patterns.empty() ? "" : " | ") + pattern;
      }
      what(patterns, argument);
    }
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  const std::vector<Place> places = places_of(program);
  std::string text = fmt::format(
      "# bash completion for {0}, made from its own description of its arguments\n"
      "_{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} at='' next i commands='' "
      "options=''\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    next=\"${{at:+$at }}${{COMP_WORDS[i]}}\"\n"
      "    case $next in\n"
      "      {1}) at=$next ;;\n"
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case $at:$before in\n",
      program.path, known_paths(places));
  for_each_value(places, [&](const std::string& patterns, const ArgumentText& argument) {
    const std::string reply = argument.choices.empty()
                                  ? "return"  // File names.
                                  : fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\")); return",
                                                quoted(fmt::format("{}", fmt::join(argument.choices, " "))));
    text += fmt::format("    {}) {} ;;\n", patterns, reply);
  });
  text += "  esac\n  case $at in\n";
  std::vector<std::string> everywhere;
  for (const Place& place : places) {
    std::vector<std::string> commands, options = everywhere;
    for (const CommandText& sub : place.command->commands) commands.push_back(last_word(sub.path));
    for (const ArgumentText& argument : place.command->arguments)
      if (!argument.positional) options.insert(options.end(), argument.names.begin(), argument.names.end());
    if (place.path.empty()) everywhere = options;
    std::ranges::sort(options);
    options.erase(std::unique(options.begin(), options.end()), options.end());
    text += fmt::format("    {}) commands={} options={} ;;\n", quoted(place.path),
                        quoted(fmt::format("{}", fmt::join(commands, " "))),
                        quoted(fmt::format("{}", fmt::join(options, " "))));
  }
  text += fmt::format(
      "  esac\n"
      "  if [[ $word == -* ]]; then commands=$options; fi\n"
      "  if [[ -n $commands ]]; then COMPREPLY=($(compgen -W \"$commands\" -- \"$word\")); fi\n"
      "}}\n"
      "complete -o default -F _{0} {0}\n",
      program.path);
  return text;
}

std::string zsh_completion(const CommandText& program) {
  const std::vector<Place> places = places_of(program);
  // _describe parts a word from what it means at the first colon.
  const auto item = [](const std::string& word, const std::string& meaning) {
    return fmt::format(" {}", quoted(fmt::format("{}:{}", word, meaning)));
  };
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# zsh completion for {0}, made from its own description of its arguments\n"
      "_{0}() {{\n"
      "  local at='' next i\n"
      "  local -a commands everywhere\n  local -aU options\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    next=\"${{at:+$at }}${{words[i]}}\"\n"
      "    case $next in\n"
      "      {1}) at=$next ;;\n"
      "    esac\n"
      "  done\n"
      "  case $at:${{words[CURRENT-1]}} in\n",
      program.path, known_paths(places));
  for_each_value(places, [&](const std::string& patterns, const ArgumentText& argument) {
    text +=
        fmt::format("    {}) {}; return ;;\n", patterns,
                    argument.choices.empty() ? "_files" : fmt::format("compadd {}", fmt::join(argument.choices, " ")));
  });
  text += "  esac\n  case $at in\n";
  for (const Place& place : places) {
    std::string commands, options;
    for (const CommandText& sub : place.command->commands) commands += item(last_word(sub.path), sub.summary);
    for (const ArgumentText& argument : place.command->arguments)
      for (const std::string& name : argument.names)
        if (!argument.positional) options += item(name, argument.description);
    text += fmt::format("    {}) commands=({} ) options=({} ) ;;\n", quoted(place.path), commands, options);
    if (place.path.empty()) {
      text.insert(text.find("  case $at:"), fmt::format("  everywhere=({} )\n", options));
    }
  }
  text += fmt::format(
      "  esac\n"
      "  if [[ $PREFIX == -* ]]; then\n"
      "    [[ -n $at ]] && options+=($everywhere)\n"
      "    _describe option options\n"
      "  elif (($#commands)); then\n"
      "    _describe command commands\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}}\n"
      "_{0} \"$@\"\n",
      program.path);
  return text;
}

}  // namespace rewright::cli
