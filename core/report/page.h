// The frame of a page that stands alone, and what such pages are made of.
#pragma once

#include <rewright/base/visibility.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rewright {

/// `body` between a link that skips to it and a line on its origin, with style sheet and script: tables, plots, frames
/// that zoom, steps, in light and in dark. The body starts with its <h1>.
[[nodiscard]] REWRIGHT_API std::string page_html(std::string_view title, std::string_view body);

[[nodiscard]] REWRIGHT_API std::string section_html(std::string_view id, std::string_view title, std::string_view body);
/// The same, of <article class="step"> elements, of which the script shows one at a time. `what`: "Rewrite".
[[nodiscard]] REWRIGHT_API std::string steps_html(std::string_view id, std::string_view title, std::string_view what,
                                                  std::string_view before, std::string_view steps);
/// A drawing (svg_parts.h) that is moved and zoomed; `name` says what it shows.
[[nodiscard]] REWRIGHT_API std::string frame_html(std::string svg, std::string_view name);

struct TableColumn {
  std::string title;
  bool is_figure = false;
};
using TableRow = std::vector<std::string>;  ///< A cell each, HTML.
/// On a phone each row is a list of its cells below each other, with their columns' titles.
[[nodiscard]] REWRIGHT_API std::string table_html(std::string_view name, std::span<const TableColumn> columns,
                                                  std::span<const TableRow> rows);

}  // namespace rewright
