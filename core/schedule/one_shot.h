// A schedule without a search: read off the loops and the strides of what they touch, never off an operator's name.
//
//   contraction  acc = 0; for r { acc += x * w }; y = f(acc)     lanes: the loop that moves y by 1; a tile of u places
//                x vectors in registers, u the loop that x follows and w does not; w packed into panels of a tile's
//                width, its dimensions in the order of the sums
//   row          acc = 0; for r { acc += f(x[r]) }               partial sums along r, in vectors
//   chain        y = f(x, ...)                                   lanes alone; where they would gather, blocks across
//   them
//
// Tiles  of t places and n vectors with t n + n + 1 registers at most, of the fewest steps: a step costs the greatest
// of
//        its multiply-adds, its loads, and kLatency, and a bit for the loop.
// What a transform refuses stays as it was.
#pragma once

#include "schedule/vector_unit.h"

namespace rewright::schedule {

/// Sizes must be numbers.
[[nodiscard]] REWRIGHT_API OneShot one_shot(const loop::Program& program, const VectorUnit& unit);
/// The outermost loops of a program.
[[nodiscard]] REWRIGHT_API std::vector<LoopName> roots_of(const loop::Program& program);
/// Steps for some nests more, wherever they stand: by their outermost loops.
[[nodiscard]] OneShot one_shot(OneShot before, const std::vector<LoopName>& roots, const VectorUnit& unit);

}  // namespace rewright::schedule
