// What a run of a campaign is told, and what it gives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "campaign/campaign_progress.h"

namespace rewright {

struct RunOptions {
  std::string store;
  int threads = 1;
  std::uint64_t memory_bytes = 0;  ///< 0: no limit. More than that stops the run as an interrupt does.
  double checkpoint_seconds = 5;   ///< Finished work of an enumeration that takes longer is kept as it goes.
  bool resume = false;             ///< Go on with an unfinished run.
  bool fresh = false;              ///< Forget what the store holds.
  /// Processes that enumerate together on one store, and which of them this is; `token` names this run of theirs. The
  /// first does all that comes after enumeration.
  std::size_t rank = 0;
  std::size_t ranks = 1;
  std::string token;
  std::function<bool()> stop;                             ///< Asked from time to time, from any thread.
  std::function<void(const CampaignProgress&)> progress;  ///< From one thread at a time.
};

struct LevelSummary {
  int operators = 0;
  std::uint64_t graphs = 0;
  std::uint64_t classes = 0;
  std::uint64_t candidates = 0;
  std::uint64_t rules = 0;
  double seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
};

/// What a pruner removed and left: candidates, or proved rules.
struct PrunerSummary {
  std::string pruner;
  std::uint64_t removed = 0;
  std::uint64_t left = 0;
  bool on_rules = false;
  std::uint64_t forward = 0;  ///< Of the rules removed: those that follow by rules used from source to target alone.
};

/// A verifier that crashed, in a process of its own.
struct CrashSummary {
  std::string verifier;
  std::uint64_t goals = 0;      ///< That it crashed over, each by itself.
  std::string first;            ///< The id of the first one.
  std::string rule;             ///< Its text.
  std::string reason;           ///< How it crashed over that one, and which plugin it is of.
  std::uint64_t not_asked = 0;  ///< Goals that it was not asked about any more.
};

struct CampaignSummary {
  enum class State { kFinished, kStopped, kRunning };
  State state = State::kFinished;
  bool was_finished = false;  ///< The store had the result already: nothing was done.
  std::string stopped_by;     ///< Why it stopped.
  std::string name;
  std::string store;
  std::vector<std::string> phases_done;
  std::vector<LevelSummary> levels;
  std::uint64_t graphs = 0;
  std::uint64_t classes = 0;
  std::uint64_t candidates = 0;
  std::vector<PrunerSummary> pruners;
  std::uint64_t reinstated = 0;  ///< Candidates taken back since what made them superfluous was not proved.
  std::uint64_t goals = 0;       ///< Directed, generalised candidates.
  std::uint64_t unfit = 0;       ///< Candidates in a direction that makes no rule.
  std::uint64_t proved = 0;
  std::uint64_t conditional = 0;  ///< Of those: under a condition that the proof found.
  std::uint64_t refuted = 0;
  std::uint64_t unknown = 0;
  std::uint64_t open = 0;             ///< Not looked at yet.
  std::vector<CrashSummary> crashes;  ///< In the order of their first ones.
  std::uint64_t generalised = 0;  ///< Proved rules that were no candidates: general forms of others, rules of files.
  std::uint64_t rules = 0;
  double seconds = 0;  ///< Over all runs.
  std::uint64_t peak_memory_bytes = 0;
};

}  // namespace rewright
