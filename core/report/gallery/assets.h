// Files of assets/, as they are in the source tree; core/CMakeLists.txt makes the definitions.
#pragma once

#include <string_view>

namespace rewright::gallery {

[[nodiscard]] std::string_view style_sheet();
[[nodiscard]] std::string_view script();

}  // namespace rewright::gallery
