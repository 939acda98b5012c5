// What the program prints: results on standard output, everything else on standard error.
#pragma once

#include <rewright/base/result.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rewright::cli {

/// Keys keep the order in which they are added.
using Json = nlohmann::ordered_json;

/// Rows under headers, columns aligned. Headers that are all empty are not shown.
class Table {
 public:
  explicit Table(std::vector<std::string> headers) : rows_{std::move(headers)} {}
  /// As many cells as there are headers.
  void add(std::vector<std::string> cells);
  /// Columns (counted from 0) whose cells are numbers: set to the right.
  void align_right(std::vector<std::size_t> columns) { right_ = std::move(columns); }
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> right_;
};

void print(std::string_view text);
void print_line(std::string_view text);
/// One line; bytes that are not UTF-8 are replaced.
void print_json(const Json& object);
/// "rewright: SENTENCE" on standard error; with `json` also {"error": SENTENCE} on standard output.
void print_error(const Error& error, bool json);
/// A sentence for the person at the terminal, on standard error, unless `quiet`.
void note(std::string_view sentence, bool quiet);

/// False if standard output could not take all that was printed.
[[nodiscard]] bool flush_output();

/// "16,405,411".
[[nodiscard]] std::string with_commas(std::uint64_t number);
/// "1 rule", "18,552 rules".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);
/// "0.4 s", "95 s", "12 min", "3.5 h".
[[nodiscard]] std::string duration(double seconds);
/// "812 KiB", "6.8 GiB".
[[nodiscard]] std::string bytes(std::uint64_t count);
/// Reads "4G", "512M", "100K" (powers of 1024) or a number of bytes.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace rewright::cli
