// Digests of what this program has judged before, so that it need not be judged again: proofs that were replayed,
// axioms that stood their audit.
//
// File     $XDG_CACHE_HOME/rewright/judged, or ~/.cache/rewright/judged: 32 hexadecimal digits a line. Who can write
// there
//          can make the program believe a proof; who can only write stores, rules and axiom files cannot.
// Digests  are of the program's version, each operator plugin's content, and what was judged, word for word.
#pragma once

#include <rewright/export.h>
#include <rewright/registry.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>

namespace rewright {

class REWRIGHT_API JudgedMemory {
 public:
  /// Reads the file, if there is one. What cannot be read is not known; what cannot be written is forgotten.
  explicit JudgedMemory(const Registry& registry);
  ~JudgedMemory();
  JudgedMemory(const JudgedMemory&) = delete;
  JudgedMemory& operator=(const JudgedMemory&) = delete;

  [[nodiscard]] std::string digest_of(std::initializer_list<std::string_view> parts) const;
  [[nodiscard]] bool knows(const std::string& digest) const { return known_.contains(digest); }
  void add(const std::string& digest);

 private:
  std::string file_;  ///< Empty: there is no such folder.
  std::string program_;
  std::unordered_set<std::string> known_;
  std::string fresh_;  ///< Lines to append.
};

}  // namespace rewright
