#include "cli/accuracy_program.h"

#include <rewright/base/command.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace rewright::cli {
namespace {

constexpr int kMostSeconds = 24 * 60 * 60;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string_view last_line(std::string_view text) {
  text = trimmed(text);
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? text : trimmed(text.substr(end + 1));
}

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

Result<double> accuracy_of(const std::string& command, const std::string& file) {
  REWRIGHT_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string said = folder.path() + "/stdout", complained = folder.path() + "/stderr";
  const std::vector<std::string> words = {"sh", "-c",      "{ " + command + " \"$1\"\n} >\"$2\" 2>\"$3\"", "sh", file,
                                          said, complained};
  REWRIGHT_TRY(const CommandOutcome outcome, run_command(words, kMostSeconds));
  const auto complaint = read_file(complained);
  if (outcome.exit_code != 0) {
    const std::string why(complaint ? last_line(*complaint) : std::string_view());
    return make_error(ErrorCode::kUnsupported, "--accuracy: '{} {}' ended with exit code {}{}", command, file,
                      outcome.exit_code, why.empty() ? "" : ": " + why);
  }
  REWRIGHT_TRY(const std::string text, read_file(said));
  const std::string_view line = last_line(text);
  const auto number = number_in(line);
  if (!number)
    return make_error(ErrorCode::kUnsupported,
                      "--accuracy: the last line that '{} {}' prints is to be one number, and is '{}'", command, file,
                      line.substr(0, 80));
  return *number;
}

}  // namespace rewright::cli
