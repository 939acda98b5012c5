#include "compile/network_tasks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "compile/known_weights.h"
#include "compile/sum_conditions.h"
#include "optimize/model_run.h"
#include "schedule/apply.h"

namespace rewright::compile {

Result<std::vector<tune::TuningTask>> tasks_of(const Graph& graph, const Kernels& kernels,
                                               const schedule::VectorUnit& unit) {
  std::vector<tune::TuningTask> tasks;
  // Kernels are asked about in the order of the functions that come of them.
  const ScheduleChoice note = [&](const loop::Program& program) {
    tune::TuningTask task = tune::program_task("", program);
    task.count = 0;
    task.finish = [](const loop::Program& scheduled) { return with_conditions_outside(scheduled); };
    tasks.push_back(std::move(task));
    return std::nullopt;
  };
  REWRIGHT_TRY(const Kernels made, scheduled(graph, kernels, unit, 1, note));
  for (const KernelCall& call : made.calls) tasks[call.function].count += 1;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::size_t> known;
  std::vector<tune::TuningTask> once;
  for (std::size_t f = 0; f < tasks.size(); ++f) {
    tasks[f].name = made.functions[f].name;
    const auto [at, is_new] = known.try_emplace({tasks[f].structure, tasks[f].sizes}, once.size());
    if (is_new) {
      once.push_back(std::move(tasks[f]));
    } else {
      once[at->second].count += tasks[f].count;
    }
  }
  return once;
}

Result<std::vector<tune::TuningTask>> model_tasks(const std::string& file, const Sizes& sizes, const Runtime& runtime,
                                                  const Registry& registry, const schedule::VectorUnit& unit) {
  const std::string parent = std::filesystem::path(file).parent_path().string();
  ModelSource source;
  source.file = "'" + file + "'";
  source.directory = parent.empty() ? "." : parent;
  source.freeze = true;
  source.sizes = sizes;
  REWRIGHT_TRY(source.bytes, read_file(file));
  REWRIGHT_TRY(OpenedModel opened, open_model(source, registry, &runtime));
  simplify(opened);
  const ImportedModel& model = opened.start();
  REWRIGHT_TRY(const Graph graph, with_known_weights(model.graph, model));
  REWRIGHT_TRY(const Kernels kernels, kernels_of(graph, model.carried, model.external, &registry));
  if (kernels.calls.empty()) {
    return make_error(ErrorCode::kUnsupported, "{} has nothing to tune: {}", source.file,
                      kernels.not_compiled.empty()
                          ? "no node of it computes anything"
                          : fmt::format("{}: {}", kernels.not_compiled[0].node, kernels.not_compiled[0].reason));
  }
  if (!kernels.not_compiled.empty()) {
    return make_error(ErrorCode::kUnsupported, "{}: {} cannot be compiled, so that there are no kernels to tune: {}",
                      source.file, kernels.not_compiled[0].node, kernels.not_compiled[0].reason);
  }
  return tasks_of(graph, kernels, unit);
}

std::string program_id(const loop::Program& program) {
  const tune::TuningTask task = tune::program_task("", program);
  return fmt::format("{} {}", task.structure, fmt::join(task.sizes, ","));
}

ScheduleChoice best_recorded(const std::vector<ScheduleRecord>& records, const RecordsOf& of, const Ranks& ranks) {
  // Texts once, by their least time.
  std::map<std::string, std::map<std::string, double>> known;
  for (const ScheduleRecord& record : records) {
    if (record.outcome != "ok" || record.machine != of.machine || record.target != of.target ||
        record.dialect != of.dialect || record.policy != "hot")
      continue;
    const auto steps = schedule::parse_schedule(record.schedule);
    if (!steps) continue;
    auto& schedules = known[fmt::format("{} {}", record.structure, fmt::join(record.sizes, ","))];
    const auto [at, is_new] = schedules.try_emplace(to_string(*steps), record.least_us());
    at->second = std::min(at->second, record.least_us());
  }
  std::map<std::string, std::string> chosen;
  for (const auto& [id, schedules] : known) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [text, us] : schedules) order.emplace_back(us, text);
    std::ranges::sort(order);
    const auto rank = ranks.find(id);
    chosen[id] = order[rank == ranks.end() ? 0 : std::min(rank->second, order.size() - 1)].second;
  }
  return [chosen = std::move(chosen)](const loop::Program& program) -> std::optional<schedule::OneShot> {
    const auto found = chosen.find(program_id(program));
    if (found == chosen.end()) return std::nullopt;
    auto steps = schedule::parse_schedule(found->second);
    if (!steps) return std::nullopt;
    auto made = schedule::apply(program, *steps);
    if (!made) return std::nullopt;
    return schedule::OneShot{*std::move(steps), std::move(made->program)};
  };
}

}  // namespace rewright::compile
