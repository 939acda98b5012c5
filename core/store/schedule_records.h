// Measured schedules: rows of a store that are added, and never changed or taken away.
//
//   schedule_records   a component of the database with a version of its own
//   kernel_programs    another: the loop program of each kernel that was measured, by its structure and sizes
//   one line of JSON   a record outside of a store; {"version": 1, ...}, the names those of the fields below
//
// A record is known by the hash of its line, so that a line that is there already adds nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace rewright {

struct ScheduleRecord {
  std::string structure;            ///< Of the kernel, sizes apart (optimize/cost_key.h).
  std::vector<std::int64_t> sizes;  ///< In the order of s0, s1, ...
  std::string schedule;             ///< Its text; "": unscheduled.
  std::string target;
  std::string dialect;
  std::string target_version;
  std::string machine;  ///< Its fingerprint.
  std::string processor;
  std::string policy;  ///< "hot" or "cold".
  std::int64_t threads = 1;
  std::vector<double> batches_us;  ///< Of one run, batch by batch; none where it did not run.
  std::string outcome;             ///< "ok", "wrong", "crashed", "timeout", "refused", "over-budget".
  std::string text;                ///< Of the outcome.
  std::uint64_t seed = 0;
  std::string origin;    ///< "search", "transfer", "hand", "optimiser".
  std::string recorded;  ///< UTC, "2026-01-31T12:00:00.123Z".

  /// Of the batches. Infinite where there are none.
  [[nodiscard]] REWRIGHT_API double least_us() const;
  /// Linear between the batches around it; fraction 0.5 is the median.
  [[nodiscard]] REWRIGHT_API double quantile_us(double fraction) const;
  friend bool operator==(const ScheduleRecord&, const ScheduleRecord&) = default;
};

/// Unscheduled loop programs as text, by structure and sizes of kernels.
using KernelPrograms = std::map<std::pair<std::string, std::vector<std::int64_t>>, std::string>;

/// Without a line break.
[[nodiscard]] REWRIGHT_API std::string to_line(const ScheduleRecord& record);
/// Errors: kParse, what is missing or no record says; kMismatch, a line of a newer version.
[[nodiscard]] REWRIGHT_API Result<ScheduleRecord> record_of_line(std::string_view line);
/// "2026-01-31T12:00:00.123Z", now.
[[nodiscard]] REWRIGHT_API std::string utc_now();

class REWRIGHT_API ScheduleRecords {
 public:
  /// Of a store to write to: makes the store and the table where they are not there.
  [[nodiscard]] static Result<ScheduleRecords> open(const std::string& folder);
  /// False: it is there already.
  [[nodiscard]] Result<bool> add(const ScheduleRecord& record);
  /// Of a kernel that has records, or gets some. A second one changes nothing.
  Status add_program(const std::string& structure, const std::vector<std::int64_t>& sizes, const std::string& program);
  /// None where the store has no such table. Errors: kNotFound, no store there.
  [[nodiscard]] static Result<KernelPrograms> programs(const std::string& folder);
  /// In the order in which they were added; none where the store has no such table. Errors: kNotFound, no store there;
  /// kMismatch, a damaged row, with its number, or a newer version.
  [[nodiscard]] static Result<std::vector<ScheduleRecord>> read(const std::string& folder);

 private:
  explicit ScheduleRecords(std::unique_ptr<Store> store) : store_(std::move(store)) {}
  std::unique_ptr<Store> store_;
};

}  // namespace rewright
