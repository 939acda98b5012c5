// From a definition to a loop program: a nest for each stage, its loops in the order of the axes.
//
//   y[i] = sum(k, v) + b     acc[] = 0; for k { acc[] += v }; y[i] = acc[] + b     acc: one element, of the iteration
//   y[i] = sum(k, v)         y[i] = 0; for k { y[i] += v }
//
// A condition on some axes stands directly inside the innermost of them. A reduction that only some values of the axes
// need (it is in a branch of a select over indices) is run for these. Large values that are shared are computed once.
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::loop {

/// Axes are numbered in the order of their loops; indices are simplified where sizes are numbers. Errors: kShape, what
/// is wrong with the definition: element types that do not fit, places that do not have as many indices as sizes.
[[nodiscard]] REWRIGHT_API Result<Program> lower(const Definition& definition);

/// The program at given sizes: every symbol for which there is a number gets it.
[[nodiscard]] REWRIGHT_API Program specialised(const Program& program, const DimBinding& sizes);

/// The same over the integers modulo 2^32 (wrapping.h), of every floating-point buffer: functions, quotients and
/// numbers that are not whole are mixing functions, so that a schedule cannot change a bit.
[[nodiscard]] REWRIGHT_API Program over_wrapping_integers(const Program& program);

}  // namespace rewright::loop
