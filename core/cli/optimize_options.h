// The options of `rewright optimize`, in groups.
#pragma once

#include "cli/arguments.h"
#include "cli/optimize_arguments.h"

namespace rewright::cli {

/// They are written into `arguments`, which must outlive the command.
void add_options(const Command& command, OptimizeArguments& arguments);

}  // namespace rewright::cli
