// Runs a loop program over a scalar algebra: what the program means, the plain way.
//
//   state[b][i] = what buffer b holds at flat index i
//
// Every access is checked: an index outside of its buffer, a read of what was not written, data outside of its range
// and a division of an index by 0 end the run with a sentence that names the buffer, the indices and the loops.
// Parallel and vector loops run in order. Over Field and Exact, which have no infinity, an element that was set to
// -inf or inf, or to a copy of one such, gives way to whatever max= and min= bring first.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <string>
#include <vector>

#include "loop/wrapping.h"

namespace rewright::loop {

/// For each buffer its elements, row-major.
template <class Scalar>
using Contents = std::vector<std::vector<Scalar>>;

/// `contents` has a vector for each buffer, those of inputs and weights filled; the others are made and filled. Sizes
/// must be numbers (specialised). Errors: kShape, as above.
template <class Scalar>
REWRIGHT_API Status interpret(const Program& program, Contents<Scalar>& contents);

extern template Status interpret<Field>(const Program&, Contents<Field>&);
extern template Status interpret<Exact>(const Program&, Contents<Exact>&);
extern template Status interpret<Real>(const Program&, Contents<Real>&);
extern template Status interpret<Wrapping>(const Program&, Contents<Wrapping>&);

/// The number of elements of a buffer whose sizes are numbers. Errors: kShape where one is a symbol or negative, or
/// there are more than 2^40.
[[nodiscard]] REWRIGHT_API Result<std::int64_t> element_count(const Buffer& buffer);

}  // namespace rewright::loop
