// A schedule, by hand or from records, as the space of those near it.
//
//   a factor of a split   is a knob: up to 16 it, and two more and less; above, half, three quarters, one and a half and
//                         two times of it as well, where these are whole
//   equal factors         are one knob where a layout (pack) has that number, too: its panels are as wide as the tile
//   all else              stays
#pragma once

#include "schedule/schedule_space.h"

namespace rewright::schedule {

/// Errors: kParse, as parse_space; kUsage, the text has knobs already, or splits nothing.
[[nodiscard]] REWRIGHT_API Result<Space> neighbourhood(std::string_view schedule);

}  // namespace rewright::schedule
