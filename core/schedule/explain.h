// What each step of a schedule needs, finds and changes, and the loops of a program as a drawing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "schedule/apply.h"

namespace rewright::schedule {

/// What there is of a program.
struct ProgramSize {
  std::size_t loops = 0;
  std::size_t stores = 0;
  std::size_t buffers = 0;
  friend bool operator==(const ProgramSize&, const ProgramSize&) = default;
};

struct StepReport {
  std::string needs;                      ///< In general.
  std::optional<Conflict> conflict = {};  ///< What it met as it stands.
  std::string instead = {};               ///< What was applied in its place; empty: nothing.
  bool is_applied = true;
  ProgramSize before = {}, after = {};
  loop::Program program = {};  ///< After the step.
};
/// A report for each step, up to the first that ends the schedule: it is not applied, and says neither skip nor
/// retarget.
[[nodiscard]] REWRIGHT_API std::vector<StepReport> explain(const loop::Program& program, const Schedule& schedule);
/// What a transform needs, in short.
[[nodiscard]] REWRIGHT_API std::string needs(const Transform& transform);

/// A line a statement, indented by loops: "c.i 6 parallel", "if c.j < 5", "c[c.i, c.j] +=".
[[nodiscard]] REWRIGHT_API std::string loop_drawing(const loop::Program& program);

}  // namespace rewright::schedule
