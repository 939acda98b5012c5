// S-expressions as SMT-LIB 2.6 writes them: symbols, |quoted symbols|, numerals, decimals, "strings" ("" is a quote),
// :keywords, lists; ; starts a comment.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <string>
#include <string_view>
#include <vector>

namespace rewright {

struct SExpr {
  enum class Kind : std::uint8_t { kSymbol, kNumeral, kDecimal, kString, kKeyword, kList };
  Kind kind = Kind::kList;
  std::string text;  ///< Without quotes, bars or the keyword's colon; empty for lists.
  std::vector<SExpr> items;
  int line = 0;
  int column = 0;

  [[nodiscard]] bool is_list() const { return kind == Kind::kList; }
  [[nodiscard]] bool is_symbol(std::string_view name) const { return kind == Kind::kSymbol && text == name; }
};

/// All expressions of a text. Errors: kParse with file:line:column; lists nested deeper than 500.
[[nodiscard]] REWRIGHT_API Result<std::vector<SExpr>> parse_sexprs(std::string_view text, std::string_view file);

}  // namespace rewright
