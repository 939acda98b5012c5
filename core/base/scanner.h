// Reads the tokens of the text forms of graphs, rules and loop programs, and words what is wrong with them: line,
// column, what was found and what was expected. Columns count bytes from 1.
#pragma once

#include <rewright/base/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rewright {

class Scanner {
 public:
  /// `first_line`: the number of the text's first line in its file.
  explicit Scanner(std::string_view text, std::size_t first_line = 1) : text_(text), first_line_(first_line) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  void set_position(std::size_t position) { position_ = position; }

  /// Spaces and tabs, and line breaks where `lines`.
  void skip_space(bool lines = true);
  /// Nothing but space is left.
  [[nodiscard]] bool at_end();
  /// Does the text go on with `token`? Words count as a whole only.
  [[nodiscard]] bool sees(std::string_view token);
  bool take(std::string_view token);
  /// Errors: "expected 'TOKEN' WHERE, found ...".
  Status expect(std::string_view token, std::string_view where);

  /// A letter or underscore, then letters, digits and underscores; also dots if `dotted`.
  std::optional<std::string_view> identifier(bool dotted = false);
  /// A dotted identifier, or anything in double quotes, as in_quotes() writes it.
  Result<std::string> name(std::string_view what);
  /// A decimal integer from 0 to 2^58.
  Result<std::int64_t> number(std::string_view what);
  /// From "[" to the "]" that closes it. Errors: none does; nesting beyond 64.
  Result<std::string_view> brackets();

  /// "line 2, column 7: expected WHAT, found 'y'" at the current place.
  [[nodiscard]] Error expected(std::string_view what);
  /// "line 2, column 7: MESSAGE".
  [[nodiscard]] Error error_at(std::size_t position, ErrorCode code, std::string_view message) const;

 private:
  [[nodiscard]] std::string found() const;

  std::string_view text_;
  std::size_t first_line_;
  std::size_t position_ = 0;
};

/// In double quotes, with \" and \\ for these two and \xNN for control characters.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace rewright
