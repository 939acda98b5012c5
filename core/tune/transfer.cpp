#include "tune/transfer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <variant>

#include "schedule/apply.h"
#include "tune/nearest_record.h"

namespace rewright::tune {
double donor_score(const ClassShares& shares, const ClassKernels& kernels) {
  double score = 0;
  for (const auto& [kind, share] : shares) {
    const auto found = kernels.find(kind);
    if (found != kernels.end()) score += share * share * std::sqrt(static_cast<double>(found->second));
  }
  return score;
}

std::vector<std::size_t> donors_in_order(const ClassShares& shares, std::span<const ClassKernels> models) {
  std::vector<std::size_t> order;
  std::vector<double> scores;
  for (std::size_t m = 0; m < models.size(); ++m) {
    scores.push_back(donor_score(shares, models[m]));
    if (scores.back() > 0) order.push_back(m);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t m) { return scores[m]; });
  return order;
}

ClassKernels kernels_by_class(std::span<const ScheduleRecord> records) {
  std::map<std::string, std::set<std::vector<std::int64_t>>> found;
  for (const ScheduleRecord& record : records) {
    if (record.outcome == "ok" && !record.schedule.empty()) found[record.structure].insert(record.sizes);
  }
  ClassKernels kernels;
  for (const auto& [kind, sizes] : found) kernels[kind] = sizes.size();
  return kernels;
}

std::vector<std::string> donor_schedules(std::span<const ScheduleRecord> records, const TuningTask& task,
                                         const std::string& target, const std::string& dialect) {
  // Times compare on one machine alone.
  std::map<std::pair<std::vector<std::int64_t>, std::string>, const ScheduleRecord*> fastest;
  for (const ScheduleRecord& record : records) {
    const bool is_donor = record.structure == task.structure && record.sizes.size() == task.sizes.size() &&
                          record.sizes != task.sizes && record.outcome == "ok" && !record.schedule.empty() &&
                          record.target == target && record.dialect == dialect;
    if (!is_donor) continue;
    const ScheduleRecord*& best = fastest[{record.sizes, record.machine}];
    if (best == nullptr || record.least_us() < best->least_us()) best = &record;
  }
  std::vector<std::tuple<double, std::string>> donors;
  for (const auto& [of, record] : fastest) {
    if (const auto steps = schedule::parse_schedule(record->schedule))
      donors.emplace_back(distance_of_sizes(of.first, task.sizes), to_string(*steps));
  }
  std::ranges::sort(donors);
  std::vector<std::string> schedules;
  for (const auto& [far, text] : donors) {
    if (std::ranges::find(schedules, text) == schedules.end()) schedules.push_back(text);
  }
  return schedules;
}

Result<schedule::OneShot> adapted(const loop::Program& program, const std::string& text, Division division) {
  REWRIGHT_TRY(const schedule::Schedule given, schedule::parse_schedule(text));
  schedule::OneShot made{{}, program};
  Error last;
  for (const schedule::Step& step : given) {
    schedule::Schedule tried = {step};
    const auto* split = std::get_if<schedule::Split>(&step.transform);
    if (division == Division::kTails && split != nullptr && split->tail == schedule::Tail::kDivide) {
      for (const schedule::Tail tail : {schedule::Tail::kPad, schedule::Tail::kMask}) {
        schedule::Step padded = step;
        std::get<schedule::Split>(padded.transform).tail = tail;
        tried.push_back(padded);
      }
    }
    Result<schedule::Scheduled> next = make_error(ErrorCode::kInternal, "nothing was tried");
    for (const schedule::Step& one : tried) {
      next = schedule::apply(made.program, schedule::Schedule{one});
      if (!next) continue;
      made.program = std::move(next->program);
      made.steps.push_back(one);
      break;
    }
    if (!next) {
      last = next.error();
      if (division == Division::kStrict) return last;
    }
  }
  if (made.steps.empty() && !given.empty()) return last;
  return made;
}

}  // namespace rewright::tune
