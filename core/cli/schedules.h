// The subcommands of `rewright schedules` that have files of their own.
#pragma once

#include "cli/program.h"

namespace rewright::cli {

void add_schedules_ask(Program& program, const Command& group);  // schedules_ask.cpp

}  // namespace rewright::cli
