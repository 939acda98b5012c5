// A scheduled program as numbers, for predictors: a row for each statement that stores.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/tune/predictor.h>

#include <string>
#include <vector>

namespace rewright::tune {

/// Names of the columns; what they count is of one run of the program, tails counted as if loops were even:
///
///   runs                 how often the statement is run, each lane for itself
///   operations           floating-point operations, a multiply-add as two; calls: functions among them
///   multiply_adds        updates by a product
///   loads, gathers       vector or scalar loads; of them those whose lanes lie apart; broadcasts: all lanes at one
///   place vectors              vector statements, 1 for a scalar: what the processor is given to do lanes_used lanes
///   of a statement by those of its vectors, 0 to 1 steps                iterations of loops that are left in the code,
///   all levels together sums_in_tile         vectors that one iteration of the innermost loop updates code statements
///   in the code, loops that are unrolled written out in_parallel          iterations of parallel loops touched_bytes
///   different bytes, of all that it touches traffic_1 ...        bytes that it moves into each level of the machine's
///   caches; the last: out of memory
[[nodiscard]] REWRIGHT_API std::vector<std::string> feature_columns();
/// In the order of the columns. `lanes`: of the vectors that the code is for.
[[nodiscard]] REWRIGHT_API Features features_of(const loop::Program& scheduled, const Machine& machine,
                                                std::int64_t lanes);

}  // namespace rewright::tune
