// Settings of plugins.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace rewright {

/// Settings of a plugin, from the campaign file or the command line.
using Options = std::map<std::string, std::variant<bool, std::int64_t, double, std::string>>;

}  // namespace rewright
