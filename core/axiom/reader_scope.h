// What the parts of the axiom reader share: what a file has declared, the sentences of errors, words of a text.
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "axiom/sexpr.h"

namespace rewright {

/// What a file has declared so far.
struct Scope {
  std::string file;
  const Registry& registry;
  std::map<std::string, std::int64_t, std::less<>> constants;
  std::set<std::string, std::less<>> functions;
};

/// A kParse error: file:line:column and the sentence.
template <class... Args>
Error error_at(const Scope& scope, const SExpr& at, fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kParse, "{}:{}:{}: {}", scope.file, at.line, at.column,
                    fmt::format(format, std::forward<Args>(args)...));
}

/// What stands there, for a sentence.
[[nodiscard]] inline std::string describe(const SExpr& e) {
  if (e.is_list()) return e.items.empty() ? "()" : fmt::format("({} ...)", describe(e.items.front()));
  return fmt::format("'{}'", e.text);
}

[[nodiscard]] inline std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The parts between separators, without blanks around them; empty parts are left out.
[[nodiscard]] std::vector<std::string_view> split_text(std::string_view text, char separator);

}  // namespace rewright
