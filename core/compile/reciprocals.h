// Quotients by what is known for many elements, as products:
//
//   d[c] = v;   y[c, i] = x[c, i] / d[c]      becomes      d[c] = 1 / v;   y[c, i] = x[c, i] * d[c]
//
// for temporaries d by which is divided and of which nothing else is made. A result may differ in its last place.
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::compile {

[[nodiscard]] loop::Program with_reciprocals(const loop::Program& program);

}  // namespace rewright::compile
