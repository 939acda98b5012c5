// The account of tuning one task: what was measured, what the tuner is told, what the predictor learned, the best.
//
// A round asks the tuner for points, measures those whose schedule was not measured before, records them and teaches
// the predictor. The state is what records say: a tuning that was broken off goes on where they end.
//
//   record   its schedule ends in the comment "# point SKETCH CHOICE...", so that it is found in the space again
#pragma once

#include <rewright/tune/generator.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/schedule_records.h"
#include "tune/measurer.h"
#include "tune/shared_measuring.h"
#include "tune/sketch_space.h"
#include "tune/transfer.h"
#include "tune/tuning_task.h"

namespace rewright::tune {

struct TuningSetting {
  const Tuner* tuner = nullptr;
  Options tuner_options = {};
  const Predictor* predictor = nullptr;  ///< Null: what is proposed is not ranked.
  const Predictor* prior = nullptr;      ///< Until there are enough observations.
  Options predictor_options = {};
  MeasureTask measure;
  std::string plugin;          ///< That provides the target.
  std::string target_version;  ///< For records.
  Machine machine;
  schedule::SketchOptions sketches;
  std::vector<schedule::Space> given = {};        ///< Sketches of the user's own, put in front.
  std::vector<const Generator*> generators = {};  ///< Whose schedules come after those.
  bool only_given = false;
  bool around = false;  ///< Looks around the best, too: TaskTuning::look_around.
  OrderFeatures orders = OrderFeatures::kCategory;
  std::uint64_t seed = 1;
  std::size_t batch = 8;               ///< Points of a round.
  ScheduleRecords* records = nullptr;  ///< To which what is measured is added.
  /// Of the kernels of known records: those of a task's structure at other sizes teach the predictor. Null: they do
  /// not.
  const KernelPrograms* programs = nullptr;
  SharedMeasuring* shared = nullptr;  ///< With whom measuring is shared; null: nobody.
  std::function<bool()> stop = {};
};

struct TuningTimes {
  double proposing = 0, compiling = 0, measuring = 0, learning = 0;  ///< Seconds.
  double generating = 0;                                             ///< What generators took, before all that.
  [[nodiscard]] double total() const { return proposing + compiling + measuring + learning; }
};

/// Of pairs that one round proposed, and that took times apart: those that had been predicted in their order, by what
/// was known before the round.
struct OrderedPairs {
  std::int64_t pairs = 0, right = 0;
  [[nodiscard]] double share() const { return static_cast<double>(right) / static_cast<double>(pairs); }
};

/// The best after so many trials.
struct TuningPoint {
  std::int64_t trials = 0;
  double seconds = 0;
  double best_us = 0;
};

/// What came of schedules of other kernels.
struct Transfers {
  std::int64_t measured = 0;
  std::int64_t invalid = 0;  ///< That could not be applied.
  double best_us = std::numeric_limits<double>::infinity();
};

class REWRIGHT_API TaskTuning {
 public:
  /// `known`: records, of which those of this task on this machine are taken. Errors: of the tuner.
  [[nodiscard]] static Result<std::unique_ptr<TaskTuning>> start(TuningTask task, const TuningSetting& setting,
                                                                 std::span<const ScheduleRecord> known);
  ~TaskTuning();

  /// Measures the unscheduled program and the schedule that needs no search, where no record has them. Errors: those
  /// of Measurer.
  Status measure_baselines();
  /// Measures schedules of other kernels of its class, the first `most` that were not measured before. Those that do
  /// not fit are counted. Errors: those of Measurer and of look_around.
  Status measure_transfers(std::span<const DonorSchedule> schedules, Division division, std::size_t most);
  /// Adds what is near the best schedule so far to the space, as a sketch of its own (schedule/neighbourhood.h). False:
  /// it is there already, or that schedule splits nothing. Errors: of the tuner.
  Result<bool> look_around();
  /// Up to `most` trials; fewer where the tuner has no other points. Errors: those of Measurer; kBudget where it was
  /// stopped.
  Status round(std::size_t most);
  /// Baselines, then rounds until there are so many trials, or nothing is left to try. Errors: those of both.
  Status run(std::int64_t trials);
  /// Times the best, and the schedule that needs no search, in turn once more: the faster of them is the best. Errors:
  /// those of Measurer.
  Status time_again();
  /// Lets another task's be measured.
  void close() { measurer_.reset(); }

