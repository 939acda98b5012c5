// Letters and words of the grammar; its own words no buffer may have as its name.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace rewright::loop {

inline constexpr std::array<std::string_view, 23> kReservedWords = {
    "buffer", "for", "if",  "store", "and", "or",  "not",  "mod",  "floor",   "data", "index", "cast",
    "max",    "min", "inf", "nan",   "exp", "log", "sqrt", "tanh", "sigmoid", "erf",  "select"};

[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

[[nodiscard]] inline bool is_reserved(std::string_view word) {
  return std::ranges::find(kReservedWords, word) != kReservedWords.end();
}

/// A name of letters, digits and underscores that is no reserved word: "/conv1/Relu:0" gives conv1_Relu_0.
[[nodiscard]] inline std::string as_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool is_word = is_letter(c) || is_digit(c);
    if (is_word || (!word.empty() && word.back() != '_')) word += is_word ? c : '_';
  }
  while (word.ends_with('_')) word.pop_back();
  if (word.empty() || is_digit(word[0])) word = "t" + word;
  if (is_reserved(word)) word += '_';
  return word;
}

}  // namespace rewright::loop
