// Schedules over the loops of Halide's functions.
//
// | step                | Halide's directive                 | lacking                                      |
// |---------------------|------------------------------------|----------------------------------------------|
// | split               | split                              | loops over the rest of tail=cut              |
// |   divide, mask, cut | GuardWithIf; it parts loops itself |                                              |
// |   tail=pad          | RoundUp; GuardWithIf on outputs    | updates                                      |
// |   tail=overlap      | ShiftInwards                       | updates                                      |
// | fuse, reorder       | fuse, reorder                      |                                              |
// | distribute          | compute_at, further out            | definitions of one function are apart anyway |
// | serial              | none: it is the default            |                                              |
// | parallelise         | parallel                           |                                              |
// | vectorise, unroll   | vectorize, unroll                  | loops whose extent is not fixed              |
// | cache               | in().compute_at                    | a buffer that two functions read in the loop |
// | cache-write         | a function, compute_at             | what is set outside of the loop              |
// | compute-at          | compute_at                         | what is read elsewhere too                   |
// | inline              | none: it is the default            |                                              |
// | rfactor             |                                    | all: what it makes has other loops           |
// | pack                |                                    | all: layouts are the caller's                |
#pragma once

#include "halide_stages.h"

namespace rewright::halide {

/// The stages after a schedule. Errors: kUnsupported, the first step that says `fail` and that Halide lacks, or whose
/// loop is not there.
[[nodiscard]] Status schedule_stages(const loop::Program& program, const schedule::Schedule& schedule, Stages& stages);

}  // namespace rewright::halide
