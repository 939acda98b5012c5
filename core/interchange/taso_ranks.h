// Which ranks the operators of a TASO rule ask of its tensors.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace rewright::taso_format {

/// Ranks of the tensors of a rule, by operator; equal ones are merged, known ones are kept.
class Ranks {
 public:
  using Id = std::pair<int, int>;  ///< Side (0: the inputs) and operator (or minus opId).

  void equal(Id a, Id b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (known_.contains(a) && known_.contains(b) && known_[a] != known_[b]) contradictory_ = true;
    parent_[a] = b;
    if (known_.contains(a)) known_[b] = known_[a];
  }
  void is(Id id, int rank) {
    id = root(id);
    if (known_.contains(id) && known_[id] != rank) contradictory_ = true;
    known_[id] = rank;
  }
  void prefer(Id id, int rank) { preferred_.emplace_back(id, rank); }
  void apply_preferences() {
    for (const auto& [id, rank] : preferred_) {
      if (!known_.contains(root(id))) known_[root(id)] = rank;
    }
  }
  [[nodiscard]] std::optional<int> of(Id id) {
    const auto found = known_.find(root(id));
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool contradictory() const { return contradictory_; }

 private:
  Id root(Id id) {
    while (parent_.contains(id)) id = parent_[id];
    return id;
  }
  std::map<Id, Id> parent_;
  std::map<Id, int> known_;
  std::vector<std::pair<Id, int>> preferred_;
  bool contradictory_ = false;
};

}  // namespace rewright::taso_format
