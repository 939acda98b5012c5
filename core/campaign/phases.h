// The phases of a run. Each gives false if it was asked to stop before its end; what it recorded by then stays, and
// the next run goes on from there.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/plugin/registry.h>

#include <atomic>
#include <string>

#include "base/logging.h"
#include "campaign/campaign_progress.h"
#include "campaign/config.h"
#include "campaign/run_types.h"
#include "store/store.h"

namespace rewright {

struct Run {
  const CampaignConfig& config;
  const Registry& registry;
  const RunOptions& options;
  Store& store;
  const AxiomSet& axioms;
  ProgressReporter& progress;
  Log& log;
  std::atomic<const char*> stopped_by = nullptr;

  /// True once the run is to stop; `stopped_by` then says why. From any thread.
  [[nodiscard]] bool should_stop();
};

/// What is enumerated, and how this run does it.
[[nodiscard]] EnumerationConfig enumeration_of(const CampaignConfig& config, const RunOptions& options,
                                               const std::string& work_folder);
/// Candidates and levels.
[[nodiscard]] Result<bool> enumerate_phase(Run& run);
/// Removals. All of the phase or nothing is recorded.
[[nodiscard]] Result<bool> prune_phase(Run& run);
/// Proposals, goals and verdicts, in rounds: after each, candidates that were removed for the sake of one that is not
/// proved come back.
[[nodiscard]] Result<bool> verify_phase(Run& run);
/// Rules.
[[nodiscard]] Result<bool> library_phase(Run& run);

}  // namespace rewright
