// Weights that are too many for a cache come in panels, each used by several passes before the next: while one is used,
// the next is fetched, a part in each pass, so that its first pass need not wait for memory.
//
//   for p { for i R { for k { y += x[i, k] * w[p * S + k * c] } } }          R passes over a panel of S elements
//     fetches w[(p + 1) * S + (i mod r) * S / r + k * c / r]                 r: the greatest power of 2 up to R, that
//                                                                            divides c, of at most 16
//
// A row that several loops read is fetched while the one before is read for the second time: the first reader would
// wait for every line.
//
//   for i { for j { s += x[i * R + j * c] }  for k { ... x[i * R + k * c] ... } }
//                                            fetches x[(i + 1) * R + k * c], and all lines up to c
#pragma once

#include <rewright/loop/loop_program.h>

#include <vector>

namespace rewright::c {

struct Prefetch {
  BufferId buffer;
  IndexExpr at;  ///< Row-major; it may lie beyond the end, which a prefetch may.
};

/// What an iteration of the last of these loops, outermost first, is to fetch: of what its vector loops read.
[[nodiscard]] std::vector<Prefetch> prefetches(const loop::Program& program,
                                               const std::vector<const loop::Loop*>& loops);

}  // namespace rewright::c
