// What the commands that search for schedules share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/program.h"
#include "store/schedule_records.h"
#include "tune/shared_measuring.h"
#include "tune/tuning_choice.h"

namespace rewright::cli {

struct TuneArguments {
  std::string what;  ///< A kernel, a file with a loop program, or a model.
  std::vector<std::string> sizes;
  tune::TuningChoice choice;
  std::vector<std::string> sketches;  ///< Files.
  bool only_given = false, around = false, shared = false;
  std::vector<std::string> options, predictor_options;
  std::string records;
  std::string report;  ///< A page; empty: none.
  std::int64_t trials = 64;
  double seconds = 0;                 ///< 0: any number.
  std::vector<std::string> transfer;  ///< Stores of records to take schedules from.
  bool strict = false;
  std::size_t transfers = 8;
  [[nodiscard]] tune::Division division() const { return strict ? tune::Division::kStrict : tune::Division::kTails; }
};
/// `what`, a file with a loop program or a kernel as text, at `sizes`.
[[nodiscard]] Result<tune::TuningTask> read_task(const TuneArguments& arguments, const Registry& registry);
/// Options that say what it is, and which code is made of it.
void add_what(const Command& command, TuneArguments& arguments);

/// Options of every search: what to measure, who proposes, where records are.
void add_search_options(const Command& command, TuneArguments& arguments);
void add_code_options(const Command& command, TuneArguments& arguments);
/// --transfer, --strict and --transfers; the first of them.
Argument add_transfer_options(const Command& command, TuneArguments& arguments, const std::string& help);
/// Of a store of --transfer, those that this search can measure.
[[nodiscard]] Result<std::vector<tune::DonorKernel>> read_donors(const std::string& store,
                                                                 const tune::TuningSetting& setting);

/// All but `records` and `stop`. Errors: an option that there is not, a plugin that is not there or cannot be used, a
/// file that is no schedule.
[[nodiscard]] Result<tune::TuningSetting> tuning_setting(const TuneArguments& arguments, const Registry& registry);

/// A store of records to go on from, or none.
struct OpenedRecords {
  std::optional<ScheduleRecords> records;
  std::vector<ScheduleRecord> known = {};
  KernelPrograms programs = {};
};
[[nodiscard]] Result<OpenedRecords> open_records(const std::string& folder);

/// Under mpirun or srun all but the first process measure for it: then this does so, and says how that ended. Errors:
/// there is no store for it.
[[nodiscard]] Result<std::optional<ExitCode>> work_of_rank(const Settings& settings, const TuneArguments& arguments);
/// Of a search that shares its measuring; null: it does not.
[[nodiscard]] Result<std::unique_ptr<tune::SharedMeasuring>> shared_measuring(const TuneArguments& arguments);
/// Of a store of records.
[[nodiscard]] std::string measuring_folder(const std::string& store);

/// Tunes the kernels of the model `tune.what` and keeps what was measured in `tune.records`, without a word on it.
/// Errors: those of `rewright tune model`.
[[nodiscard]] Status tune_before(const Settings& settings, const TuneArguments& tune, std::int64_t trials_per_kernel);

/// Of a monotonic clock.
[[nodiscard]] double seconds_now();

/// "8.1 s compiling, 4.0 s measuring, 3.2 s proposing, 0.1 s learning"
[[nodiscard]] std::string times_text(const tune::TuningTimes& times);
[[nodiscard]] Json times_json(const tune::TuningTimes& times);
/// "The predictor had 81 % of 120 pairs in their order. "; empty where it was never asked.
[[nodiscard]] std::string ordered_text(const tune::OrderedPairs& ordered);
[[nodiscard]] Json ordered_json(const tune::OrderedPairs& ordered);
/// "3 ok, 1 wrong".
[[nodiscard]] std::string outcome_text(const std::map<std::string, std::int64_t>& outcomes);

}  // namespace rewright::cli
