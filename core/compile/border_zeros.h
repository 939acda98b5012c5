// Zeros around a tensor that is stored so (compile/storage_form.h): who stores it sets them.
//
//   for d, r { y[d, 0, r] = 0 }; ...; for d, i { y[d, i + 1, 0] = 0 }; ...; for o, i, j { y[o, i + 1, j + 1] = f }
//     ->   for o { for r { y[o, 0, r] = 0 }; ...; for i { y[o, i + 1, 0] = 0; ...; for j { y[o, i + 1, j + 1] = f } } }
//
// Inside, what lies around a part of the tensor is set while that part is in a cache.
#pragma once

#include <rewright/loop/loop_program.h>

#include "compile/storage_form.h"

namespace rewright::compile {

/// Stores of 0 to what lies around the buffer, which is so stored, in boxes that do not overlap.
[[nodiscard]] loop::Body zeros_around(loop::Program& program, BufferId buffer, const Storage& storage);
/// Those of a scheduled program inside the innermost loops that store parts of the buffer; where such parts may not be
/// disjoint they stay where they are.
[[nodiscard]] REWRIGHT_API loop::Program with_zeros_inside(loop::Program program, BufferId buffer,
                                                           const Storage& storage);

}  // namespace rewright::compile
