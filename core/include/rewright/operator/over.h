// What a reduction of a definition runs over.
#pragma once

#include <tuple>

namespace rewright {

/// Sizes, groups of axes and the taps of windows, one index each.
template <class... Range>
struct Over {
  std::tuple<Range...> ranges;
};
template <class... Range>
[[nodiscard]] Over<Range...> over(const Range&... ranges) {
  return {{ranges...}};
}

}  // namespace rewright
