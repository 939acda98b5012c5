// A nest of loops, as a scheduler sees it: what is stored at its innermost place, and how that moves with each loop.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "schedule/loop_tree.h"

namespace rewright::schedule {

/// for outer { init; for reduced { update }; result }, or for outer { result }.
struct Nest {
  std::vector<const Loop*> outer;    ///< Each alone in the one before.
  std::vector<const Loop*> reduced;  ///< Of sums and the like, outermost first; none: there is no update.
  const loop::Store* update = nullptr;
  const loop::Store* result = nullptr;  ///< None: the update is of what is stored in the end.
  bool has_conditions = false;          ///< Of the update.
  Guard conditions = {};                ///< All of them.

  [[nodiscard]] const loop::Store& stored() const { return result != nullptr ? *result : *update; }
  /// All of its loops.
  [[nodiscard]] std::vector<const Loop*> loops() const;
};
/// Nothing where it has another form.
[[nodiscard]] REWRIGHT_API std::optional<Nest> nest_at(const Loop& root);

/// All loads in a value.
[[nodiscard]] std::vector<ValueExpr> loads_in(const ValueExpr& value);
/// Does the index, or one of them, name the axis?
[[nodiscard]] bool names_axis(const IndexExpr& index, const Axis& axis);
[[nodiscard]] bool names_axis(std::span<const IndexExpr> at, const Axis& axis);
[[nodiscard]] bool names_axis(const IndexCondition& condition, const Axis& axis);
/// By how many elements a place in a buffer moves with a loop; nothing where it does not move evenly. `loops`: those
/// around it.
[[nodiscard]] std::optional<std::int64_t> stride_of(const Program& program, BufferId buffer,
                                                    std::span<const IndexExpr> at, const Axis& axis,
                                                    std::span<const Loop* const> loops);

}  // namespace rewright::schedule
