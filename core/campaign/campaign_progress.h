// Where a campaign stands: told to the caller as it goes, and written to STORE/progress.json about once a second, for
// `rewright campaign status` in another terminal.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace rewright {

struct CampaignProgress {
  std::string phase;        ///< "enumerate", "prune", "generalise", "verify", "library".
  std::string unit;         ///< What `done` counts: "graphs", "candidates", "rules".
  int level = 0;            ///< Operators of the graphs being enumerated.
  std::uint64_t done = 0;   ///< In this phase and level.
  double fraction = 0;      ///< Of this phase and level.
  double rate = 0;          ///< `done` a second.
  double eta_seconds = -1;  ///< Until the end of this phase and level; below 0: not known.
};

/// What progress.json says. Errors: kNotFound, kParse.
[[nodiscard]] REWRIGHT_API Result<CampaignProgress> read_progress(const std::string& file);

/// May be called from several threads.
class ProgressReporter {
 public:
  ProgressReporter(std::string file, std::function<void(const CampaignProgress&)> show)
      : file_(std::move(file)), show_(std::move(show)) {}

  /// Works out rate and time left from the first report of the same phase and level.
  void report(CampaignProgress progress);

 private:
  using Clock = std::chrono::steady_clock;

  std::string file_;
  std::function<void(const CampaignProgress&)> show_;
  std::mutex mutex_;
  CampaignProgress first_;
  Clock::time_point started_;
  Clock::time_point written_;
};

}  // namespace rewright
