// All rules at once: one discrimination tree over the parts of all sources.
//
// A part is written out breadth first, from its root to its inputs: at each place stands an operator with what is asked
// of its parameters, a tensor that was not met before, of a rank, or one that was. Parts that begin alike share the
// beginning; a commutative operator is written in both orders. Looking a node up follows the branches that fit, and
// finds every part that matches there, in time that depends on what matches and not on how many rules there are.
//
// Source  Christian: Flatterms, Discrimination Nets, and Fast Term Rewriting, Journal of Automated Reasoning 10, 1993.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rewrite/node_pool.h"
#include "rewrite/rule_program.h"

namespace rewright {

class REWRIGHT_API RuleSet {
 public:
  explicit RuleSet(std::vector<Rule> rules);

  /// A rule that is in the list and never matches.
  struct Unusable {
    std::size_t rule;
    std::string reason;
  };
  [[nodiscard]] std::span<const Rule> rules() const { return rules_; }
  [[nodiscard]] std::span<const Unusable> unusable() const { return unusable_; }
  [[nodiscard]] std::span<const RuleProgram> programs() const { return programs_; }

  /// What a node's operator is asked for: the operator, its arity, its parameters as far as they are numbers.
  struct Demand {
    const Operator* op = nullptr;
    std::size_t arity = 0;
    SymbolicParams params;
  };
  /// The demands that an application meets, ascending.
  [[nodiscard]] std::vector<std::uint32_t> met_by(const Operator& op, const Params& params, std::size_t arity) const;

  /// The end of a part: which of its places bind what.
  struct Leaf {
    std::uint32_t program = 0;
    std::uint32_t part = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> inputs;  ///< Rule input, place.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes;   ///< Source node, place.
    std::vector<std::uint32_t> swapped;                           ///< Places of operators with exchanged operands.
  };
  struct Branch {
    std::uint32_t key = 0;     ///< A demand, a rank, or an earlier place.
    std::uint32_t output = 0;  ///< Of the operator at the place.
    std::uint32_t next = 0;
  };
  /// What may stand at a place.
  struct Place {
    std::vector<Branch> operators;  ///< By demand, then output.
    std::vector<Branch> tensors;    ///< By rank.
    std::vector<Branch> repeated;   ///< The tensor of an earlier place.
    std::vector<Branch> siblings;   ///< Another output of the operator at an earlier place.
    std::vector<Leaf> leaves;
  };
  [[nodiscard]] const Place& place(std::uint32_t id) const { return places_[id]; }

 private:
  struct Writer;
  std::uint32_t demand(const PatternNode& node);
  void add(std::uint32_t program);

  std::vector<Rule> rules_;
  std::vector<Unusable> unusable_;
  std::vector<RuleProgram> programs_;
  std::vector<Demand> demands_;
  std::map<const Operator*, std::vector<std::uint32_t>> demands_of_;
  std::vector<Place> places_ = {{}};  ///< The first is where all begin.
};

}  // namespace rewright
