#include "campaign/runner.h"

#include <chrono>
#include <filesystem>

#include "base/files.h"
#include "base/logging.h"
#include "base/process_memory.h"
#include "campaign/crashes.h"
#include "campaign/identity.h"
#include "campaign/phases.h"
#include "enumerate/enumerator.h"
#include "enumerate/work_files.h"
#include "store/derivations.h"
#include "verify/rule_judge.h"

namespace rewright {
namespace {

using Clock = std::chrono::steady_clock;

struct Phase {
  const char* name;
  Result<bool> (*run)(Run&);
};
constexpr Phase kPhases[] = {
    {"enumerate", enumerate_phase}, {"prune", prune_phase}, {"verify", verify_phase}, {"library", library_phase}};

// Where the axioms are, one file a line: who replays the certificates reads them again.
std::string axiom_paths(const CampaignConfig& config) {
  std::string text;
  for (const AxiomFile& axioms : config.axioms) text += std::filesystem::weakly_canonical(axioms.path).string() + "\n";
  return text;
}

// Removes the files of finished work, but for the signs of processes that are starting now.
void forget_work(const std::string& folder, const std::string& token) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (token.empty() || !name.starts_with(token)) std::filesystem::remove(entry.path(), ignored);
  }
}

// Makes the store this campaign's. True if an earlier run is gone on with.
Result<bool> take_over(Store& store, const CampaignConfig& config, const CampaignRecord& record,
                       const RunOptions& options) {
  REWRIGHT_TRY(const std::optional<CampaignRecord> stored, store.campaign());
  if (stored && !options.fresh) {
    if (const std::string what = difference(*stored, record); !what.empty()) {
      return make_error(
          ErrorCode::kMismatch,
          "the store '{}' holds another campaign: {}; choose a new folder with --store DIR, or --fresh to "
          "forget what is there",
          options.store, what);
    }
    REWRIGHT_TRY(const bool finished, store.finished("library"));
    if (!finished && !options.resume) {
      return make_error(ErrorCode::kUsage,
                        "the store '{}' holds an unfinished run of this campaign: add --resume to go "
                        "on with it, or --fresh to forget it",
                        options.store);
    }
    return true;
  }
  REWRIGHT_CHECK(store.clear());
  forget_work(store.path("work"), options.token);
  REWRIGHT_TRY(const std::string text, read_file(config.file));
  REWRIGHT_CHECK(write_file(store.path("campaign.toml"), text));
  REWRIGHT_CHECK(write_file(store.path("axioms.txt"), axiom_paths(config)));
  REWRIGHT_CHECK(store.begin(record));
  return false;
}

// The phases that are not done. False if the run was stopped.
Result<bool> run_phases(Run& run, Log& log) {
  for (const Phase& phase : kPhases) {
    REWRIGHT_TRY(const bool done, run.store.finished(phase.name));
    if (done) continue;
    log.write(fmt::format("{}: begins", phase.name));
    const Clock::time_point start = Clock::now();
    const Result<bool> ended = phase.run(run);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!ended) {
      log.write(fmt::format("{}: {}", phase.name, ended.error().message));
      return ended.error();
    }
    REWRIGHT_CHECK(run.store.add_time(phase.name, seconds, peak_memory_bytes()));
    log.write(fmt::format("{}: {} after {:.1f} s", phase.name, *ended ? "done" : "stopped", seconds));
    if (!*ended) return false;
  }
  return true;
}

std::vector<std::string> paths_of(const std::vector<AxiomFile>& files) {
  std::vector<std::string> paths;
  for (const AxiomFile& file : files) paths.push_back(file.path);
  return paths;
}

Result<std::uint64_t> tell(Store& store, const std::string& table, const std::string& where = "1") {
  REWRIGHT_TRY(const std::int64_t count, store.count(table, where));
  return static_cast<std::uint64_t>(count);
}

Status summarise_levels(Store& store, CampaignSummary& summary) {
  REWRIGHT_TRY(const std::vector<LevelRecord> levels, store.levels());
  for (const LevelRecord& level : levels) {
    LevelSummary& entry = summary.levels.emplace_back();
    entry.operators = level.operators;
    entry.graphs = level.graphs;
    entry.classes = level.classes;
    entry.candidates = level.candidates;
    const std::string phase = fmt::format("enumerate {}", level.operators);
    REWRIGHT_TRY(entry.seconds, store.seconds(phase));
    REWRIGHT_TRY(entry.peak_memory_bytes, store.peak_memory_bytes(phase));
    // A rule counts where the first candidate that led to it was found.
    REWRIGHT_TRY(
        entry.rules,
        tell(store, "rules",
             fmt::format("goal IN (SELECT goal FROM (SELECT goal, min(candidate), operators FROM proposals JOIN "
                         "candidates ON candidate = position GROUP BY goal) WHERE operators = {})",
                         level.operators)));
    summary.graphs += level.graphs;
    summary.classes = level.classes;
  }
  return {};
}

