// Applies schedules to loop programs. Each transform looks at what it needs before it changes anything.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/schedule/transform.h>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace rewright::schedule {

/// Why a transform cannot be applied.
struct Conflict {
  enum class Kind : std::uint8_t {
    kGone,     ///< There is no such loop or buffer, or no longer.
    kForm,     ///< It is there, but not in the form that the transform needs.
    kIllegal,  ///< A dependence forbids it.
  };
  Kind kind = Kind::kForm;
  std::string needed;
  std::string found;
  std::string example = {};  ///< kIllegal: two iterations that show it, if they are among the first.
};
/// One sentence.
[[nodiscard]] REWRIGHT_API std::string to_string(const Conflict& conflict);

using Outcome = std::variant<loop::Program, Conflict>;
/// Sizes must be numbers (loop/lower.h, specialised()).
[[nodiscard]] REWRIGHT_API Outcome apply(const loop::Program& program, const Transform& transform);

/// A step that was not applied as it stands.
struct Deviation {
  std::size_t step = 0;
  Conflict conflict;
  std::string instead = {};  ///< What was applied in its place; empty: nothing.
};
struct Scheduled {
  loop::Program program;
  std::vector<Deviation> deviations;
};
/// Errors: kUsage, the step, what it needed and what it found, where it says `fail` or nothing came of `retarget`.
[[nodiscard]] REWRIGHT_API Result<Scheduled> apply(const loop::Program& program, const Schedule& schedule);

}  // namespace rewright::schedule
