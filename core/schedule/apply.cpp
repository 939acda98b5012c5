#include "schedule/apply.h"

#include <algorithm>
#include <set>
#include <utility>

#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

/// Which part of a loop that was split stands for it: iterations in no order are wanted outside, lanes inside.
int part_wanted(const Transform& transform) {
  const auto* mark = std::get_if<Mark>(&transform);
  return mark != nullptr && mark->kind == loop::LoopKind::kParallel ? 0 : 1;
}

bool is_part_of(const LoopName::Part& now, const LoopName::Part& before) {
  return now.stage == before.stage && now.axis == before.axis && now.path.size() >= before.path.size() &&
         std::equal(before.path.begin(), before.path.end(), now.path.begin());
}

/// What has come of a loop: the part that is wanted of one that was split, the whole that it was fused into. Nothing if
/// there is none.
std::optional<LoopName> heir(const Program& program, const LoopName& name, int wanted) {
  std::optional<LoopName> best;
  for (const std::string& text : loop_names(program)) {
    LoopName candidate = *loop::parse_loop_name(text);
    const auto comes_of_it = [&](const LoopName::Part& part) { return is_part_of(part, name.parts.front()); };
    const auto part = std::ranges::find_if(candidate.parts, comes_of_it);
    if (part == candidate.parts.end()) continue;
    const auto& path = part->path;
    const bool fits = std::all_of(path.begin() + static_cast<std::ptrdiff_t>(name.parts.front().path.size()),
                                  path.end(), [&](int step) { return step == wanted; });
    if (fits && !best) best = std::move(candidate);
  }
  return best;
}

/// The transform with what has come of its loops in their places.
Transform retargeted(const Program& program, Transform transform) {
  const int wanted = part_wanted(transform);
  const auto retarget = [&](LoopName& name) {
    if (path_to(program, name)) return;
    if (auto now = heir(program, name, wanted)) name = *std::move(now);
  };
  std::visit(
      [&](auto& each) {
        using Kind = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Kind, Reorder>) {
          for (LoopName& name : each.loops) retarget(name);
        } else if constexpr (std::is_same_v<Kind, Fuse>) {
          retarget(each.outer), retarget(each.inner);
        } else if constexpr (requires { each.loop; }) {
          retarget(each.loop);
        }
      },
      transform);
  return transform;
}

}  // namespace

std::string to_string(const Conflict& conflict) {
  std::string text = fmt::format("it needs {}; there are {}", conflict.needed, conflict.found);
  if (conflict.kind == Conflict::Kind::kForm)
    text = fmt::format("it needs {}, and found {}", conflict.needed, conflict.found);
  if (!conflict.example.empty()) text += fmt::format(", such as: {}", conflict.example);
  return text;
}

Outcome apply(const loop::Program& program, const Transform& transform) {
  return std::visit([&](const auto& each) { return transformed(program, each); }, transform);
}

Result<Scheduled> apply(const loop::Program& program, const Schedule& schedule) {
  Scheduled result{program, {}};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Step& step = schedule[i];
    Outcome outcome = schedule::apply(result.program, step.transform);
    if (const auto* conflict = std::get_if<Conflict>(&outcome)) {
      Deviation deviation{i, *conflict};
      if (step.on_conflict == OnConflict::kRetarget && conflict->kind == Conflict::Kind::kGone) {
        const Transform other = retargeted(result.program, step.transform);
        deviation.instead = to_string(other);
        outcome = schedule::apply(result.program, other);
      }
      const auto* still = std::get_if<Conflict>(&outcome);
      if (still != nullptr && step.on_conflict != OnConflict::kSkip)
        return make_error(ErrorCode::kUsage, "step {}, {}: {}", i + 1, to_string(step.transform), to_string(*still));
      result.deviations.push_back(std::move(deviation));
      if (still != nullptr) continue;
    }
    result.program = std::get<loop::Program>(std::move(outcome));
  }
  return result;
}

}  // namespace rewright::schedule
