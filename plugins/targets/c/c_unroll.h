// Unrolled loops written out: a copy of the body for each iteration, with a number in place of the axis.
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::c {

/// No loop is unrolled any more, and no serial one has a single iteration; the loops of copies have axes of their own.
[[nodiscard]] loop::Program unrolled(const loop::Program& program);

}  // namespace rewright::c
