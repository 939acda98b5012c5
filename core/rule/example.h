// Sizes at which a rule applies.
#pragma once

#include <rewright/rule/rule.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

/// Sets the rule's example to small sizes at which both sides are defined, unequal where they may be. Leaves it empty
/// where a bounded search finds none. The same rule gets the same example.
void find_example(Rule& rule);

struct RuleSizes {
  std::vector<Shape> shapes;                            ///< Of the inputs.
  std::vector<std::pair<SizeVar, std::int64_t>> extra;  ///< Of the match's own size variables.
};
/// Up to `count` choices of small sizes, mostly 2 and 3, at which the source is defined and the precondition holds; the
/// rule's example where a short search finds none. The same rule gets the same sizes.
[[nodiscard]] std::vector<RuleSizes> small_sizes(const Rule& rule, std::size_t count);

}  // namespace rewright
