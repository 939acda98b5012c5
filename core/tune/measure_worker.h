// The inside of the process that compiles and times candidates.
//
// Time      CLOCK_MONOTONIC_RAW, wall; a batch is at least MeasureTask::batch_us long, or one run
// Order     one run on guarded memory, whose outputs are compared; one to warm up; then the batches
// Processor pinned to one
#pragma once

#include <rewright/base/visibility.h>

namespace rewright::tune {

/// Speaks on the socket that is standard input until the other end is gone. The exit code.
REWRIGHT_API int serve_measuring();

}  // namespace rewright::tune
