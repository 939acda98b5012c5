#include "tune/task_tuning.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/neighbourhood.h"
#include "schedule/one_shot.h"
#include "tune/features.h"
#include "tune/other_sizes.h"

namespace rewright::tune {
namespace {

constexpr std::int64_t kMostWalkedSteps = 200'000;  ///< By the validator.
constexpr std::size_t kMostFailures = 20;
constexpr int kMostFruitless = 4;
constexpr double kApart = 1.02;                 ///< Times that differ by more than measuring does.
constexpr std::size_t kMostOfOtherSizes = 200;  ///< Records.

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

TaskTuning::~TaskTuning() = default;

Result<std::unique_ptr<TaskTuning>> TaskTuning::start(TuningTask task, const TuningSetting& setting,
                                                      std::span<const ScheduleRecord> known) {
  std::unique_ptr<TaskTuning> tuning(new TaskTuning(std::move(task), setting));
  tuning->setting_.sketches.finish = tuning->task_.finish;
  for (const Generator* generator : setting.generators) {
    for (const std::string& note : generator->notes(tuning->task_.program, setting.machine))
      tuning->notes_.push_back(fmt::format("generator {}: {}", generator->name(), note));
  }
  const double begin = now();
  REWRIGHT_TRY(std::vector<schedule::Sketch> sketches, tuning->generated(tuning->task_.program));
  tuning->times_.generating = now() - begin;
  tuning->add_own_sketches(tuning->task_.program, sketches);
  REWRIGHT_CHECK(tuning->make_space(std::move(sketches)));
  tuning->replay(known);
  if (setting.records != nullptr) {
    const TuningTask& own = tuning->task_;
    REWRIGHT_CHECK(setting.records->add_program(own.structure, own.sizes, loop::to_string(own.program)));
  }
  REWRIGHT_CHECK(tuning->learn());
  return tuning;
}

Result<std::vector<schedule::Sketch>> TaskTuning::generated(const loop::Program& program) const {
  std::vector<schedule::Sketch> sketches;
  for (const schedule::Space& space : setting_.given) sketches.push_back(schedule::sketch_of(space));
  for (const Generator* generator : setting_.generators) {
    for (const std::string& text : generator->schedules(program, setting_.machine)) {
      const auto space = schedule::parse_space(text);
      if (!space)
        return make_error(ErrorCode::kPlugin, "generator {} wrote no schedule: {}", generator->name(),
                          space.error().message);
      sketches.push_back(schedule::sketch_of(*space));
    }
  }
  return sketches;
}

void TaskTuning::add_own_sketches(const loop::Program& program, std::vector<schedule::Sketch>& sketches) const {
  if (!setting_.only_given) {
    for (schedule::Sketch& sketch : schedule::sketches_of(program, setting_.sketches))
      sketches.push_back(std::move(sketch));
  }
  if (sketches.empty()) sketches.push_back(schedule::sketch_of({}));  // As it is.
}

std::unique_ptr<SketchSpace> TaskTuning::space_for(const loop::Program& program,
                                                   std::vector<schedule::Sketch> sketches) const {
  return std::make_unique<SketchSpace>(program, std::move(sketches), setting_.sketches, setting_.machine,
                                       setting_.orders);
}

Status TaskTuning::make_space(std::vector<schedule::Sketch> sketches) {
  run_.reset();
  space_ = space_for(task_.program, std::move(sketches));
  REWRIGHT_TRY(run_, setting_.tuner->start(*space_, setting_.seed, setting_.tuner_options));
  return {};
}

Result<bool> TaskTuning::look_around() {
  const std::string steps = steps_and_point(best_.schedule).first;
  if (!around_.insert(steps).second) return false;
  const auto near = schedule::neighbourhood(steps);
  if (!near) return false;
  std::vector<schedule::Sketch> sketches = space_->sketches();
  sketches.push_back(schedule::sketch_of(*near));
  REWRIGHT_CHECK(make_space(std::move(sketches)));
  // Points stay what they were; features have a place for the new sketch, which those of other sizes have not.
  observations_.erase(observations_.begin(), observations_.begin() + static_cast<std::ptrdiff_t>(of_other_sizes_));
  observed_.erase(observed_.begin(), observed_.begin() + static_cast<std::ptrdiff_t>(of_other_sizes_));
  of_other_sizes_ = 0;
  news_.insert(news_.begin(), told_.begin(), told_.end());
  told_.clear();
  for (std::size_t i = 0; i < observations_.size(); ++i) {
    const auto made = observed_[i] ? space_->schedule_of(*observed_[i]) : std::nullopt;
    if (made) observations_[i].features = space_->features(made->program, &*observed_[i]);
  }
  REWRIGHT_CHECK(learn());
  return true;
}

std::string TaskTuning::best_schedule() const {
  const auto [steps, point] = steps_and_point(best_.schedule);
  if (!point || point->sketch >= space_->sketch_count()) return best_.schedule;
  const schedule::Sketch& sketch = space_->sketches()[point->sketch];
  if (!sketch.given || point->choices.size() != sketch.knobs.size()) return best_.schedule;
  const auto chosen = schedule::resolved(*sketch.given, completed(*sketch.given, point->choices));
  const auto read = chosen ? schedule_of(*chosen, {}) : Result<schedule::Schedule>(chosen.error());
  const bool is_it = read && to_string(*read) == steps;
  return is_it ? to_string(*chosen) + best_.schedule.substr(steps.size()) : best_.schedule;
}

void TaskTuning::replay(std::span<const ScheduleRecord> known) {
  std::vector<const ScheduleRecord*> alike;  // Whatever their sizes.
  for (const ScheduleRecord& record : known) {
    const bool is_alike =
        record.structure == task_.structure && record.target == setting_.measure.target &&
        record.dialect == setting_.measure.dialect && record.machine == setting_.machine.fingerprint &&
        record.policy == name_of(setting_.measure.policy) && record.threads == setting_.sketches.threads;
    if (is_alike) alike.push_back(&record);
  }
  if (setting_.programs != nullptr && setting_.predictor != nullptr) {
    const SpaceOf space_of = [this](const loop::Program& program) -> Result<std::unique_ptr<SketchSpace>> {
      REWRIGHT_TRY(std::vector<schedule::Sketch> sketches, generated(program));
      add_own_sketches(program, sketches);
      return space_for(program, std::move(sketches));
    };
    observations_ =
        observations_of_other_sizes(alike, task_.sizes, *setting_.programs, *space_, space_of, kMostOfOtherSizes);
    observed_.resize(observations_.size());
    of_other_sizes_ = observations_.size();
  }
  for (const ScheduleRecord* record : alike) {
    if (record->sizes == task_.sizes) replay(*record);
  }
}

void TaskTuning::replay(const ScheduleRecord& record) {
  const auto [steps, point] = steps_and_point(record.schedule);
  if (measured_.contains(steps)) return;
  const double us = record.outcome == "ok" ? record.least_us() : std::numeric_limits<double>::infinity();
  measured_[steps] = us;
  if (steps.empty()) unscheduled_us_ = us;
  if (record.origin == "optimiser" && us < one_shot_us()) one_shot_ = record;
  take(record, record.origin == "search");
  if (record.origin == "search") ++replayed_;
  const auto scheduled = point ? schedule_of_record(*space_, *point, steps) : std::nullopt;
  if (!scheduled) return;  // Of another space.
  observe(space_->features(scheduled->program, &*point), &*point, us);
  news_.push_back({*point, us});
}

Status TaskTuning::open() {
  if (measurer_) return {};
  REWRIGHT_TRY(measurer_, Measurer::start(measuring()));
  return {};
}

Measurer::Setting TaskTuning::measuring() const {
  return {setting_.measure, setting_.plugin, task_.program, setting_.machine.peak_gflops, setting_.stop};
}

Status TaskTuning::time(std::span<const loop::Program> programs,
                        const std::function<Status(std::size_t, const Measurement&)>& heard) {
  const double begin = now();
  REWRIGHT_CHECK(open());
  const double compiled = measurer_->compiling();
  const auto own = [&](std::span<const loop::Program> part, const auto& hear) {
    return measurer_->measure(part, hear);
  };
  const Status status =
      setting_.shared == nullptr ? own(programs, heard) : setting_.shared->measure(measuring(), programs, own, heard);
  const double compiling = measurer_->compiling() - compiled;
  times_.compiling += compiling;
  times_.measuring += now() - begin - compiling;
  return status;
}

Status TaskTuning::measure_baselines() {
  std::vector<Candidate> plain;
  if (!measured_.contains("")) plain.push_back({std::nullopt, {{}, task_.program}, ""});
  REWRIGHT_CHECK(measure(plain, "hand"));
  std::vector<Candidate> ready;
  schedule::OneShot scheduled = schedule::one_shot(task_.program, setting_.sketches.unit);
  if (task_.finish) scheduled.program = task_.finish(scheduled.program);
  std::string steps = to_string(scheduled.steps);
  if (!measured_.contains(steps)) ready.push_back({std::nullopt, std::move(scheduled), std::move(steps)});
  return measure(ready, "optimiser");
}

Status TaskTuning::measure_transfers(std::span<const DonorSchedule> schedules, Division division, std::size_t most) {
  std::vector<Candidate> candidates;
  for (const DonorSchedule& donor : schedules) {
    if (candidates.size() == most) break;
    auto made = adapted(task_.program, donor, division, setting_.sketches.unit);
    if (!made) {
      ++transfers_.invalid;
      continue;
    }
    if (task_.finish) made->program = task_.finish(made->program);
    std::string steps = to_string(made->steps);
    if (const auto known = measured_.find(steps); known != measured_.end()) {
      transfers_.best_us = std::min(transfers_.best_us, known->second);
    } else if (std::ranges::find(candidates, steps, &Candidate::steps) == candidates.end()) {
      candidates.push_back({std::nullopt, *std::move(made), std::move(steps)});
    }
  }
  REWRIGHT_CHECK(measure(candidates, "transfer"));
  if (setting_.around && std::isfinite(transfers_.best_us)) REWRIGHT_CHECK(look_around());
  return {};
}

Status TaskTuning::round(std::size_t most) {
  std::vector<Candidate> candidates;
  const double begin = now();
  run_->learn(news_);
  told_.insert(told_.end(), news_.begin(), news_.end());
  news_.clear();
  const std::size_t wanted = std::min(most, setting_.batch);
  for (int fruitless = 0; candidates.size() < wanted && fruitless < kMostFruitless;) {
    const std::vector<Point> points = run_->propose(wanted - candidates.size());
    if (points.empty()) {
      exhausted_ = candidates.empty();
      break;
    }
    std::vector<MeasuredPoint> told;
    bool found = false;
    for (const Point& point : points) {
      auto scheduled = space_->schedule_of(point);
      std::string steps = scheduled ? to_string(scheduled->steps) : "";
      const auto known = scheduled ? measured_.find(steps) : measured_.end();
      const bool is_new = scheduled && known == measured_.end() &&
                          std::ranges::find(candidates, steps, &Candidate::steps) == candidates.end();
      if (is_new) {
        candidates.push_back({point, std::move(*scheduled), std::move(steps)});
        found = true;
      } else {  // Another point's schedule: what that took, this one takes.
        told.push_back({point, known != measured_.end() ? known->second : std::numeric_limits<double>::infinity()});
      }
    }
    run_->learn(told);
    told_.insert(told_.end(), told.begin(), told.end());
    if (!found) ++fruitless;
  }
  times_.proposing += now() - begin;
  if (candidates.empty() && setting_.around) {
    REWRIGHT_TRY(const bool has_more, look_around());
    if (has_more) return round(most);
  }
  if (candidates.empty()) {
    exhausted_ = true;
    return {};
  }
  std::vector<Point> points;
  for (const Candidate& candidate : candidates) points.push_back(*candidate.point);
  const std::vector<Estimate> predicted = space_->predicted(points);
  REWRIGHT_CHECK(measure(candidates, "search"));
  compare(candidates, predicted);
  return learn();
}

void TaskTuning::compare(std::span<const Candidate> candidates, std::span<const Estimate> predicted) {
  const auto us = [&](std::size_t i) { return measured_.at(candidates[i].steps); };
  for (std::size_t i = 0; setting_.predictor != nullptr && i < candidates.size(); ++i) {
    for (std::size_t k = i + 1; k < candidates.size(); ++k) {
      const double less = std::min(us(i), us(k)), more = std::max(us(i), us(k));
      if (!std::isfinite(more) || more < kApart * less) continue;
      ++ordered_.pairs;
      if ((us(i) < us(k)) == (predicted[i].us < predicted[k].us)) ++ordered_.right;
    }
  }
}

Status TaskTuning::run(std::int64_t trials) {
  REWRIGHT_CHECK(measure_baselines());
  while (trials_ < trials && !exhausted_) REWRIGHT_CHECK(round(static_cast<std::size_t>(trials - trials_)));
  return {};
}

Status TaskTuning::time_again() {
  constexpr int kTurns = 3;
  if (trials_ == replayed_ || best_.schedule == one_shot_.schedule || !std::isfinite(one_shot_us())) return {};
  const std::array<ScheduleRecord*, 2> timed = {&one_shot_, &best_};
  std::vector<loop::Program> programs;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (const ScheduleRecord* record : timed) {
      REWRIGHT_TRY(const schedule::Schedule steps, schedule::parse_schedule(record->schedule));
      REWRIGHT_TRY(schedule::Scheduled made, schedule::apply(task_.program, steps));
      programs.push_back(task_.finish ? task_.finish(made.program) : std::move(made.program));
    }
  }
  REWRIGHT_CHECK(time(programs, [&](std::size_t i, const Measurement& again) -> Status {
    auto& batches = timed[i % timed.size()]->batches_us;
    batches.insert(batches.end(), again.batches_us.begin(), again.batches_us.end());
    return {};
  }));
  if (one_shot_us() < best_us()) best_ = one_shot_;
  return {};
}

Status TaskTuning::measure(std::span<const Candidate> candidates, const std::string& origin) {
  if (candidates.empty()) return {};
  std::vector<loop::Program> programs;
  std::vector<const Candidate*> asked;
  for (const Candidate& candidate : candidates) {
    const Status valid = loop::validate(candidate.scheduled.program, kMostWalkedSteps);
    if (valid || valid.error().code == ErrorCode::kBudget) {
      programs.push_back(candidate.scheduled.program);
      asked.push_back(&candidate);
    } else {
      REWRIGHT_CHECK(hear(candidate, {"refused", valid.error().message, {}, 0}, origin));
    }
  }
  return time(programs, [&](std::size_t i, const Measurement& measured) { return hear(*asked[i], measured, origin); });
}

Status TaskTuning::hear(const Candidate& candidate, const Measurement& measured, const std::string& origin) {
  const double us = measured.is_ok() ? measured.least_us() : std::numeric_limits<double>::infinity();
  measured_[candidate.steps] = us;
  const ScheduleRecord record = record_of(candidate, measured, origin);
  if (setting_.records != nullptr) REWRIGHT_CHECK(setting_.records->add(record));
  if (candidate.steps.empty()) unscheduled_us_ = us;
  if (origin == "optimiser" && measured.is_ok()) one_shot_ = record;
  take(record, origin == "search");
  if (origin == "transfer") {
    ++transfers_.measured;
    transfers_.best_us = std::min(transfers_.best_us, us);
  }
  if (origin != "search" && origin != "transfer") return {};
  const Point* point = candidate.point ? &*candidate.point : nullptr;
  observe(space_->features(candidate.scheduled.program, point), point, us);
  if (point != nullptr) news_.push_back({*point, us});
  return {};
}

void TaskTuning::observe(Features features, const Point* point, double us) {
  observations_.push_back({std::move(features), us, task_.structure});
  observed_.push_back(point == nullptr ? std::nullopt : std::optional(*point));
}

void TaskTuning::take(const ScheduleRecord& record, bool is_trial) {
  if (is_trial) {
    ++trials_;
    trials_us_.push_back(record.outcome == "ok" ? record.least_us() : std::numeric_limits<double>::infinity());
  }
  ++outcomes_[record.outcome];
  if (record.outcome != "ok") {
    if (failures_.size() < kMostFailures) failures_.push_back(record);
  } else if (record.least_us() < best_.least_us()) {
    best_ = record;
  }
  curve_.push_back({trials_, times_.total(), best_.least_us()});
}

Status TaskTuning::learn() {
  const double begin = now();
  const Predictor* predictor = setting_.predictor;
  const auto ran = static_cast<std::size_t>(
      std::ranges::count_if(observations_, [](const Observation& each) { return std::isfinite(each.us); }));
  const bool is_ready = predictor != nullptr && ran >= predictor->least_observations();
  if (!is_ready) predictor = setting_.prior;
  if (predictor != nullptr) {
    const PredictorSetting setting{feature_columns(), setting_.machine, setting_.seed};
    REWRIGHT_TRY(auto fitted,
                 predictor->fit(observations_, setting, is_ready ? setting_.predictor_options : Options()));
    space_->set_predictor(std::move(fitted));
  }
  times_.learning += now() - begin;
  return {};
}

ScheduleRecord TaskTuning::record_of(const Candidate& candidate, const Measurement& measured,
                                     const std::string& origin) const {
  ScheduleRecord record;
  record.structure = task_.structure;
  record.sizes = task_.sizes;
  record.schedule = candidate.steps;
  if (candidate.point) record.schedule += fmt::format("{}{}\n", kPointMark, to_string(*candidate.point));
  record.target = setting_.measure.target;
  record.dialect = setting_.measure.dialect;
  record.target_version = setting_.target_version;
  record.machine = setting_.machine.fingerprint;
  record.processor = setting_.machine.processor;
  record.policy = name_of(setting_.measure.policy);
  record.threads = setting_.sketches.threads;
  record.batches_us = measured.batches_us;
  record.outcome = measured.outcome;
  record.text = measured.text;
  record.seed = setting_.seed;
  record.origin = origin;
  record.recorded = utc_now();
  return record;
}

}  // namespace rewright::tune