// The chain of pruners in the order of the campaign file, as its stored copy has it.
Status summarise_pruners(Store& store, const std::string& config, CampaignSummary& summary) {
  std::uint64_t candidates = summary.candidates, rules = summary.proved + summary.generalised;
  for (const PluginUse& use : pruners_of(config)) {
    PrunerSummary pruner{use.name, 0, 0, use.on_rules, 0};
    if (use.on_rules) {
      REWRIGHT_TRY(const DerivationCounts counts, count_derivations(store, use.name));
      pruner.removed = counts.all;
      pruner.forward = counts.forward;
      pruner.left = rules -= counts.all;
    } else {
      REWRIGHT_TRY(SqlStatement statement, store.database().prepare("SELECT count(*) FROM removals WHERE pruner = ?"));
      REWRIGHT_CHECK(statement.query(use.name));
      pruner.removed = static_cast<std::uint64_t>(statement.integer(0));
      pruner.left = candidates -= pruner.removed;
    }
    summary.pruners.push_back(std::move(pruner));
  }
  return {};
}

Status summarise(Store& store, CampaignSummary& summary) {
  summary.store = store.folder();
  REWRIGHT_TRY(const std::optional<CampaignRecord> record, store.campaign());
  if (!record) {
    return make_error(ErrorCode::kNotFound, "no campaign has begun in the store '{}'", store.folder());
  }
  summary.name = record->name;
  for (const Phase& phase : kPhases) {
    REWRIGHT_TRY(const bool done, store.finished(phase.name));
    if (done) summary.phases_done.emplace_back(phase.name);
    REWRIGHT_TRY(const double seconds, store.seconds(phase.name));
    summary.seconds += seconds;
    REWRIGHT_TRY(const std::uint64_t peak, store.peak_memory_bytes(phase.name));
    summary.peak_memory_bytes = std::max(summary.peak_memory_bytes, peak);
  }
  REWRIGHT_CHECK(summarise_levels(store, summary));
  REWRIGHT_TRY(summary.candidates, tell(store, "candidates"));
  REWRIGHT_TRY(summary.reinstated, tell(store, "removals", "reinstated = 1"));
  REWRIGHT_TRY(summary.goals, tell(store, "goals"));
  REWRIGHT_TRY(summary.unfit, tell(store, "proposals", "goal IS NULL"));
  REWRIGHT_TRY(summary.proved, tell(store, "goals", "status = 'proved'"));
  REWRIGHT_TRY(
      summary.conditional,
      tell(store, "goals", "status = 'proved' AND position IN (SELECT goal FROM verdicts WHERE conditions <> '')"));
  // What the library phase has added was no candidate's goal.
  REWRIGHT_TRY(
      summary.generalised,
      tell(store, "goals", "status = 'proved' AND position NOT IN (SELECT goal FROM proposals WHERE goal NOT NULL)"));
  summary.goals -= summary.generalised;
  summary.proved -= summary.generalised;
  REWRIGHT_CHECK(summarise_pruners(store, record->config, summary));
  REWRIGHT_TRY(summary.crashes, crash_summaries(store));
  REWRIGHT_TRY(summary.refuted, tell(store, "goals", "status = 'refuted'"));
  REWRIGHT_TRY(summary.unknown, tell(store, "goals", "status = 'unknown'"));
  REWRIGHT_TRY(summary.open, tell(store, "goals", "status = 'open'"));
  REWRIGHT_TRY(summary.rules, tell(store, "rules"));
  return {};
}

}  // namespace

EnumerationConfig enumeration_of(const CampaignConfig& config, const RunOptions& options,
                                 const std::string& work_folder) {
  EnumerationConfig enumeration = config.enumeration;
  enumeration.threads = options.threads;
  enumeration.memory_bytes = options.memory_bytes / 2;
  enumeration.folder = options.store;
  enumeration.work_folder = work_folder;
  enumeration.rank = options.rank;
  enumeration.ranks = options.ranks;
  enumeration.token = options.token;
  enumeration.checkpoint_seconds = options.checkpoint_seconds;
  return enumeration;
}

