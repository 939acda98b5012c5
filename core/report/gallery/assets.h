// Files of assets/ here and one room up, as they are in the source tree; core/CMakeLists.txt makes the definitions.
#pragma once

#include <string_view>

namespace rewright::gallery {

/// What all pages share: colours in light and dark, text, tables, drawings of rules.
[[nodiscard]] std::string_view base_style();
/// The gallery's: the same, and its own.
[[nodiscard]] std::string_view style_sheet();
[[nodiscard]] std::string_view script();
/// What pages that stand alone have behind base_style(): frames that zoom, steps, plots.
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();

}  // namespace rewright::gallery
