// A store's rules were proved with certain versions of the operators. Where another one is loaded, the proofs speak of
// something else.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>

#include <span>
#include <string>
#include <vector>

#include "store/store.h"

namespace rewright {

struct OtherVersion {
  std::string op;
  std::string of_store, loaded;  ///< Versions of its plugin.
};
/// Of operators that are loaded in another version than the store's campaign, or one that was merged into it, had.
[[nodiscard]] REWRIGHT_API Result<std::vector<OtherVersion>> other_versions(Store& store, const Registry& registry);

/// Plugins that the store's campaign, or one that was merged into it, had, and that are not loaded: "operator.square
/// 0.1.0". None where the store cannot be read.
[[nodiscard]] REWRIGHT_API std::vector<std::string> missing_plugins(const std::string& store, const Registry& registry);

/// Rules that use such an operator become Trust::kNone.
void distrust(std::vector<Rule>& rules, std::span<const OtherVersion> others);

}  // namespace rewright
