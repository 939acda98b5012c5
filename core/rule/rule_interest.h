// Which rules a person looks at first: one order for lists, galleries and the first page of a campaign.
//
//   1  degenerate ones last: rules of numbers alone (every input has rank 0, or there is none), rules whose source is
//      an input as it is, and those that only put one sum or product in another order
//   2  what it gained in models, as a store has recorded it, the greatest first
//   3  generality: rules whose source has one tensor at most once more than it must before those that are special cases
//      of others in this way (concat(x, x), conv2d(v, concat(conv2d(v, w), w)))
//   4  fewer operators on the target than on the source
//   5  what it saves: operations, and elements written, of the source less the target's, at the rule's example
//   6  generality again: fewer conditions first; then size: fewer operators on both sides first
//   7  as the rules lay
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>

#include <cstddef>
#include <span>
#include <vector>

namespace rewright {

struct RuleInterest {
  bool is_degenerate = false;
  double gain_us = 0;  ///< Of all uses; 0: none is known, or it gained nothing.
  bool shrinks = false;
  bool is_special = false;  ///< Inputs come again and again in the source.
  double saved = 0;         ///< Negative where the target does more.
  std::size_t conditions = 0;
  std::size_t operators = 0;
};

[[nodiscard]] REWRIGHT_API RuleInterest interest_of(const Rule& rule, double gain_us = 0);

/// Positions of the rules, the most interesting first.
[[nodiscard]] REWRIGHT_API std::vector<std::size_t> interesting_first(std::span<const RuleInterest> rules);

}  // namespace rewright
