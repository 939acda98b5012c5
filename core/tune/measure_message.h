// What a measurer and its worker say to each other: JSON, a question and its answer. Both are of one build.
// Schedules are of the plain program, and applied by the target.
//
//   {"plugin": FILE, "task": ..., "plain": PROGRAM, "cache_bytes": N}   once, first     {} or {"error": SENTENCE}
//   {"programs": [TEXT, ...]} or {"schedules": [TEXT, ...]}             as one module   {} or {"outcome", "text"}
//   {"measure": INDEX, "incumbent_us": T or null}                       of the module   a Measurement
#pragma once

#include <nlohmann/json.hpp>

#include "tune/measure_task.h"

namespace rewright::tune {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasureTask, target, dialect, policy, seed, low, high, batches, batch_us, race,
                                   seconds, run_seconds, compile_seconds, memory_bytes, source_bytes, processor)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measurement, outcome, text, batches_us, reference_us)

}  // namespace rewright::tune
