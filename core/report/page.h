// The frame of a page that stands alone.
#pragma once

#include <string>
#include <string_view>

namespace rewright {

/// `body` with a style sheet: tables, figures to the right, plots, in light and in dark.
[[nodiscard]] std::string page_html(std::string_view title, std::string_view body);

}  // namespace rewright
