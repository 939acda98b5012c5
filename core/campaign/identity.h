// What a campaign's results depend on: the resolved campaign file and every file that takes part.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "campaign/config.h"
#include "store/store.h"

namespace rewright {

/// Those that give some of the objects ("operator relu", as LoadedPlugin::provides says it). Errors: as below.
[[nodiscard]] Result<std::vector<Ingredient>> plugins_of(const std::set<std::string>& objects,
                                                         const Registry& registry);

/// Errors: a file that cannot be read.
[[nodiscard]] Result<CampaignRecord> identity(const CampaignConfig& config, const Registry& registry);

/// The first thing in which `now` differs from what a store holds, in words: "max_operators was 2 and is 3"; empty if
/// they are the same campaign.
[[nodiscard]] std::string difference(const CampaignRecord& stored, const CampaignRecord& now);

}  // namespace rewright
