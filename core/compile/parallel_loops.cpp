#include "compile/parallel_loops.h"

#include "loop/bounds.h"
#include "schedule/apply.h"

namespace rewright::compile {
namespace {

using loop::Program;

constexpr std::int64_t kLeastWork = 1 << 15;

/// Stores, about.
std::int64_t work_in(const Program& program, const loop::Body& body) {
  std::int64_t work = 0;
  for (const loop::Statement& statement : body) {
    const std::int64_t inside = work_in(program, loop::body_of(statement));
    const loop::Loop* loop = statement.loop();
    work += statement.store() != nullptr ? 1 : loop != nullptr ? inside * loop::mean_extent(program, *loop) : inside;
  }
  return work;
}

/// Marks, of each nest of the body, the outermost loop that may be parallel.
void mark(Program& program, const loop::Body& body) {
  for (const loop::Statement& statement : body) {
    const loop::Loop* loop = statement.loop();
    if (loop == nullptr || loop->kind != loop::LoopKind::kSerial || work_in(program, {statement}) < kLeastWork)
      continue;
    const schedule::Mark parallel{*loop::parse_loop_name(loop->axis.name), loop::LoopKind::kParallel};
    if (loop->extent.number().value_or(1) > 1) {
      auto made = schedule::apply(program, schedule::Transform(parallel));
      if (std::holds_alternative<Program>(made)) {
        program = std::get<Program>(std::move(made));
        continue;
      }
    }
    mark(program, loop->body);
  }
}

}  // namespace

Program with_parallel_loops(Program program) {
  const loop::Body body = program.body;
  mark(program, body);
  return program;
}

}  // namespace rewright::compile
