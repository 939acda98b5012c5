#include "learn/program_data.h"

#include <rewright/optimize/cost_key.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "base/files.h"
#include "learn/accuracy.h"
#include "schedule/apply.h"
#include "store/schedule_records.h"
#include "tune/features.h"
#include "tune/instruction_set.h"
#include "tune/kernel_program.h"
#include "tune/this_machine.h"

namespace rewright::learn {
namespace {

using ProgramJson = nlohmann::ordered_json;

constexpr int kProgramsVersion = 1;
constexpr const char* kProgramsKey = "rewright_programs";

/// Statements stand in the order in which they run: each reads the one before, as far as anybody knows.
void join_stages(tune::Features& features) {
  for (std::uint32_t s = 1; s < features.stages.size(); ++s) features.reads.emplace_back(s, s - 1);
  features.kinds.assign(features.stages.size(), 0);
}

Status read_head(const ProgramJson& json, ProgramData& data) {
  if (!json.is_object() || !json.contains(kProgramsKey))
    return make_error(ErrorCode::kParse, "the first line has no \"{}\"", kProgramsKey);
  if (json[kProgramsKey] != kProgramsVersion)
    return make_error(ErrorCode::kMismatch, "programs of version {}; this program reads version {}",
                      json[kProgramsKey].dump(), kProgramsVersion);
  if (json.value("unit", "") != "us")
    return make_error(ErrorCode::kMismatch, "times in \"{}\"; expected \"us\"", json.value("unit", ""));
  data.device = json.value("device", "");
  json.at("columns").get_to(data.columns);
  return {};
}

Status read_program(const ProgramJson& json, ProgramData& data) {
  tune::Observation observation;
  json.at("task").get_to(observation.task);
  json.at("us").get_to(observation.us);
  json.at("stages").get_to(observation.features.stages);
  if (!(observation.us > 0) || !std::isfinite(observation.us))
    return make_error(ErrorCode::kParse, "a time of {} us; expected one above 0", observation.us);
  for (const auto& row : observation.features.stages) {
    if (row.size() != data.columns.size())
      return make_error(ErrorCode::kParse, "a stage of {} numbers; there are {} columns", row.size(),
                        data.columns.size());
  }
  join_stages(observation.features);
  data.programs.push_back(std::move(observation));
  return {};
}

/// Whole numbers as such, others in six digits.
ProgramJson short_number(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) return static_cast<std::int64_t>(number);
  return std::stod(fmt::format("{:.6g}", number));
}

/// Of one kernel.
void judge(const std::vector<double>& measured, const std::vector<double>& said, OrderAccuracy& all) {
  ++all.kernels;
  all.programs += measured.size();
  all.tau += kendall_tau(measured, said);
  double right = 0, pairs = 0;
  constexpr double kDiffer = 1.01;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (std::size_t j = 0; j < measured.size(); ++j) {
      if (measured[i] < kDiffer * measured[j]) continue;
      pairs += 1;
      right += said[i] > said[j] ? 1 : 0;
    }
  }
  all.pairs += pairs > 0 ? right / pairs : 1;
  const double best = *std::ranges::min_element(measured);
  std::vector<std::size_t> order(measured.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return said[i]; });
  double found = INFINITY;
  for (std::size_t k = 0; k < std::min<std::size_t>(5, order.size()); ++k) {
    found = std::min(found, measured[order[k]]);
    if (k == 0) all.best_of_1 += found / best - 1;
  }
  all.best_of_5 += found / best - 1;
  // The mean over all choices of five: the k-th fastest is their best where the others are slower.
  std::vector<double> sorted = measured;
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  double none_before = 1, mean = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const double left = n - static_cast<double>(k);
    const double here = none_before * std::min(1.0, 5 / left);  // One of five is the k-th, none is faster.
    mean += here * sorted[k];
    none_before -= here;
  }
  all.random_of_5 += mean / best - 1;
}

}  // namespace

bool holds_programs(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  return std::getline(stream, line) && line.find(kProgramsKey) != std::string::npos;
}

Result<ProgramData> read_programs(const std::string& file) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  ProgramData data;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const auto at = [&](const Error& error) {
      return make_error(error.code, "{}:{}: {}", file, number, error.message);
    };
    const ProgramJson json = ProgramJson::parse(line, nullptr, false);
    if (json.is_discarded()) return at({ErrorCode::kParse, "not JSON"});
    try {
      if (const Status read = number == 1 ? read_head(json, data) : read_program(json, data); !read)
        return at(read.error());
    } catch (const ProgramJson::exception& error) {
      return at({ErrorCode::kParse, fmt::format("not a measured program ({})", error.what())});
    }
  }
  if (data.programs.empty()) return make_error(ErrorCode::kParse, "'{}' has no measured programs", file);
  return data;
}

