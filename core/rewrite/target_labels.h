// What the nodes of a rule's target are at a match: operators with their parameters, sizes put in.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rewrite/node_pool.h"
#include "rewrite/rule_set.h"

namespace rewright {

class TargetLabels {
 public:
  /// Borrows both.
  TargetLabels(NodePool& pool, const RuleSet& rules);

  /// Turns to a match that RuleProgram::admits has passed; it must stay for calls of of().
  void start(std::uint32_t program, const Binding& binding);
  /// Nothing where a size is too large for a number.
  [[nodiscard]] std::optional<LabelId> of(std::uint32_t target_node);

 private:
  NodePool& pool_;
  const RuleSet& rules_;
  std::vector<std::vector<LabelId>> fixed_;     ///< By program, by target node; kNoId: not asked for yet.
  std::unordered_map<WordKey, LabelId> sized_;  ///< By program, target node and its sizes.
  std::uint32_t program_ = 0;
  const Binding* binding_ = nullptr;
  bool slots_known_ = false;
  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> values_;
  WordKey key_;
};

}  // namespace rewright
