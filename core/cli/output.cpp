#include "cli/output.h"

#include <algorithm>
#include <cstdio>

#include "base/files.h"

namespace rewright::cli {
namespace {

// Code points, which is near enough to columns for what we print.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  if (cells.size() != rows_.front().size()) fail("a table row of the wrong length");
  rows_.push_back(std::move(cells));
}

std::string Table::to_string() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string padding(widths[c] - width(row[c]), ' ');
      const bool to_the_right = std::find(right_.begin(), right_.end(), c) != right_.end();
      line += to_the_right ? padding + row[c] : row[c] + padding;
      if (c + 1 < columns) line += "  ";
    }
    line.resize(line.find_last_not_of(' ') + 1);
    if (!line.empty()) text += line + "\n";
  }
  return text;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_json(const Json& object) {
  print_line(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

namespace {

/// Errors quote what they found, which may be anything: one line of it, and not the whole of a large file.
std::string on_one_line(std::string_view message) {
  constexpr std::size_t kMost = 1000, kEnd = 300;
  std::string line;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') {
      line += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line.size() <= kMost ? line : line.substr(0, kMost - kEnd) + " ... " + line.substr(line.size() - kEnd);
}

}  // namespace

void print_error(const Error& error, bool json) {
  fmt::print(stderr, "rewright: {}\n", on_one_line(error.message));
  if (json) print_json({{"error", error.message}});
}

void note(std::string_view sentence, bool quiet) {
  if (!quiet) fmt::print(stderr, "{}\n", sentence);
}

bool flush_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : "s");
}

std::string duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string bytes(std::uint64_t count) {
  if (count < 1024) return fmt::format("{} B", count);
  double value = static_cast<double>(count);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, unit);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const std::optional<std::uint64_t> count = read_bytes(text);
  if (count) return *count;
  return make_error(ErrorCode::kUsage, "'{}' is no amount of memory; write a number and K, M, G or T, as in 4G", text);
}

}  // namespace rewright::cli
