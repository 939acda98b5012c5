#include "cli/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace rewright::cli {
namespace {

constexpr std::size_t kColumns = 120;      // Where standard output is no terminal.
constexpr std::size_t kLeastColumns = 24;  // Of a description, however narrow the terminal is.

std::size_t columns_of_terminal() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::min<std::size_t>(size.ws_col, kColumns) : kColumns;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string lines, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::size_t columns = columns_of_terminal(), names = get_column_width();
  return wrapped(option->get_description(), std::max(columns - std::min(columns, names), kLeastColumns));
}

}  // namespace rewright::cli
