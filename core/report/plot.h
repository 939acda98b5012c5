// Plots as SVG, each with its own colours, in light and in dark: for a page, or for a file of its own.
#pragma once

#include <rewright/base/visibility.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright::plot {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< In the order in which they are joined.
  bool is_joined = true;                          ///< Otherwise: points alone.
  std::vector<std::string> labels = {};           ///< Beside the points, as far as there are some.
  bool has_dots = true;                           ///< Where points are joined.
};

struct Lines {
  std::string title;
  std::string x;  ///< What the axes say.
  std::string y;
  bool log_x = false;  ///< What is not above 0 is left out.
  bool log_y = false;
  bool steps = false;  ///< A value stands until the next one.
  std::vector<Series> series;
  double headroom = 1;  ///< So many times the greatest value is where the paper ends.
};
/// "" where no series has a point. `width`: in letters' pixels; what is shown on a phone has fewer.
[[nodiscard]] REWRIGHT_API std::string lines_svg(const Lines& lines, double width = 720);

struct Bar {
  std::string label;
  double length = 0;
  std::string text;  ///< Behind the bar.
};
/// One bar a line. `logarithmic`: lengths go with the logarithm, for numbers of many orders of magnitude; the smallest
/// bar that is not 0 is still seen.
[[nodiscard]] REWRIGHT_API std::string bars_svg(std::string_view title, std::span<const Bar> bars,
                                                bool logarithmic = false);
/// The same for a phone: labels above their bars.
[[nodiscard]] REWRIGHT_API std::string narrow_bars_svg(std::string_view title, std::span<const Bar> bars,
                                                       bool logarithmic = false);

/// A plot for a page: one drawing for a desk, one for a phone, of which the style sheet shows one.
[[nodiscard]] REWRIGHT_API std::string lines_html(const Lines& lines);
[[nodiscard]] REWRIGHT_API std::string bars_html(std::string_view title, std::span<const Bar> bars,
                                                 bool logarithmic = false);

struct Heat {
  std::string title;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<double>>> values;  ///< By row, by column.
  bool logarithmic = false;                                ///< Shades go with the logarithm.
};
[[nodiscard]] REWRIGHT_API std::string heat_svg(const Heat& heat);
[[nodiscard]] REWRIGHT_API std::string heat_html(const Heat& heat);

/// For a file of its own: names the language, which a page has no need of.
[[nodiscard]] REWRIGHT_API std::string as_file(std::string svg);

/// "1,204,311", "0.125", "3.2e+07": a number of at most `digits` significant digits, whole ones in full.
[[nodiscard]] REWRIGHT_API std::string number_text(double value, int digits = 3);

}  // namespace rewright::plot
