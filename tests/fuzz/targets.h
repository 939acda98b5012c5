// The readers of everything that comes from outside, each behind one function that takes any bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rewright::fuzz {

struct Target {
  const char* name = "";
  /// Reads the bytes, whatever they are; aborts with a sentence if what comes back is not what was promised.
  void (*run)(std::string_view bytes) = nullptr;
  /// Real inputs, from which others are made.
  std::vector<std::string> (*corpus)() = nullptr;
  /// Words that the format gives a meaning.
  std::vector<std::string> words;
};

[[nodiscard]] std::span<const Target> targets();
/// Its corpus, and what broke a reader once: the files of tests/fuzz/found/NAME.
[[nodiscard]] std::vector<std::string> inputs(const Target& target);
/// Null where there is none of this name.
[[nodiscard]] const Target* find(std::string_view name);

}  // namespace rewright::fuzz
