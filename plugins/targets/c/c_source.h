// Loop programs as C11: a function for each, over pointers to its parameters, that returns 0,
// 1 where an index in data was out of its range, or 4 where one in a weight was.
#pragma once

#include <rewright/loop/target.h>

#include <span>
#include <string>

#include "c_vector_helpers.h"

namespace rewright::c {

/// With explicit vectors where there are instructions for them, else in plain C11. The definitions that the programs
/// carry as notes stand above their loops as comments. Errors: kUnsupported, a name that is no word, or is C's.
[[nodiscard]] Result<std::string> c_source(std::span<const loop::NamedProgram> programs,
                                           const Instructions* instructions);

}  // namespace rewright::c
