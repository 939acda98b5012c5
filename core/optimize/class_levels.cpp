#include "optimize/class_levels.h"

#include <algorithm>

namespace rewright {

void ClassLevels::rebuild() {
  known_ = true;
  node_count_ = 0;
  level_.clear();
  users_.clear();
  grow();
}

void ClassLevels::grow() {
  level_.resize(classes_.tensor_count(), 0);
  users_.resize(classes_.tensor_count());
  while (node_count_ < classes_.node_count()) add(node_count_++);
}

void ClassLevels::add(std::uint32_t node) {
  if (!classes_.is_alive(node)) return;
  for (const Port port : pool_.operands(node)) users_[classes_.find(port)].push_back(node);
  settle(node);
}

void ClassLevels::united(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t both = classes_.find(one);
  const std::uint32_t gone = both == one ? other : one;
  level_[both] = std::max(level_[both], level_[gone]);
  users_[both].insert(users_[both].end(), users_[gone].begin(), users_[gone].end());
  users_[gone].clear();
  lift_above(both);
}

/// Lifts what the node gives above what it takes.
void ClassLevels::settle(std::uint32_t node) {
  std::uint32_t least = 0;
  for (const Port port : pool_.operands(node)) least = std::max(least, level_[classes_.find(port)] + 1);
  for (std::uint32_t output = 0; output < pool_.signature(node).out.size(); ++output) {
    const std::uint32_t given = classes_.find(Port{{node}, output});
    if (level_[given] >= least) continue;
    level_[given] = least;
    lift_above(given);
  }
}

void ClassLevels::lift_above(std::uint32_t of_class) {
  open_.push_back(of_class);
  while (known_ && !open_.empty()) {
    const std::uint32_t at = open_.back();
    open_.pop_back();
    if (level_[at] > classes_.node_count()) known_ = false;  // Only a circle lifts itself as high.
    for (const std::uint32_t user : users_[at]) {
      if (!classes_.is_alive(user)) continue;
      for (std::uint32_t output = 0; output < pool_.signature(user).out.size(); ++output) {
        const std::uint32_t given = classes_.find(Port{{user}, output});
        if (level_[given] > level_[at]) continue;
        level_[given] = level_[at] + 1;
        open_.push_back(given);
      }
    }
  }
  open_.clear();
}

}  // namespace rewright
