#include "base/scanner.h"

#include <algorithm>

namespace rewright {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The character that an escape at the start of `rest` (after the backslash) stands for, and its length.
std::optional<std::pair<char, std::size_t>> unescape(std::string_view rest) {
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\\')) return std::pair(rest[0], std::size_t{1});
  if (rest.size() < 3 || rest[0] != 'x' || hex_digit(rest[1]) < 0 || hex_digit(rest[2]) < 0) return std::nullopt;
  return std::pair(static_cast<char>(hex_digit(rest[1]) * 16 + hex_digit(rest[2])), std::size_t{3});
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

void Scanner::skip_space(bool lines) {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c != ' ' && c != '\t' && c != '\r' && (c != '\n' || !lines)) return;
    ++position_;
  }
}

bool Scanner::at_end() {
  skip_space();
  return position_ == text_.size();
}

bool Scanner::sees(std::string_view token) {
  skip_space();
  if (!text_.substr(position_).starts_with(token)) return false;
  const std::size_t end = position_ + token.size();
  return !is_word(token.back()) || end == text_.size() || !is_word(text_[end]);
}

bool Scanner::take(std::string_view token) {
  if (!sees(token)) return false;
  position_ += token.size();
  return true;
}

Status Scanner::expect(std::string_view token, std::string_view where) {
  if (take(token)) return {};
  return expected(fmt::format("'{}' {}", token, where));
}

std::optional<std::string_view> Scanner::identifier(bool dotted) {
  skip_space();
  std::size_t end = position_;
  if (end == text_.size() || !is_letter(text_[end])) return std::nullopt;
  while (end < text_.size() && (is_word(text_[end]) || (dotted && text_[end] == '.'))) ++end;
  const auto word = text_.substr(position_, end - position_);
  position_ = end;
  return word;
}

Result<std::string> Scanner::name(std::string_view what) {
  if (auto word = identifier(true)) return std::string(*word);
  const std::size_t start = position_;
  if (position_ == text_.size() || text_[position_] != '"') return expected(what);
  std::string name;
  for (++position_; position_ < text_.size() && text_[position_] != '\n'; ++position_) {
    const char c = text_[position_];
    if (c == '"') {
      ++position_;
      return name;
    }
    if (c != '\\') {
      name += c;
      continue;
    }
    const auto escaped = unescape(text_.substr(position_ + 1));
    if (!escaped)
      return error_at(position_, ErrorCode::kParse, "expected \", \\ or xNN (two of 0-9 a-f) after this backslash");
    name += escaped->first;
    position_ += escaped->second;
  }
  return error_at(start, ErrorCode::kParse, "this name has no closing quote on its line");
}

Result<std::int64_t> Scanner::number(std::string_view what) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 58;
  skip_space();
  if (position_ == text_.size() || !is_digit(text_[position_])) return expected(what);
  const std::size_t start = position_;
  std::int64_t value = 0;
  for (; position_ < text_.size() && is_digit(text_[position_]); ++position_) {
    value = value * 10 + (text_[position_] - '0');
    if (value > kLargest)
      return error_at(start, ErrorCode::kParse, fmt::format("this number is too large for {}", what));
  }
  return value;
}

Result<std::string_view> Scanner::brackets() {
  constexpr std::size_t kDeepest = 64;
  skip_space();
  const std::size_t start = position_;
  std::string open;
  for (std::size_t i = start; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '[' || c == '(') {
      if (open.size() == kDeepest)
        return error_at(i, ErrorCode::kParse, fmt::format("brackets are nested deeper than {}", kDeepest));
      open += c;
    } else if (c == ']' || c == ')') {
      if (open.empty() || open.back() != (c == ']' ? '[' : '('))
        return error_at(i, ErrorCode::kParse, fmt::format("'{}' closes nothing that is open here", c));
      open.pop_back();
      if (open.empty()) {
        position_ = i + 1;
        return text_.substr(start, position_ - start);
      }
    }
  }
  return error_at(start, ErrorCode::kParse, "this bracket is not closed");
}

std::string Scanner::found() const {
  if (position_ >= text_.size()) return "the end";
  if (text_[position_] == '\n') return "the end of the line";
  std::size_t end = position_ + 1;
  if (is_word(text_[position_])) {
    while (end < text_.size() && is_word(text_[end]) && end - position_ < 40) ++end;
  } else {
    // A character of several bytes stays whole.
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80 && end - position_ < 4) ++end;
  }
  const auto word = text_.substr(position_, end - position_);
  if (word == "\"") return "'\"'";
  const std::string printable = in_quotes(word);
  return fmt::format("'{}'", std::string_view(printable).substr(1, printable.size() - 2));
}

Error Scanner::expected(std::string_view what) {
  skip_space();
  return error_at(position_, ErrorCode::kParse, fmt::format("expected {}, found {}", what, found()));
}

Error Scanner::error_at(std::size_t position, ErrorCode code, std::string_view message) const {
  const auto before = text_.substr(0, std::min(position, text_.size()));
  const auto breaks = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? before.size() + 1 : before.size() - last;
  return make_error(code, "line {}, column {}: {}", first_line_ + breaks, column, message);
}

}  // namespace rewright
