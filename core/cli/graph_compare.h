// rewright graph compare
#pragma once

#include "cli/program.h"

namespace rewright::cli {

void add_graph_compare(Program& program, const Command& group);

}  // namespace rewright::cli
