// Which loops of a scheduled program run on several threads.
#pragma once

#include <rewright/loop/loop_program.h>

namespace rewright::compile {

/// Of each nest the outermost loop that may run in parallel, where there is much to do.
[[nodiscard]] REWRIGHT_API loop::Program with_parallel_loops(loop::Program program);

}  // namespace rewright::compile
