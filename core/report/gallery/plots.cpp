#include "report/gallery/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/plot.h"

namespace rewright::gallery {
namespace {

constexpr double kWidth = 640;

std::string figure(const std::string& title, const std::string& svg) {
  return fmt::format("<figure class=\"plot\" tabindex=\"0\"><figcaption>{}</figcaption>\n{}</figure>\n", escaped(title),
                     svg);
}

std::string svg(const std::string& title, double height, const std::string& content) {
  return figure(title, fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>", kWidth,
                                   height, escaped(title), content));
}

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(words));
}

std::string bar(double x, double y, double width, double height) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"/>\n", x, y, width,
                     height);
}

// 1 as the greatest.
double length(std::uint64_t count, std::uint64_t greatest) {
  return greatest == 0 ? 0 : static_cast<double>(count) / static_cast<double>(greatest);
}

}  // namespace

std::string bar_chart(const std::string& title, const Counts& counts, bool logarithmic) {
  std::vector<plot::Bar> bars;
  for (const auto& [label, count] : counts) bars.push_back({label, static_cast<double>(count), grouped(count)});
  return figure(title, plot::bars_html(title, bars, logarithmic));
}

std::string time_histogram(const std::string& title, std::span<const double> seconds) {
  constexpr double kHeight = 150, kBottom = 22, kTop = 16, kBins = 4;
  if (seconds.empty()) return {};
  const auto bin_of = [](double value) {
    return static_cast<int>(std::floor(std::log10(std::max(value, 1e-9)) * kBins));
  };
  const int first = static_cast<int>(std::floor(bin_of(seconds.front()) / kBins)) * static_cast<int>(kBins);
  const int last = std::max(bin_of(seconds.back()), first + static_cast<int>(kBins) - 1);
  std::vector<std::uint64_t> bins(static_cast<std::size_t>(last - first + 1));
  for (const double value : seconds) ++bins[static_cast<std::size_t>(bin_of(value) - first)];
  const std::uint64_t greatest = *std::ranges::max_element(bins);
  const double step = kWidth / static_cast<double>(bins.size());
  std::string content;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double x = static_cast<double>(i) * step;
    const double height = std::max(length(bins[i], greatest) * (kHeight - kTop), bins[i] > 0 ? 1.5 : 0.0);
    content += bar(x + 1, kTop + (kHeight - kTop) - height, step - 2, height);
    if (bins[i] == greatest)
      content += text(x + step / 2, kTop + (kHeight - kTop) - height - 4, "middle", grouped(greatest));
    if ((static_cast<int>(i) + first) % static_cast<int>(kBins) == 0)
      content += text(x + 2, kHeight + kBottom - 6, x > kWidth - 50 ? "middle" : "start",
                      microseconds(std::pow(10.0, (static_cast<double>(i) + first) / kBins) * 1e6));
  }
  return svg(title, kHeight + kBottom, content);
}

}  // namespace rewright::gallery
