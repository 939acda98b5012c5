// The user's cache folder.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <string>

namespace rewright::tune {

/// $XDG_CACHE_HOME/rewright, else ~/.cache/rewright, made if it is not there. Errors: kIo, with what to set.
[[nodiscard]] REWRIGHT_API Result<std::string> user_cache();

}  // namespace rewright::tune
