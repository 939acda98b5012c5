// What can be said of a program without running it.
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::loop {

/// Buffers have names of their own, numbers as sizes and types that programs compute with; loops have names of their
/// own; axes are used inside their loops; places have as many indices as sizes; values fit where they are stored;
/// inputs and weights are not written. Errors: kShape.
[[nodiscard]] Status check_structure(const Program& program);

}  // namespace rewright::loop
