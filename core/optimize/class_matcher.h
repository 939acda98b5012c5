// Where rules match in an e-graph: the rules' discrimination tree, followed over classes, where each place may be any
// of a class's applications.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "optimize/tensor_classes.h"
#include "rewrite/node_pool.h"
#include "rewrite/rule_set.h"

namespace rewright {

class ClassMatcher {
 public:
  /// Borrows all three.
  ClassMatcher(const NodePool& pool, const TensorClasses& classes, const RuleSet& rules)
      : pool_(pool), classes_(classes), rules_(rules) {}

  struct ClassMatch {
    std::uint32_t program = 0;
    Binding binding;  ///< Inputs by the ports that stand for their classes.
  };
  /// All matches, at most `most` of one rule; of rules of several parts only if `several`. By rule, then by the nodes
  /// at their roots. `cut` says whether matches were left out. Nothing once `keep_going` says no; it may be empty.
  [[nodiscard]] std::optional<std::vector<ClassMatch>> find(bool several, std::size_t most,
                                                            const std::function<bool()>& keep_going, bool& cut);

 private:
  struct Places {
    std::vector<std::uint32_t> classes;       ///< By place; of the root the node's first output.
    std::vector<std::uint32_t> applications;  ///< By place; kNoId where it is a tensor.
  };
  void walk(std::uint32_t at, std::uint32_t depth);
  void follow(const RuleSet::Place& place, std::uint32_t depth, std::uint32_t node, std::uint32_t output);
  void take(const RuleSet::Leaf& leaf);
  [[nodiscard]] const std::vector<std::uint32_t>& demands(std::uint32_t node);
  void join(std::uint32_t program, std::size_t part, Binding& bound, std::vector<ClassMatch>& matches);
  void keep(std::uint32_t program, Binding binding, std::vector<ClassMatch>& matches);
  [[nodiscard]] bool goes_on();

  const NodePool& pool_;
  const TensorClasses& classes_;
  const RuleSet& rules_;
  std::map<SignatureId, std::vector<std::uint32_t>> demands_;
  bool several_ = false;
  std::size_t most_ = 0;
  bool cut_ = false;
  const std::function<bool()>* keep_going_ = nullptr;
  std::uint32_t asked_ = 0;
  bool stopped_ = false;
  Places places_;
  std::vector<std::vector<std::vector<Binding>>> found_;  ///< By program, by part.
  std::vector<std::multimap<std::uint32_t, std::size_t>> by_input_;
  std::size_t kept_ = 0;
  std::vector<std::int64_t> slots_;
};

}  // namespace rewright
