// Is a program one that may be run? It looks at the final program alone, and shares nothing with lowering or
// transforms:
//
//   - names, ranks and element types fit;
//   - no access lies outside of its buffer, for any value that data may have in its declared range;
//   - nothing is read or updated before it was set;
//   - each element of each output is set once (and then, perhaps, updated);
//   - no two iterations of a parallel or vector loop touch one element, unless both read it.
//
// The first is read off the text; the others are found by walking the iterations without computing values, so that what
// is refused is refused with the iteration that shows it. A walk of more than `steps` is not made.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>

namespace rewright::loop {

inline constexpr std::int64_t kValidationSteps = std::int64_t{1} << 25;

/// Errors: kShape, with the statement's buffer, indices and loops; kBudget where the walk is too long: then all but the
/// last three hold.
[[nodiscard]] REWRIGHT_API Status validate(const Program& program, std::int64_t steps = kValidationSteps);

}  // namespace rewright::loop
