// Digests of what this program has judged before, so that it need not be judged again: proofs that were replayed,
// axioms that stood their audit, rules that are not range-changing.
//
// Folder   $XDG_CACHE_HOME/rewright/proofs, or ~/.cache/rewright/proofs. Who can write there can make the program
//          believe a proof; who can only write stores, rules and axiom files cannot.
// File     named by the content of librewright and of each operator plugin: what another build believed is not
//          believed. 64 hexadecimal digits a line. The newest few files are kept. File and folder must be the user's
//          and writable by nobody else; else nothing is read and nothing is written.
// Digests  SHA-256 of what was judged, word for word.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

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

  /// Why what is remembered is not believed: a sentence that names the file or folder; "" where it is.
  [[nodiscard]] static std::string refusal();
  [[nodiscard]] static std::string digest_of(std::initializer_list<std::string_view> parts);
  [[nodiscard]] bool knows(const std::string& digest) const { return known_.contains(digest); }
  void add(const std::string& digest);

 private:
  std::string file_;  ///< Empty: there is no such folder.
  std::unordered_set<std::string> known_;
  std::string fresh_;  ///< Lines to append.
};

}  // namespace rewright
