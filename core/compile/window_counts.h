// How many places of a window lie inside, counted once for all that share them: an average's divisor depends on where
// it is, not on what it is of.
//
//   for c, i, j { n = 0; for s if 0 <= i + s - 1 for t if 0 <= j + t - 1 { n += 1 }; y[c, i, j] = f(n) }
//     ->   a[i] = sum(s, where 0 <= i + s - 1, 1); b[j] = ...; n[i, j] = a[i] b[j]; for c, i, j { y[c, i, j] = f(n[i,
//     j]) }
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::compile {

/// Sums of 1 of which each condition names one axis of the sum: others stay where they are.
[[nodiscard]] REWRIGHT_API loop::Program with_window_counts(const loop::Program& program);

}  // namespace rewright::compile
