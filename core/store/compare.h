// Libraries side by side: what one has and the other has not. Ids say what is the same.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

/// The rules of a store, or of a text file of one rule a line (which vouches for nothing: trust "none").
struct RuleSource {
  std::string place;  ///< The store's folder, or the file.
  std::vector<RuleText> rules;
};

/// Errors: kMismatch where both have one id and their texts have different canonical forms, so that one of them is not
/// what its id says.
REWRIGHT_API Status check_same_rule(const RuleText& left, const std::string& left_place, const RuleText& right,
                                    const std::string& right_place, const Registry& registry);

struct RuleDiff {
  std::vector<const RuleText*> lost;   ///< In `before` only.
  std::vector<const RuleText*> fresh;  ///< In `after` only.
  std::size_t common = 0;
};
/// Both must outlive the result. Errors: as check_same_rule.
[[nodiscard]] REWRIGHT_API Result<RuleDiff> diff(const RuleSource& before, const RuleSource& after,
                                                 const Registry& registry);

}  // namespace rewright