Status write_programs(const std::string& file, const ProgramData& data) {
  std::string text =
      ProgramJson(
          {{kProgramsKey, kProgramsVersion}, {"unit", "us"}, {"device", data.device}, {"columns", data.columns}})
          .dump() +
      "\n";
  for (const tune::Observation& each : data.programs) {
    ProgramJson stages = ProgramJson::array();
    for (const auto& row : each.features.stages) {
      ProgramJson& numbers = stages.emplace_back(ProgramJson::array());
      for (const double number : row) numbers.push_back(short_number(number));
    }
    text +=
        ProgramJson({{"task", each.task}, {"us", short_number(each.us)}, {"stages", std::move(stages)}}).dump() + "\n";
  }
  return write_file(file, text);
}

Result<ProgramData> programs_of_store(const std::string& store, std::size_t least, const Registry& registry) {
  REWRIGHT_TRY(const std::vector<ScheduleRecord> records, ScheduleRecords::read(store));
  REWRIGHT_TRY(const tune::Machine machine, tune::measured_machine());
  REWRIGHT_TRY(const tune::InstructionSet* instructions, tune::instruction_set("vectors"));
  std::map<std::string, std::vector<const ScheduleRecord*>> kernels;
  ProgramData data{"", tune::feature_columns(), {}};
  for (const ScheduleRecord& record : records) {
    if (record.outcome != "ok" || record.machine != machine.fingerprint || record.policy != "hot" ||
        record.schedule.empty())
      continue;
    if (const auto owned = from_key(record.structure, registry, record.sizes))
      kernels[to_key(owned->kernel())].push_back(&record);
  }
  for (const auto& [key, all] : kernels) {
    if (all.size() < least) continue;
    REWRIGHT_TRY(const OwnedKernel owned, from_key(key, registry));
    REWRIGHT_TRY(const tune::KernelTask task, tune::task_of(owned.kernel(), registry));
    for (const ScheduleRecord* record : all) {
      const auto steps = schedule::parse_schedule(record->schedule);
      if (!steps) continue;
      const auto made = schedule::apply(task.program, *steps);
      if (!made) continue;
      data.device = fmt::format("{} {}, hot caches, {}", record->target, record->dialect, record->processor);
      tune::Features features = tune::features_of(made->program, machine, instructions->unit.lanes);
      join_stages(features);
      data.programs.push_back({std::move(features), record->least_us(), key});
    }
  }
  if (data.programs.empty())
    return make_error(
        ErrorCode::kUnsupported,
        "'{}' has no kernel of operators with {} schedules that ran here; rewright tune kernel measures some", store,
        least);
  return data;
}

Result<OrderAccuracy> evaluate_order(const ProgramData& data, const Recipe& recipe, const Registry& registry,
                                     const std::function<bool(std::size_t)>& goes_on) {
  REWRIGHT_TRY(const Predictor* predictor, registry.get<Predictor>(recipe.predictor));
  REWRIGHT_TRY(const tune::Machine machine, tune::measured_machine());
  const tune::PredictorSetting setting{data.columns, machine, recipe.seed, {}};
  constexpr std::size_t kParts = 5;
  OrderAccuracy all;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (goes_on && !goes_on(part)) return make_error(ErrorCode::kBudget, "stopped");
    std::vector<tune::Observation> training;
    std::map<std::string, std::vector<std::size_t>> test;
    for (std::size_t i = 0; i < data.programs.size(); ++i) {
      if (part_of(data.programs[i].task) == part)
        test[data.programs[i].task].push_back(i);
      else
        training.push_back(data.programs[i]);
    }
    REWRIGHT_TRY(const auto fitted, predictor->fit(training, setting, recipe.options));
    for (const auto& [task, held] : test) {
      std::vector<tune::Features> asked;
      std::vector<double> measured, said;
      for (const std::size_t i : held) {
        asked.push_back(data.programs[i].features);
        measured.push_back(data.programs[i].us);
      }
      for (const Estimate& estimate : fitted->predict(asked)) said.push_back(estimate.us);
      judge(measured, said, all);
    }
  }
  const auto kernels = static_cast<double>(all.kernels);
  for (double* sum : {&all.tau, &all.pairs, &all.best_of_1, &all.best_of_5, &all.random_of_5}) *sum /= kernels;
  return all;
}

}  // namespace rewright::learn
