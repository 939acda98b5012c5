// A scheduled program as numbers, for predictors: a row for each statement that stores. Of one run of the program,
// without what is done before the first (before_runs.h), tails counted as if loops were even:
//
// | column          | what it counts                                                                    |
// |-----------------|-----------------------------------------------------------------------------------|
// | runs            | how often the statement is run, each lane for itself                              |
// | operations      | floating-point operations, a multiply-add as two                                  |
// | calls           | of these, functions such as exp                                                   |
// | multiply_adds   | updates by a product                                                              |
// | loads           | loads of vectors, or of scalars                                                   |
// | gathers         | loads and stores of vectors whose lanes lie apart                                 |
// | broadcasts      | loads whose lanes are at one place                                                |
// | shuffles        | loads whose lanes are at one place in groups, each at another                      |
// | vectors         | vector statements, a scalar as one: what the processor is given to do             |
// | lanes_used      | lanes of a statement by those of its vectors, 0 to 1                              |
// | steps           | iterations of the loops that are left in the code, all levels together            |
// | sums_in_tile    | vectors that one iteration of the innermost loop updates                          |
// | register_loads  | loads that are left where the code of the innermost loop reads what it names once |
// | stores          | stores that are left where a place stays in a register while it is updated        |
// | code            | statements in the code, loops that are unrolled written out                       |
// | in_parallel     | iterations of parallel loops                                                      |
// | touched_bytes   | different bytes of all that it touches                                            |
// | traffic_1 to _4 | bytes that come into each level of the machine's caches from beyond, 0 where none |
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/tune/predictor.h>

#include <string>
#include <vector>

namespace rewright::tune {

/// Names of the columns.
[[nodiscard]] REWRIGHT_API std::vector<std::string> feature_columns();
/// In the order of the columns. `lanes`: of the vectors that the code is for.
[[nodiscard]] REWRIGHT_API Features features_of(const loop::Program& scheduled, const Machine& machine,
                                                std::int64_t lanes);

}  // namespace rewright::tune