namespace {

enum class Start { kEnumerate, kNothingToDo, kStopped };

// The first process tells the others whether there is anything to enumerate.
Result<Start> start_together(const std::string& folder, const RunOptions& options, bool enumerated) {
  if (options.ranks == 1) return enumerated ? Start::kNothingToDo : Start::kEnumerate;
  const enumeration::WorkFiles files(folder, options.rank, options.ranks, options.token);
  const std::string nothing_to_do = options.token + ".enumerated";
  const std::vector<char> empty;
  if (options.rank == 0 && enumerated) REWRIGHT_CHECK(files.save(nothing_to_do, std::span<const char>(empty)));
  REWRIGHT_TRY(const bool together, files.barrier("start", options.stop));
  if (!together) {
    files.fail({ErrorCode::kBudget, enumeration::WorkFiles::kStopped});
    return Start::kStopped;
  }
  return files.has(nothing_to_do) ? Start::kNothingToDo : Start::kEnumerate;
}

// What a process other than the first does: its share of the enumeration.
Result<CampaignSummary> help_enumerate(const CampaignConfig& config, const RunOptions& options) {
  CampaignSummary summary;
  summary.name = config.name;
  summary.store = options.store;
  const std::string folder = options.store + "/work";
  REWRIGHT_TRY(const Start start, start_together(folder, options, false));
  if (start == Start::kNothingToDo) return summary;
  EnumerationConfig enumeration = enumeration_of(config, options, folder);
  const auto progress = [&](const EnumerationProgress&) {
    const bool too_large = options.memory_bytes > 0 && resident_bytes() > options.memory_bytes;
    return !too_large && !(options.stop && options.stop());
  };
  bool stopped = start == Start::kStopped;
  if (!stopped) {
    REWRIGHT_TRY(const EnumerationReport report, enumerate(
                                                     enumeration, [](const Candidate&) { return Status(); }, progress));
    stopped = report.stopped_early;
  }
  if (stopped) {
    summary.state = CampaignSummary::State::kStopped;
    summary.stopped_by = "a process stopped";
  }
  return summary;
}

}  // namespace

bool Run::should_stop() {
  if (stopped_by != nullptr) return true;
  if (options.stop && options.stop()) stopped_by = "it was interrupted";
  if (options.memory_bytes > 0 && resident_bytes() > options.memory_bytes) stopped_by = "it reached its memory limit";
  return stopped_by != nullptr;
}

Result<CampaignSummary> run_campaign(const CampaignConfig& config, const Registry& registry,
                                     const RunOptions& options) {
  if (options.rank > 0) return help_enumerate(config, options);
  // Everything that can be wrong with the input comes to light before the store is touched.
  const std::vector<std::string> axiom_files = paths_of(config.axioms);
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(axiom_files, registry));
  REWRIGHT_CHECK(RuleJudge(axioms, registry).check_axioms());
  REWRIGHT_TRY(const CampaignRecord record, identity(config, registry));
  REWRIGHT_TRY(const std::unique_ptr<Store> store, Store::open(options.store, Store::Mode::kRun));
  REWRIGHT_TRY(const bool resumed, take_over(*store, config, record, options));
  CampaignSummary summary;
  REWRIGHT_TRY(summary.was_finished, store->finished("library"));
  REWRIGHT_TRY(const bool enumerated, store->finished("enumerate"));
  // A run that was killed once its candidates were recorded may have left its work behind.
  std::error_code ignored;
  if (enumerated && options.ranks == 1) std::filesystem::remove_all(store->path("work"), ignored);
  REWRIGHT_CHECK(start_together(store->path("work"), options, enumerated));
  if (!summary.was_finished) {
    Log log(store->path("log.txt"));
    log.write(
        fmt::format("campaign {}: {} with {} threads", config.name, resumed ? "goes on" : "begins", options.threads));
    REWRIGHT_CHECK(store->begin_run(options.threads, resumed));
    ProgressReporter progress(store->path("progress.json"), options.progress);
    Run run{config, registry, options, *store, axioms, progress, log};
    REWRIGHT_TRY(const bool finished, run_phases(run, log));
    if (!finished) {
      summary.state = CampaignSummary::State::kStopped;
      summary.stopped_by = run.stopped_by != nullptr ? run.stopped_by.load() : "the enumeration ended early";
    }
  }
  REWRIGHT_CHECK(summarise(*store, summary));
  return summary;
}

Result<CampaignSummary> campaign_summary(const std::string& folder) {
  REWRIGHT_TRY(const std::unique_ptr<Store> store, Store::open(folder, Store::Mode::kRead));
  CampaignSummary summary;
  REWRIGHT_CHECK(summarise(*store, summary));
  const bool finished = !summary.phases_done.empty() && summary.phases_done.back() == "library";
  if (!finished) {
    summary.state = Store::busy(folder) ? CampaignSummary::State::kRunning : CampaignSummary::State::kStopped;
  }
  return summary;
}

}  // namespace rewright
