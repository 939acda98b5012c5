// Manual pages. Source: man(7), "Linux man macros".
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/describe.h"

namespace rewright::cli {
namespace {

/// Text that roff prints as it is.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  // A dot or an apostrophe at the start of a line would be a request.
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string page_name(const std::string& path) {
  std::string name = path;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string usage(const CommandText& command) {
  std::string text = fmt::format(".B {}\n", escaped(command.path));
  text += "[\\fIoptions\\fR]";
  if (!command.commands.empty()) return text + " \\fIsubcommand\\fR ...\n";
  for (const ArgumentText& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR", escaped(argument.names.front()));
    text += argument.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  return text + "\n";
}

std::string argument_entry(const ArgumentText& argument) {
  std::string names;
  for (const std::string& name : argument.names)
    names += fmt::format("{}{}{}\\fR", names.empty() ? "" : ", ", argument.positional ? "\\fI" : "\\fB", escaped(name));
  if (!argument.flag && !argument.positional && !argument.value.empty())
    names += fmt::format(" \\fI{}\\fR", escaped(argument.value));
  std::string text = fmt::format(".TP\n{}\n{}", names, escaped(argument.description));
  if (!argument.choices.empty()) text += escaped(fmt::format(" (one of {})", fmt::join(argument.choices, ", ")));
  if (argument.required && !argument.positional) text += " (required)";
  return text + "\n";
}

/// A footer's headings are lines of their own with indented lines below.
std::string sections(const std::string& footer) {
  std::vector<std::string> lines;
  std::istringstream stream(footer);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const auto indented = [&](std::size_t i) { return i < lines.size() && lines[i].starts_with("  "); };
  std::string text;
  bool open = false, paragraph = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (open && !indented(i)) {
      text += ".fi\n";
      open = false;
    }
    if (lines[i].empty()) {
      paragraph = true;
    } else if (indented(i)) {
      if (!open) text += ".nf\n";
      open = true;
      text += escaped(lines[i].substr(2)) + "\n";
    } else if (indented(i + 1)) {
      std::string heading = lines[i];
      std::ranges::transform(heading, heading.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
      text += ".SH " + heading + "\n";
      paragraph = false;
    } else {
      text += (paragraph ? ".PP\n" : "") + escaped(lines[i]) + "\n";
      paragraph = false;
    }
  }
  return text + (open ? ".fi\n" : "");
}

void append(std::vector<Page>& pages, const CommandText& command, const std::string& above,
            const std::string& version) {
  std::string title = page_name(command.path);
  std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  std::string text = fmt::format(".TH {} 1 \"\" \"rewright {}\" \"Rewright\"\n", title, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(page_name(command.path)), escaped(command.summary));
  text += ".SH SYNOPSIS\n" + usage(command);
  const auto part = [&](const char* heading, bool positional) {
    bool first = true;
    for (const ArgumentText& argument : command.arguments) {
      if (argument.positional != positional) continue;
      if (first) text += fmt::format(".SH {}\n", heading);
      first = false;
      text += argument_entry(argument);
    }
  };
  part("ARGUMENTS", true);
  part("OPTIONS", false);
  if (!command.commands.empty()) text += ".SH SUBCOMMANDS\n";
  for (const CommandText& sub : command.commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(page_name(sub.path)), escaped(sub.summary));
  text += sections(command.footer);
  if (!above.empty()) text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", escaped(page_name(above)));
  pages.push_back({page_name(command.path) + ".1", std::move(text)});
  for (const CommandText& sub : command.commands) append(pages, sub, command.path, version);
}

}  // namespace

std::vector<Page> manual_pages(const CommandText& program, const std::string& version) {
  std::vector<Page> pages;
  append(pages, program, "", version);
  return pages;
}

}  // namespace rewright::cli
