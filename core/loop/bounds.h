// Do accesses stay inside their buffers? By intervals, and by the conditions around them:
//
//   e >= 0   if the least of e is >= 0, or that of e - g, or that of e - g - h, where g, h >= 0 are conditions around
//            it: branches, and loops whose extent is data (rows[r] + q stays below rows[r + 1])
#pragma once

#include <rewright/loop/linear_index.h>

#include "loop/accesses.h"

namespace rewright::loop {

/// 0 .. extent - 1 of each of these loops, an extent that is data up to the end of its range.
[[nodiscard]] AxisRanges ranges_of(std::span<const Loop* const> loops);

/// For estimates, at least 1: of rows that begin where data says, rows[r + 1] - rows[r], the mean; of other data 1.
[[nodiscard]] std::int64_t mean_extent(const Program& program, const Loop& loop);

/// Does a condition follow from those around, for all values of the axes? Sound, not complete.
[[nodiscard]] bool follows(const LinearIndex& at_least_zero, const Guard& known, const AxisRanges& axes);

/// For all values of the axes? Sound, not complete.
[[nodiscard]] bool stays_inside(const Access& access, const Buffer& buffer);

}  // namespace rewright::loop
