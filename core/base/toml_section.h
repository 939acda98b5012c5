// Strict reading of TOML: every key is asked for by name and type; what nobody asked for is an error with a
// suggestion. Errors read FILE:LINE:COLUMN: SENTENCE.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/toml.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rewright {

/// "FILE:LINE:COLUMN: SENTENCE", where `node` begins.
[[nodiscard]] Error toml_error(const std::string& file, const toml::node& node, const std::string& sentence);
/// "the text \"two\"", "the number 2", "a list", for sentences.
[[nodiscard]] std::string describe(const toml::node& node);
/// The entries of a table in the order of the file.
[[nodiscard]] std::vector<std::pair<std::string, const toml::node*>> in_file_order(const toml::table& table);

/// One table of a file. Borrows the parsed document.
class Section {
 public:
  Section(const std::string& file, std::string title, const toml::table& table)
      : file_(&file), title_(std::move(title)), table_(&table) {}

  struct Range {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
  };

  [[nodiscard]] const toml::table& table() const { return *table_; }
  /// The value, or null. Counts as asked for.
  [[nodiscard]] const toml::node* find(const std::string& key);

  // A key without `otherwise` is required.
  [[nodiscard]] Result<std::int64_t> integer(const std::string& key, Range range,
                                             std::optional<std::int64_t> otherwise = {});
  [[nodiscard]] Result<std::string> text(const std::string& key, std::optional<std::string> otherwise = {});
  [[nodiscard]] Result<bool> boolean(const std::string& key, bool otherwise);
  /// Bytes: a number, or text like "4G".
  [[nodiscard]] Result<std::uint64_t> size_bytes(const std::string& key, std::uint64_t otherwise);
  /// An empty list if the key is missing and not required.
  [[nodiscard]] Result<const toml::array*> list(const std::string& key, bool required);
  [[nodiscard]] Result<const toml::table*> section(const std::string& key, bool required);

  /// Errors: a key that nobody asked for.
  [[nodiscard]] Status finish() const;

  [[nodiscard]] Error error(const toml::node& node, const std::string& sentence) const {
    return toml_error(*file_, node, sentence);
  }

 private:
  [[nodiscard]] Error missing(const std::string& key) const;
  [[nodiscard]] Error wrong(const std::string& key, const toml::node& node, const std::string& expected) const;

  const std::string* file_;
  std::string title_;
  const toml::table* table_;
  std::set<std::string> asked_;
};

}  // namespace rewright
