// The options of `rewright optimize`, in groups.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/optimize_arguments.h"

namespace rewright::cli {

/// They are written into `arguments`, which must outlive the command.
void add_options(CLI::App& command, OptimizeArguments& arguments);

}  // namespace rewright::cli
