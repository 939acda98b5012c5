// --open NAME=1..16 and NAME=1,2,4: sizes that stay open, and all choices of them.
#pragma once

#include <rewright/base/result.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rewright::cli {

/// Each a version of its own. At least one: without names, where nothing is open. `dims`: what --dim gives, which
/// cannot stay open. Errors: kUsage, what is no range or list, a name twice, more than 64 versions.
[[nodiscard]] Result<std::vector<std::map<std::string, std::int64_t>>> read_open_sizes(
    const std::vector<std::string>& texts, const std::map<std::string, std::int64_t>& dims);

}  // namespace rewright::cli
