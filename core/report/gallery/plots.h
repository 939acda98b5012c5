// Bar charts as SVG; colours come from the style sheet.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rewright::gallery {

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

/// One bar a line, its number behind it. `logarithmic`: lengths go with the logarithm, for counts of many orders of
/// magnitude; the smallest bar that is not 0 is still seen.
[[nodiscard]] std::string bar_chart(const std::string& title, const Counts& counts, bool logarithmic = false);

/// How many of the seconds (ascending) fall into each quarter of an order of magnitude.
[[nodiscard]] std::string time_histogram(const std::string& title, std::span<const double> seconds);

}  // namespace rewright::gallery
