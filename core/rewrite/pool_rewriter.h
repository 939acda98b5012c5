// Applying matches to graphs of a pool.
//
// The tensors that the source's outputs stand for are replaced by the target's outputs, everywhere; what is computed
// from them is copied on the new operands, what is not is shared. So the work is proportional to what changes.
//
// Where it is only asked what a rewrite would change, the target's nodes alone are made.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rewrite/match_table.h"
#include "rewrite/node_pool.h"
#include "rewrite/rule_set.h"
#include "rewrite/target_labels.h"

namespace rewright {

class REWRIGHT_API PoolRewriter {
 public:
  /// Borrows both.
  PoolRewriter(NodePool& pool, const RuleSet& rules);

  enum class Outcome : std::uint8_t {
    kDone,
    kCyclic,   ///< The graph would have a cycle.
    kRefused,  ///< The rule does not hold what it promises, or its operators do not take the types: refusal().
  };
  /// The outputs after the match was replaced in the graph of `nodes` (ascending) and `outputs`.
  [[nodiscard]] Outcome apply(std::span<const std::uint32_t> nodes, std::span<const Port> outputs,
                              std::uint32_t program, const Binding& binding, std::vector<Port>& new_outputs);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// A rewrite by itself: what takes the place of what, and the target's nodes, operands first.
  struct Change {
    std::vector<std::pair<Port, Port>> replaced;
    std::vector<std::uint32_t> made;
  };
  /// False where a change does not say all: where what the rule reads, or replaces, is computed from what is replaced,
  /// where a tensor's type or kind would change, and where the rewrite is not possible. The target's nodes stay in the
  /// pool; they may use what is replaced, which is then not replaced there.
  [[nodiscard]] bool change(std::uint32_t program, const Binding& binding, Change& change);

 private:
  /// Tasks are nodes of the graph and, numbered from base_ on, nodes of the target.
  struct Place {
    std::uint32_t task = 0;
    std::uint32_t output = 0;
  };
  enum Mark : std::uint8_t { kReplaced = 1, kAffected = 2, kOpen = 4, kDone = 8 };

  void start(std::span<const std::uint32_t> nodes);
  [[nodiscard]] std::uint8_t mark(std::uint32_t task) const { return epoch_[task] == now_ ? marks_[task] : 0; }
  void add_mark(std::uint32_t task, std::uint8_t mark);
  [[nodiscard]] bool is_fixed(std::uint32_t task) const { return task < base_ && (mark(task) & kAffected) == 0; }
  [[nodiscard]] std::uint32_t made(std::uint32_t task) const { return is_fixed(task) ? task : made_[task]; }
  [[nodiscard]] std::size_t operand_count(std::uint32_t task) const;
  /// False where tensors replace each other in a circle.
  [[nodiscard]] bool resolve(Port port, Place& place) const;
  [[nodiscard]] bool operand(std::uint32_t task, std::size_t k, Place& place) const;
  [[nodiscard]] Outcome make(std::uint32_t wanted);
  [[nodiscard]] Outcome build(std::uint32_t task);
  [[nodiscard]] Outcome check_types();
  [[nodiscard]] bool is_independent(const Binding& binding) const;
  [[nodiscard]] bool make_target(const Binding& binding, std::vector<std::uint32_t>& made);
  Outcome refuse(std::string reason);

  NodePool& pool_;
  const RuleSet& rules_;
  TargetLabels labels_;
  std::string refusal_;

  // One application.
  const RuleProgram* program_ = nullptr;
  std::uint32_t program_id_ = 0;
  const Binding* binding_ = nullptr;
  std::uint32_t base_ = 0;
  std::uint32_t now_ = 0;
  std::vector<Port> replaced_;
  std::vector<std::uint32_t> epoch_;  ///< By task: when its mark was set.
  std::vector<std::uint8_t> marks_;
  std::vector<std::uint32_t> made_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack_;  ///< Task, next operand.
  std::vector<Port> in_;
};

}  // namespace rewright
