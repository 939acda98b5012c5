#include "campaign/crashes.h"

#include "verify/apart.h"

namespace rewright {

Result<std::map<std::string, std::size_t>> count_crashes(Store& store) {
  std::map<std::string, std::size_t> counts;
  REWRIGHT_TRY(SqlStatement rows,
               store.database().prepare("SELECT verifier, count(DISTINCT goal) FROM verdicts WHERE substr(reason, 1, "
                                        "length(?)) = ? GROUP BY verifier"));
  REWRIGHT_TRY(bool more, rows.query(kCrashed, kCrashed));
  while (more) {
    counts[rows.text(0)] = static_cast<std::size_t>(rows.integer(1));
    REWRIGHT_TRY(more, rows.step());
  }
  return counts;
}

Result<std::vector<CrashSummary>> crash_summaries(Store& store) {
  std::vector<CrashSummary> crashes;
  // SQLite takes the columns beside min() from the row that has the least.
  REWRIGHT_TRY(SqlStatement rows,
               store.database().prepare(
                   "SELECT verifier, min(goal), count(DISTINCT goal), goals.id, goals.text, reason FROM verdicts JOIN "
                   "goals ON goal = goals.position WHERE substr(reason, 1, length(?)) = ? GROUP BY verifier ORDER BY "
                   "min(goal), verifier"));
  REWRIGHT_TRY(bool more, rows.query(kCrashed, kCrashed));
  while (more) {
    crashes.push_back({rows.text(0), static_cast<std::uint64_t>(rows.integer(2)), rows.text(3), rows.text(4),
                       rows.text(5).substr(kCrashed.size()), 0});
    REWRIGHT_TRY(more, rows.step());
  }
  for (CrashSummary& crash : crashes) {
    REWRIGHT_TRY(SqlStatement count,
                 store.database().prepare("SELECT count(DISTINCT goal) FROM verdicts WHERE verifier = ? AND "
                                          "substr(reason, 1, length(?)) = ?"));
    REWRIGHT_CHECK(count.query(crash.verifier, kPutAside, kPutAside));
    crash.not_asked = static_cast<std::uint64_t>(count.integer(0));
  }
  return crashes;
}

}  // namespace rewright
