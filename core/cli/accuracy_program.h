// A user's program that says how good a model is.
#pragma once

#include <rewright/base/result.h>

#include <string>

namespace rewright::cli {

/// Runs the shell command with the file's name behind it; the last line of its standard output is a number. Errors:
/// kUnsupported, with the command, the file and what it said.
[[nodiscard]] Result<double> accuracy_of(const std::string& command, const std::string& file);

}  // namespace rewright::cli
