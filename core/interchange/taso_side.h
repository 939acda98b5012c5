// One side of a TASO rule, in our operators.
#pragma once

#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/tensor/linear.h>

#include <vector>

#include "interchange/taso_format.h"
#include "interchange/taso_ranks.h"

namespace rewright::taso_format {

/// What both sides of a rule are read with.
struct Scope {
  const Registry& registry;
  std::vector<int> ids;              ///< Of the inputs, as the file numbers them.
  std::vector<PatternInput> inputs;  ///< In the same order.
  Ranks& ranks;
  int open_rank = 2;  ///< Of what the file leaves open.
  /// Of the convolutions that do not say, in the side's order; of those beyond, what `sizes` say, else 1.
  std::vector<std::int64_t> groups;
  const SizeAssignment* sizes = nullptr;
};

/// Sizes that the file leaves open are variables: s0, s1, ... in the source (side 1), t0, ... in the target (side 2).
/// Errors: a parameter that is missing or out of range; an operator that is not defined at these ranks.
[[nodiscard]] Result<Side> read_side(const taso::Rule& rule, int side, const Scope& scope);

}  // namespace rewright::taso_format
