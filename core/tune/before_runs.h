// What a program does once, before its first run: copies of weights in another layout, as pack makes them.
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::tune {

/// Both over the program's buffers. What is copied is an output of `before` and a weight of `rest`.
struct SplitProgram {
  loop::Program before;  ///< May have no statements.
  loop::Program rest;
};
/// The leading statements that do nothing but copy elements of weights to temporaries which no other writes.
[[nodiscard]] REWRIGHT_API SplitProgram split_before_runs(const loop::Program& program);

}  // namespace rewright::tune
