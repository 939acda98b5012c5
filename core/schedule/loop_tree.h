// Loops of a program: found by name, replaced, copied under names of their own.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/apply.h"

namespace rewright::schedule {

using loop::Body;
using loop::Loop;
using loop::Program;
using loop::Statement;

/// Positions of statements from the program's body down to a loop.
using LoopPath = std::vector<std::size_t>;

[[nodiscard]] std::optional<LoopPath> path_to(const Program& program, const LoopName& name);
[[nodiscard]] const Statement& statement_at(const Program& program, const LoopPath& path);
[[nodiscard]] const Loop& loop_at(const Program& program, const LoopPath& path);
/// Outermost first.
void for_each_loop(const Body& body, const std::function<void(const Loop&)>& visit);
/// The names of all loops, outermost first, for conflicts.
[[nodiscard]] std::vector<std::string> loop_names(const Program& program);
/// kGone: there is no such loop.
[[nodiscard]] Conflict gone(const Program& program, const LoopName& name);
/// The same of a buffer.
[[nodiscard]] Conflict gone(const Program& program, const std::string& buffer);

/// A body of one statement.
[[nodiscard]] Body only(Statement::Content content, std::string note = {});
/// The body with other statements in place of the one at the path.
[[nodiscard]] Body replaced(const Body& body, const LoopPath& path, const Body& by);
/// Statements with other parts.
[[nodiscard]] Body substituted(const Body& body, const Substitution& parts);
/// The same for one statement.
[[nodiscard]] Statement substituted(const Statement& statement, const Substitution& parts);

[[nodiscard]] std::uint32_t unused_axis(const Program& program);
/// The name with one more step on the path of each part.
[[nodiscard]] LoopName extended(LoopName name, int step);

/// Makes copies of statements whose loops have axes and names of their own, and whose own temporaries are new ones.
class Copies {
 public:
  /// New buffers go to the end of the program's.
  explicit Copies(Program& program) : program_(program), next_axis_(unused_axis(program)) {}
  /// The first number from `least` on that, at the end of their paths, gives the statements' loops names that are free.
  [[nodiscard]] int free_step(const Body& body, int least) const;
  /// Loops are called as they were, with `step` at the end of the path.
  [[nodiscard]] Body copy(const Body& body, int step);
  [[nodiscard]] Axis new_axis(const LoopName& name) { return {next_axis_++, to_string(name)}; }

 private:
  [[nodiscard]] Body renamed(const Body& body, int step);
  Program& program_;
  std::uint32_t next_axis_;
};

}  // namespace rewright::schedule
