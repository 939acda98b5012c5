// Iterations of a loop beyond those that are needed: all that they do is computing in temporaries of their own.
//
//   l >= extent (tail=pad), or l a second time (tail=overlap): stores to what outlives the iteration stand in a
//   condition, so that every element is still stored as often as before, and outputs once.
#pragma once

#include "schedule/loop_tree.h"

namespace rewright::schedule {

/// The body of a loop, with a condition around its stores to buffers that do not belong to an iteration of it.
[[nodiscard]] Body storing_where(const Program& program, const Loop& loop, const Guard& needed);
/// An index in the loop that is read from what is computed: in an iteration that is not needed it may lie anywhere.
[[nodiscard]] std::optional<Conflict> computed_index(const Program& program, const Loop& loop);
/// What an iteration of the loop at a path, a part of a split whose other part is `outer`, does beyond `needed` that it
/// must not: reads or stores outside of a buffer, reads of what may not be set.
[[nodiscard]] std::optional<Conflict> beyond(const Program& program, const Axis& outer, const IndexCondition& needed);

}  // namespace rewright::schedule
