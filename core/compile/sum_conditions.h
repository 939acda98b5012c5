// Conditions of sums moved along the loops around them: into the innermost one, where all loops of a nest may change
// places, and out again, so that they are asked as rarely as they can.
//
//   for s { if p(s) { for t { if q(t) { y += x } } } }   <->   for s { for t { if p(s) and q(t) { y += x } } }
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::compile {

/// Those of sums and the like (schedule/nest.h) inside.
[[nodiscard]] REWRIGHT_API loop::Program with_conditions_inside(const loop::Program& program);
/// All of them outside of loops whose axes they do not name, if nothing else is in these.
[[nodiscard]] REWRIGHT_API loop::Program with_conditions_outside(const loop::Program& program);

}  // namespace rewright::compile
