#include "schedule/explain.h"

#include <fmt/ranges.h>

#include <array>

#include "schedule/loop_tree.h"

namespace rewright::schedule {
namespace {

std::size_t count_stores(const Body& body) {
  std::size_t count = 0;
  for (const Statement& statement : body)
    count += (statement.store() != nullptr ? 1 : 0) + count_stores(body_of(statement));
  return count;
}

ProgramSize size_of(const Program& program) {
  return {loop_names(program).size(), count_stores(program.body), program.buffers.size()};
}

class Drawing {
 public:
  explicit Drawing(const Program& program) : program_(program) { draw(program.body, 0); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void draw(const Body& body, std::size_t depth) {
    for (const Statement& statement : body) {
      text_.append(2 * depth, ' ');
      text_ += line_of(statement) + '\n';
      draw(body_of(statement), depth + 1);
    }
  }
  [[nodiscard]] std::string line_of(const Statement& statement) const {
    if (const Loop* loop = statement.loop())
      return fmt::format("{} {} {}", loop->axis.name, to_string(loop->extent, names_), name_of(loop->kind));
    if (const loop::Branch* branch = statement.branch())
      return fmt::format("if {}", to_string(branch->condition, names_));
    const loop::Store& store = *statement.store();
    std::vector<std::string> at;
    for (const IndexExpr& index : store.at) at.push_back(to_string(index, names_));
    return fmt::format("{}[{}] {}", program_[store.buffer].name, fmt::join(at, ", "), name_of(store.kind));
  }

  const Program& program_;
  BufferNames names_ = [this](BufferId id) { return program_[id].name; };
  std::string text_;
};

std::string needs_of(const Split& split) {
  constexpr std::array<const char*, 5> kNeeds = {
      "a loop of known extent, which the factor divides", "a loop of known extent", "a loop of known extent",
      "a loop of known extent whose iterations beyond it touch no more than temporaries of their own",
      "a loop of known extent, at least the factor"};
  return kNeeds[static_cast<std::size_t>(split.tail)];
}
std::string needs_of(const Fuse&) { return "the inner loop alone in the outer one, and of its kind"; }
std::string needs_of(const Reorder&) { return "loops of one nest, and no dependence that is turned round"; }
std::string needs_of(const Distribute&) { return "several statements of which none needs a later one"; }
std::string needs_of(const Mark& mark) {
  switch (mark.kind) {
    case loop::LoopKind::kSerial: return "nothing";
    case loop::LoopKind::kUnroll: return "at most 64 iterations";
    case loop::LoopKind::kVector: return "no loop inside, and iterations that do not depend on each other";
    default: return "iterations that do not depend on each other";
  }
}
std::string needs_of(const Cache&) { return "one box that an iteration reads, and does not write"; }
std::string needs_of(const CacheWrite&) { return "one box that an iteration sets first, or only updates and reads"; }
std::string needs_of(const ReductionFactor&) { return "one place that iterations update, and do not touch otherwise"; }
std::string needs_of(const Inline&) { return "a temporary that one nest sets, without reduction, from what stays"; }
std::string needs_of(const Pack&) { return "a temporary, input or weight, each dimension of which is there once"; }
std::string needs_of(const Tensorise&) { return "nothing but the loops of the register tile, and its update"; }
std::string needs_of(const ComputeAt&) {
  return "a temporary that one nest computes, of which an iteration reads a box";
}

}  // namespace

std::string needs(const Transform& transform) {
  return std::visit([](const auto& each) { return needs_of(each); }, transform);
}

std::vector<StepReport> explain(const Program& program, const Schedule& schedule) {
  std::vector<StepReport> reports;
  Program now = program;
  for (const Step& step : schedule) {
    StepReport& report = reports.emplace_back(needs(step.transform));
    report.before = report.after = size_of(now);
    report.program = now;
    auto result = schedule::apply(now, Schedule{step});
    const Outcome alone = schedule::apply(now, step.transform);
    if (const auto* conflict = std::get_if<Conflict>(&alone)) report.conflict = *conflict;
    report.is_applied = result && (result->deviations.empty() || result->program != now);
    if (!result) break;
    if (report.is_applied && report.conflict) report.instead = result->deviations.front().instead;
    now = std::move(result->program);
    report.after = size_of(now);
    report.program = now;
  }
  return reports;
}

std::string loop_drawing(const Program& program) { return Drawing(program).take(); }

}  // namespace rewright::schedule
