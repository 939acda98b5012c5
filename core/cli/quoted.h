// Texts as words of a shell's commands.
#pragma once

#include <string>

namespace rewright::cli {

/// In single quotes, whatever it holds.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace rewright::cli
