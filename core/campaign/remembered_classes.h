// Classes of rules, remembered as proofs are.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <span>
#include <vector>

namespace rewright {

/// are_range_changing (rule_class.h). Of rules that are not, this is remembered (judged_memory.h).
[[nodiscard]] REWRIGHT_API std::vector<char> remembered_range_changing(std::span<const Rule> rules,
                                                                       const Registry& registry);

}  // namespace rewright
