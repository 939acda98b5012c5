// Drawings as parts of a page: their colours are classes of its style sheet, so that they are light or dark as it is.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// A label for DOT: a bold word, and lines in small grey letters below it.
[[nodiscard]] REWRIGHT_API std::string dot_label(std::string_view word, const std::vector<std::string>& lines);

/// One <svg> for each of the `count` digraphs of `dot`, by one run of Graphviz, without what the style sheet says.
/// Errors: as render_svg.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::string>> render_parts(std::string_view dot, std::size_t count);

/// The drawing with a name for those who do not see it.
[[nodiscard]] REWRIGHT_API std::string named_drawing(std::string svg, std::string_view name);

}  // namespace rewright
