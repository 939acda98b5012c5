// What toml++ is kept from.
#pragma once

#include <rewright/base/visibility.h>

#include <cstddef>
#include <string_view>

namespace rewright {

/// The first character beyond ASCII that stands neither in a text nor in a comment, or npos. TOML has no place for one,
/// and toml++ 3.3 runs into undefined behaviour when it asks whether it is a space. After a backslash in a text it asks
/// too.
[[nodiscard]] REWRIGHT_API std::size_t stray_character(std::string_view text);

}  // namespace rewright
