#include "rule/identifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rewright {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"let", "in", "where", "floor"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && !is_word(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string identifier(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (!is_letter(c) && !is_digit(c)) c = '_';
  }
  if (name.empty() || is_digit(name.front())) return fmt::format("x{}", name);
  if (is_word(name)) name += '_';
  return name;
}

}  // namespace rewright