  [[nodiscard]] const TuningTask& task() const { return task_; }
  [[nodiscard]] const SketchSpace& space() const { return *space_; }
  [[nodiscard]] std::size_t batch() const { return setting_.batch; }
  [[nodiscard]] std::int64_t trials() const { return trials_; }
  /// Trials of records that were there before.
  [[nodiscard]] std::int64_t replayed() const { return replayed_; }
  [[nodiscard]] const Transfers& transfers() const { return transfers_; }
  /// There is nothing left to try.
  [[nodiscard]] bool is_exhausted() const { return exhausted_; }
  [[nodiscard]] double best_us() const { return best_.least_us(); }
  /// Its batches are empty where nothing ran.
  [[nodiscard]] const ScheduleRecord& best() const { return best_; }
  /// Its schedule as a person reads it: of a sketch that was given, where its steps are from.
  [[nodiscard]] std::string best_schedule() const;
  [[nodiscard]] double unscheduled_us() const { return unscheduled_us_; }
  [[nodiscard]] double one_shot_us() const { return one_shot_.least_us(); }
  [[nodiscard]] const std::map<std::string, std::int64_t>& outcomes() const { return outcomes_; }
  [[nodiscard]] const std::vector<TuningPoint>& curve() const { return curve_; }
  [[nodiscard]] const TuningTimes& times() const { return times_; }
  [[nodiscard]] const OrderedPairs& ordered() const { return ordered_; }
  /// Of each trial, in their order; infinite where it did not run.
  [[nodiscard]] const std::vector<double>& trials_us() const { return trials_us_; }
  /// Records of other sizes that teach the predictor.
  [[nodiscard]] std::size_t of_other_sizes() const { return of_other_sizes_; }
  /// Sentences of the generators.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// "ok" aside: outcome, schedule and why, of the first few.
  [[nodiscard]] const std::vector<ScheduleRecord>& failures() const { return failures_; }

 private:
  struct Candidate {
    std::optional<Point> point;
    schedule::OneShot scheduled;
    std::string steps;
  };
  TaskTuning(TuningTask task, const TuningSetting& setting) : task_(std::move(task)), setting_(setting) {}
  /// Errors: of the tuner.
  Status make_space(std::vector<schedule::Sketch> sketches);
  /// What is given, and what generators write. Errors: a generator that writes no schedule.
  [[nodiscard]] Result<std::vector<schedule::Sketch>> generated(const loop::Program& program) const;
  void add_own_sketches(const loop::Program& program, std::vector<schedule::Sketch>& sketches) const;
  [[nodiscard]] std::unique_ptr<SketchSpace> space_for(const loop::Program& program,
                                                       std::vector<schedule::Sketch> sketches) const;
  void replay(std::span<const ScheduleRecord> known);
  void replay(const ScheduleRecord& record);
  Status open();
  [[nodiscard]] Measurer::Setting measuring() const;
  /// Times them, and says how long it and compiling took. Errors: those of Measurer.
  Status time(std::span<const loop::Program> programs,
              const std::function<Status(std::size_t, const Measurement&)>& heard);
  Status measure(std::span<const Candidate> candidates, const std::string& origin);
  Status hear(const Candidate& candidate, const Measurement& measured, const std::string& origin);
  void observe(Features features, const Point* point, double us);
  void take(const ScheduleRecord& record, bool is_trial);
  Status learn();
  void compare(std::span<const Candidate> candidates, std::span<const Estimate> predicted);
  [[nodiscard]] ScheduleRecord record_of(const Candidate& candidate, const Measurement& measured,
                                         const std::string& origin) const;

  TuningTask task_;
  TuningSetting setting_;
  std::unique_ptr<SketchSpace> space_;
  std::unique_ptr<TunerRun> run_;
  std::unique_ptr<Measurer> measurer_;
  std::vector<Observation> observations_;  ///< Those of other sizes first.
  std::size_t of_other_sizes_ = 0;
  std::vector<std::optional<Point>> observed_;  ///< Whose they are.
  std::vector<MeasuredPoint> told_;             ///< What the tuner knows.
  std::set<std::string> around_;                ///< Schedules, as text.
  std::map<std::string, double> measured_;      ///< By schedule as text, without its point.
  std::vector<MeasuredPoint> news_;             ///< Of which the tuner does not know yet.
  ScheduleRecord best_, one_shot_;
  double unscheduled_us_ = std::numeric_limits<double>::infinity();
  std::map<std::string, std::int64_t> outcomes_;
  std::vector<TuningPoint> curve_;
  std::vector<double> trials_us_;
  std::vector<ScheduleRecord> failures_;
  std::vector<std::string> notes_;
  TuningTimes times_;
  OrderedPairs ordered_;
  Transfers transfers_;
  std::int64_t trials_ = 0, replayed_ = 0;
  bool exhausted_ = false;
};

}  // namespace rewright::tune
