#include "compile/network_tasks.h"

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
  REWRIGHT_TRY(const Graph graph, with_known_weights(model));
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

ScheduleChoice best_recorded(const std::vector<ScheduleRecord>& records, const RecordsOf& of) {
  using Key = std::pair<std::string, std::vector<std::int64_t>>;
  std::map<Key, ScheduleRecord> best;
  for (const ScheduleRecord& record : records) {
    if (record.outcome != "ok" || record.machine != of.machine || record.target != of.target ||
        record.dialect != of.dialect || record.policy != "hot")
      continue;
    const auto [at, is_new] = best.try_emplace({record.structure, record.sizes}, record);
    if (!is_new && record.least_us() < at->second.least_us()) at->second = record;
  }
  return [best = std::move(best)](const loop::Program& program) -> std::optional<schedule::OneShot> {
    const tune::TuningTask task = tune::program_task("", program);
    const auto found = best.find({task.structure, task.sizes});
    if (found == best.end()) return std::nullopt;
    auto steps = schedule::parse_schedule(found->second.schedule);
    if (!steps) return std::nullopt;
    auto made = schedule::apply(program, *steps);
    if (!made) return std::nullopt;
    return schedule::OneShot{*std::move(steps), std::move(made->program)};
  };
}

}  // namespace rewright::compile
