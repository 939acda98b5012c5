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

}  // namespace

Program with_parallel_loops(Program program) {
  for (std::size_t i = 0; i < program.body.size(); ++i) {
    if (work_in(program, {program.body[i]}) < kLeastWork) continue;
    const loop::Loop* loop = program.body[i].loop();
    while (loop != nullptr) {
      const schedule::Mark mark{*loop::parse_loop_name(loop->axis.name), loop::LoopKind::kParallel};
      const bool is_single = loop->extent.number().value_or(1) < 2;
      auto made = schedule::apply(program, schedule::Transform(mark));
      if (!is_single && loop->kind == loop::LoopKind::kSerial && std::holds_alternative<Program>(made)) {
        program = std::get<Program>(std::move(made));
        break;
      }
      loop = loop->body.size() == 1 ? loop->body[0].loop() : nullptr;
    }
  }
  return program;
}

}  // namespace rewright::compile
