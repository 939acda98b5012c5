// "Did you mean ...?"
#pragma once

#include <rewright/base/visibility.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// The name with the least edit distance to `word` (insertions, deletions, substitutions, exchanges of neighbours;
/// first of equals), if it is near enough to be meant: at most a third of the longer word's length, at least 1.
[[nodiscard]] REWRIGHT_API std::optional<std::string> nearest(std::string_view word,
                                                              const std::vector<std::string>& names);

}  // namespace rewright
