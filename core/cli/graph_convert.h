// The subcommand `rewright graph convert`.
#pragma once

#include "cli/program.h"

namespace rewright::cli {

void add_graph_convert(Program& program, const Command& group);

}  // namespace rewright::cli
