// The programs that this process runs (base/command.h).
#pragma once

#include <rewright/base/visibility.h>

namespace rewright::compile {

/// Ends those that lead a process group, with all in it: the compiler and what it started, a compiled model.
REWRIGHT_API void end_child_processes();

}  // namespace rewright::compile
