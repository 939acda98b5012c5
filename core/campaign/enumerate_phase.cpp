#include <algorithm>
#include <filesystem>
#include <map>

#include "base/process_memory.h"
#include "campaign/candidate_batch.h"
#include "campaign/phases.h"
#include "enumerate/enumerator.h"

namespace rewright {
namespace {

// Candidates are written in batches: one transaction each.
class CandidateWriter {
 public:
  explicit CandidateWriter(Store& store) : store_(store) {}

  Status add(const Candidate& candidate) {
    const std::size_t operators = std::max(candidate.source.operator_count(), candidate.target.operator_count());
    batch_.push_back(
        {position_++, candidate.id, static_cast<int>(operators), to_text(candidate.source), to_text(candidate.target)});
    return batch_.size() < candidate_batch(static_cast<std::size_t>(position_) - batch_.size()) ? Status() : flush();
  }
  Status flush() {
    REWRIGHT_CHECK(store_.database().transaction([&]() -> Status {
      for (const CandidateRecord& candidate : batch_) REWRIGHT_CHECK(store_.add(candidate));
      return {};
    }));
    batch_.clear();
    return {};
  }

 private:
  Store& store_;
  std::int64_t position_ = 0;
  std::vector<CandidateRecord> batch_;
};

std::string phase_of(const EnumerationLevel& level) { return fmt::format("enumerate {}", level.operators); }

}  // namespace

Result<bool> enumerate_phase(Run& run) {
  // The enumerator starts from the beginning, so what an earlier run wrote goes.
  REWRIGHT_CHECK(run.store.database().transaction([&] { return run.store.discard_candidates(); }));
  const EnumerationConfig config = enumeration_of(run.config, run.options, run.store.path("work"));
  CandidateWriter writer(run.store);
  std::map<int, std::uint64_t> peaks;
  const auto progress = [&](const EnumerationProgress& at) {
    run.progress.report(
        {.phase = "enumerate", .unit = at.pass, .level = at.level, .done = at.graphs, .fraction = at.fraction});
    peaks[at.level] = peak_memory_bytes();
    return !run.should_stop();
  };
  REWRIGHT_TRY(const EnumerationReport report,
               enumerate(
                   config, [&](Candidate candidate) { return writer.add(candidate); }, progress));
  REWRIGHT_CHECK(writer.flush());
  run.log.write(fmt::format(
      "enumerate: {} of {} repeated tensors that were compared again on fresh inputs differ{}", report.pruned_by_chance,
      report.audited, report.pruned_by_chance > 0 ? ": rules may be lost; take larger inputs or more of them" : ""));
  for (const EnumerationPass& pass : report.passes)
    run.log.write(fmt::format("enumerate: {}, {} results in {:.2f} s", pass.name, pass.results, pass.seconds));
  REWRIGHT_CHECK(run.store.database().transaction([&]() -> Status {
    for (const EnumerationLevel& level : report.levels) {
      REWRIGHT_CHECK(run.store.add(LevelRecord{level.operators, level.graphs, level.classes, level.candidates}));
      const std::uint64_t peak = peaks.contains(level.operators) ? peaks[level.operators] : peak_memory_bytes();
      REWRIGHT_CHECK(run.store.add_time(phase_of(level), level.seconds, peak));
    }
    return report.stopped_early ? Status() : run.store.finish("enumerate");
  }));
  std::error_code ignored;
  if (!report.stopped_early) std::filesystem::remove_all(config.work_folder, ignored);
  return !report.stopped_early;
}

}  // namespace rewright
