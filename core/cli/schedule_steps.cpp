#include "cli/schedule_steps.h"

#include "cli/output.h"

namespace rewright::cli {
namespace {

std::string change(std::string_view what, std::size_t before, std::size_t after) {
  return before == after ? fmt::format("{} {}", before, what) : fmt::format("{} to {} {}", before, after, what);
}

}  // namespace

std::string changes_of(const schedule::StepReport& report) {
  return fmt::format("{}, {}, {}", change("loops", report.before.loops, report.after.loops),
                     change("stores", report.before.stores, report.after.stores),
                     change("buffers", report.before.buffers, report.after.buffers));
}

std::vector<LoopStep> loop_steps_of(const loop::Program& program, const schedule::Schedule& schedule,
                                    const std::vector<std::string>& origins) {
  const auto reports = explain(program, schedule);
  std::vector<LoopStep> steps;
  std::string before = schedule::loop_drawing(program);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const schedule::StepReport& report = reports[i];
    LoopStep& step = steps.emplace_back();
    step.transform = to_string(schedule[i]);
    step.origin = i < origins.size() ? origins[i] : "";
    step.needs = report.needs;
    step.found = report.conflict ? to_string(*report.conflict) : "";
    step.instead = report.instead;
    step.is_applied = report.is_applied;
    step.changes = changes_of(report);
    step.before = before;
    step.after = report.is_applied ? schedule::loop_drawing(report.program) : before;
    before = step.after;
  }
  return steps;
}

}  // namespace rewright::cli
