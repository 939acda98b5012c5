// Running a campaign: enumerate -> prune -> generalise and verify -> library, each a phase whose end is recorded in
// the store, so that a run that was stopped or killed goes on where the last recorded step ended.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <string>

#include "campaign/config.h"
#include "campaign/run_types.h"

namespace rewright {

/// Errors: kUsage (an unfinished run is there and resume is off), kMismatch (the store is of another campaign, damaged,
/// or verifiers contradict each other), kIo, kBudget (the disk or the memory is full). What was recorded stays.
[[nodiscard]] REWRIGHT_API Result<CampaignSummary> run_campaign(const CampaignConfig& config, const Registry& registry,
                                                                const RunOptions& options);

/// The figures of a store, whatever state it is in; a campaign may be running on it.
[[nodiscard]] REWRIGHT_API Result<CampaignSummary> campaign_summary(const std::string& store);

}  // namespace rewright
