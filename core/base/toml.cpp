// toml++, compiled here once, and what it needs to be kept from.
#define TOML_IMPLEMENTATION
#include <rewright/base/toml.h>

#include <algorithm>

#include "base/stray_character.h"

namespace rewright {

std::size_t stray_character(std::string_view text) {
  const auto beyond_ascii = [&](std::size_t at) {
    return at < text.size() && static_cast<unsigned char>(text[at]) >= 0x80;
  };
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // A byte order mark.
  while (at < text.size()) {
    const char c = text[at];
    if (beyond_ascii(at)) return at;
    if (c == '#') at = std::min(text.find('\n', at), text.size());
    ++at;
    if (c != '"' && c != '\'') continue;
    const bool lines = at + 1 < text.size() && text[at] == c && text[at + 1] == c;
    const std::string end(lines ? 3 : 1, c);
    at += lines ? 2 : 0;
    while (at < text.size() && text.substr(at, end.size()) != end && (lines || text[at] != '\n')) {
      if (text[at++] != '\\' || c == '\'') continue;
      at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
      if (beyond_ascii(at)) return at;
      ++at;
    }
    at += end.size();
    while (lines && at < text.size() && text[at] == c) ++at;  // Quotes before the three at the end belong to the text.
  }
  return std::string_view::npos;
}

namespace {

/// The text with '?' in place of each character beyond ASCII, and without a byte order mark.
std::string in_ascii(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) plain += c;
    if (byte >= 0xc0) plain += '?';  // Bytes between go on with a character.
  }
  return plain;
}

}  // namespace

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  if (const std::size_t at = stray_character(text); at != std::string_view::npos) {
    const std::string before = in_ascii(text.substr(0, at));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    return make_error(ErrorCode::kParse, "{}:{}:{}: a character beyond ASCII outside of texts and comments", file,
                      1 + std::ranges::count(before, '\n'), 1 + before.size() - line_start);
  }
  const auto parse = [&](std::string_view what) -> Result<toml::table> {
    toml::parse_result parsed = toml::parse(what, file);
    if (parsed) return std::move(parsed).table();
    const toml::source_position at = parsed.error().source().begin;
    return make_error(ErrorCode::kParse, "{}:{}:{}: {}", file, at.line, at.column, parsed.error().description());
  };
  // Where a damaged file has a quote in the wrong place ("e = 0\"."), toml++ does not take for a text what is one
  // above.
  if (const std::string plain = in_ascii(text); plain.size() != text.size()) REWRIGHT_CHECK(parse(plain));
  return parse(text);
}

}  // namespace rewright
