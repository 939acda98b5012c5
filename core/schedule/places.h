// The elements of a buffer at other places, in it or in another one.
#pragma once

#include <rewright/loop/linear_index.h>

#include <functional>
#include <span>
#include <vector>

#include "schedule/loop_tree.h"

namespace rewright::schedule {

/// Where an element lies, of where it lay, and of the ranges of the loops around.
using Places = std::function<std::vector<IndexExpr>(std::span<const IndexExpr> at, const loop::AxisRanges& ranges)>;

/// In `body`, inside of the loops `around`, the stores, loads and data of `from` in `to`, at their places there.
[[nodiscard]] Body with_places(const Body& body, BufferId from, BufferId to, const Places& places,
                               std::vector<const Loop*> around = {});

/// Without a buffer that nothing uses; those behind it move up.
[[nodiscard]] Program without_buffer(Program program, BufferId gone);

[[nodiscard]] bool uses_axis(std::span<const IndexExpr> at, const Axis& axis);

}  // namespace rewright::schedule
