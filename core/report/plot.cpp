#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "report/gallery/html.h"

namespace rewright::plot {
namespace {

using gallery::escaped;

constexpr std::string_view kStyle =
    "<style>.rw-plot text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:#5b6470}"
    ".rw-plot .rw-grid{stroke:#dfe3e8}.rw-plot .rw-axis{stroke:#9aa4b2}.rw-plot .rw-bar{fill:#1f5fbf;opacity:.85}"
    ".rw-plot .rw-cell{fill:#1f5fbf;stroke:none}.rw-plot .rw-none{fill:none;stroke:#dfe3e8}"
    ".rw-plot .rw-number{fill:#0d1219}"
    ".rw-plot .rw-label{paint-order:stroke;stroke:var(--card,Canvas);stroke-width:4px;stroke-linejoin:round}"
    "@media(prefers-color-scheme:dark){.rw-plot text{fill:#9aa4b2}.rw-plot .rw-grid,.rw-plot .rw-none{stroke:#323842}"
    ".rw-plot .rw-bar{fill:#86b4ff}.rw-plot .rw-cell{fill:#4a7fd0}.rw-plot .rw-number{fill:#fff}}</style>\n";

// Told apart by those who do not see all colours (Okabe and Ito, Color Universal Design, 2008).
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                      "#cc79a7", "#56b4e9", "#a08a00", "#888888"};
constexpr std::array<std::string_view, 3> kDashes = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 3\""};

std::string svg(std::string_view title, double width, double height, const std::string& content) {
  return fmt::format(
      "<svg class=\"rw-plot\" style=\"max-width:{:.0f}px\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}{}</svg>\n",
      1.1 * width, width, height, escaped(title), kStyle, content);
}

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(words));
}

// --- lines -----------------------------------------------------------------------------------------------------------

/// From values to places on the paper.
struct Axis {
  bool logarithmic = false;
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  void widen() {
    if (most > least) return;
    if (logarithmic) {
      least /= 2;
      most *= 2;
    } else {
      const double by = std::max(std::abs(most) / 10, 1e-6);
      least -= by;
      most += by;
    }
  }
  /// 0 to 1.
  [[nodiscard]] double place(double value) const {
    if (logarithmic) return std::log(value / least) / std::log(most / least);
    return (value - least) / (most - least);
  }
  [[nodiscard]] std::vector<double> ticks() const;
};

std::vector<double> Axis::ticks() const {
  std::vector<double> marks;
  if (logarithmic && most / least >= 10) {
    const double decades = std::log10(most / least);
    const int every = std::max(1, static_cast<int>(decades / 5));
    for (int power = static_cast<int>(std::ceil(std::log10(least) - 1e-9)); std::pow(10, power) <= most * 1.0000001;
         power += every)
      marks.push_back(std::pow(10, power));
    if (marks.size() > 1) return marks;
    marks.clear();
  }
  const double rough = (most - least) / 5, power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= rough * 0.99) {
      step = power * factor;
      break;
    }
  for (double at = std::ceil(least / step - 1e-9) * step; at <= most + step * 1e-9; at += step)
    marks.push_back(std::abs(at) < step * 1e-6 ? 0 : at);
  return marks;
}

struct Paper {
  static constexpr double kHeight = 340, kLeft = 84, kTop = 14, kRight = 16, kBottom = 46;
  double width = 720;
  Axis x, y;
  [[nodiscard]] double px(double value) const { return kLeft + x.place(value) * (width - kLeft - kRight); }
  [[nodiscard]] double py(double value) const {
    return kHeight - kBottom - y.place(value) * (kHeight - kTop - kBottom);
  }
};

std::string axes(const Lines& lines, const Paper& paper) {
  std::string content;
  const double bottom = Paper::kHeight - Paper::kBottom, right = paper.width - Paper::kRight;
  for (const double at : paper.y.ticks()) {
    const double y = paper.py(at);
    content += fmt::format("<line class=\"rw-grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                           Paper::kLeft, y, right, y) +
               text(Paper::kLeft - 8, y + 4, "end", number_text(at));
  }
  double taken = 0;  // Numbers on a narrow paper are left out where they would touch.
  for (const double at : paper.x.ticks()) {
    const std::string number = number_text(at);
    const double half = 3.5 * static_cast<double>(number.size()), middle = std::min(paper.px(at), paper.width - half);
    if (middle - half < taken) continue;
    taken = middle + half + 8;
    content += text(middle, bottom + 18, "middle", number);
  }
  content += fmt::format("<line class=\"rw-axis\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>\n",
                         Paper::kLeft, bottom, right);
  content += text((Paper::kLeft + right) / 2, bottom + 38, "middle", lines.x);
  return content +
         fmt::format("<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (Paper::kTop + bottom) / 2, escaped(lines.y));
}

/// Labels beside points: where points lie together one label names them all; no label lies on a point or on another
/// label, and where there is no room beside it there is none.
class Labels {
 public:
  void add(double x, double y, const std::string& words) {
    points_.push_back({x, y});
    if (words.empty()) return;
    constexpr double kTogether = 9;
    const auto near = std::ranges::find_if(
        groups_, [&](const Group& group) { return std::hypot(x - group.x, y - group.y) < kTogether; });
    if (near == groups_.end())
      groups_.push_back({x, y, words});
    else if (near->words != words)
      near->words += ", " + words;
  }
  [[nodiscard]] std::string texts(double right) {
    std::string content;
    for (const Group& group : groups_) content += placed(group, right);
    return content;
  }

 private:
  static constexpr double kHeight = 14, kRadius = 4, kLowest = Paper::kHeight - Paper::kBottom - 4;
  struct Group {
    double x = 0, y = 0;
    std::string words;
  };
  /// Of a text: `y` is where its letters stand.
  struct Box {
    double x = 0, y = 0, width = 0;
  };
  [[nodiscard]] bool is_free(const Box& box, double right) const {
    if (box.x < Paper::kLeft || box.x + box.width > right || box.y < kHeight || box.y > kLowest) return false;
    const auto touches = [&](const Box& other) {
      return box.x < other.x + other.width && other.x < box.x + box.width && std::abs(box.y - other.y) < kHeight;
    };
    const auto covers = [&](const std::pair<double, double>& point) {
      return point.first > box.x - kRadius && point.first < box.x + box.width + kRadius &&
             point.second > box.y - kHeight + 2 - kRadius && point.second < box.y + 2 + kRadius;
    };
    return std::ranges::none_of(placed_, touches) && std::ranges::none_of(points_, covers);
  }
  /// "" where there is no room.
  std::string placed(const Group& group, double right) {
    constexpr double kLetter = 7.5;
    const double width = kLetter * static_cast<double>(group.words.size()) + 2;
    for (const double away : {0.0, 12.0, 24.0, 36.0}) {
      for (const Box& box :
           {Box{group.x + 7 + away, group.y + 4, width}, Box{group.x - 7 - away - width, group.y + 4, width},
            Box{group.x - width / 2, group.y - 8 - away, width}, Box{group.x - width / 2, group.y + 19 + away, width},
            Box{group.x + 5, group.y - 7 - away, width}, Box{group.x - 5 - width, group.y - 7 - away, width},
            Box{group.x + 5, group.y + 15 + away, width}, Box{group.x - 5 - width, group.y + 15 + away, width}}) {
        if (!is_free(box, right)) continue;
        placed_.push_back(box);
        return fmt::format("<text class=\"rw-label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", box.x, box.y,
                           escaped(group.words));
      }
    }
    return {};
  }

  std::vector<std::pair<double, double>> points_;
  std::vector<Group> groups_;
  std::vector<Box> placed_;
};

std::string line(const Series& series, const Paper& paper, bool steps, std::size_t number, Labels& labels) {
  const std::string_view colour = kColours[number % kColours.size()];
  std::string path, dots;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& [x, y] = series.points[i];
    if (!paper.x.shows(x) || !paper.y.shows(y)) continue;
    const double at_x = paper.px(x), at_y = paper.py(y);
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", at_x, at_y)
            : steps      ? fmt::format("H{:.1f}V{:.1f}", at_x, at_y)
                         : fmt::format("L{:.1f} {:.1f}", at_x, at_y);
    if (!series.is_joined || (!steps && series.has_dots))
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", at_x, at_y,
                          series.is_joined || !series.labels.empty() ? "3.2" : "1.6", colour);
    labels.add(at_x, at_y, i < series.labels.size() ? series.labels[i] : "");
  }
  if (!series.is_joined) return fmt::format("<g><title>{}</title>{}</g>\n", escaped(series.name), dots);
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}><title>{}</title></path>\n{}",
                     path, colour, kDashes[number / kColours.size() % kDashes.size()], escaped(series.name), dots);
}

/// In rows below the plot; `height` grows by what it takes.
std::string legend(const Lines& lines, double right, double& height) {
  std::string content;
  double x = Paper::kLeft;
  height += 8;
  for (std::size_t i = 0; i < lines.series.size(); ++i) {
    const double width = 40 + 6.6 * static_cast<double>(lines.series[i].name.size());
    if (x + width > right && x > Paper::kLeft) {
      x = Paper::kLeft;
      height += 18;
    }
    const std::string_view colour = kColours[i % kColours.size()];
    content +=
        lines.series[i].is_joined
            ? fmt::format(
                  "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\" "
                  "stroke-width=\"3\"{4}/>\n",
                  x, height - 4, x + 20, colour, kDashes[i / kColours.size() % kDashes.size()])
            : fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\"/>\n", x + 14, height - 4, colour);
    content += text(x + 25, height, "start", lines.series[i].name);
    x += width;
  }
  height += 8;
  return content;
}

double share(double value, double greatest, bool logarithmic) {
  if (value <= 0 || greatest <= 0) return 0;
  return logarithmic ? std::log1p(value) / std::log1p(greatest) : value / greatest;
}

/// The begin and the end of a long name.
std::string shortened(const std::string& label, std::size_t most) {
  constexpr std::size_t kEnd = 8;
  if (label.size() <= most) return label;
  return label.substr(0, most - kEnd - 1) + "\u2026" + label.substr(label.size() - kEnd);
}

}  // namespace

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  const double rounded = std::round(value);
  if (std::abs(value - rounded) < 1e-9 * std::max(1.0, std::abs(value)) && std::abs(value) < 1e15) {
    std::string text = fmt::format("{:.0f}", std::abs(rounded));
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    if (rounded < 0) text.insert(0, 1, '-');
    return text;
  }
  if (std::abs(value) >= std::pow(10, digits) && std::abs(value) < 1e15) return number_text(rounded, digits);
  return fmt::format("{:.{}g}", value, digits);
}

std::string as_file(std::string svg) {
  constexpr std::string_view kBegin = "<svg";
  if (svg.starts_with(kBegin)) svg.insert(kBegin.size(), " xmlns=\"http://www.w3.org/2000/svg\"");
  return svg;
}

std::string lines_svg(const Lines& lines, double width) {
  Paper paper;
  paper.width = width;
  paper.x.logarithmic = lines.log_x;
  paper.y.logarithmic = lines.log_y;
  for (const Series& series : lines.series) {
    for (const auto& [x, y] : series.points) {
      if (!paper.x.shows(x) || !paper.y.shows(y)) continue;
      paper.x.take(x);
      paper.y.take(y);
    }
  }
  if (paper.x.least > paper.x.most) return {};
  paper.x.widen();
  paper.y.most *= lines.headroom;
  paper.y.widen();
  std::string content = axes(lines, paper);
  Labels labels;
  for (std::size_t i = lines.series.size(); i-- > 0;)  // The first one on top.
    content += line(lines.series[i], paper, lines.steps, i, labels);
  content += labels.texts(width - Paper::kRight);
  double height = Paper::kHeight;
  if (lines.series.size() > 1) content += legend(lines, width, height);
  return svg(lines.title, width, height, content);
}

std::string bars_svg(std::string_view title, std::span<const Bar> bars, bool logarithmic) {
  constexpr double kWidth = 640, kLine = 26, kBar = 16, kNumbers = 130;
  std::size_t longest = 0;
  double greatest = 0;
  for (const Bar& bar : bars) {
    longest = std::max(longest, std::min<std::size_t>(bar.label.size(), 34));
    greatest = std::max(greatest, bar.length);
  }
  const double left = std::min(260.0, 16 + 7.2 * static_cast<double>(longest));
  std::string content;
  double y = 4;
  for (const Bar& bar : bars) {
    const double width =
        std::max(share(bar.length, greatest, logarithmic) * (kWidth - left - kNumbers), bar.length > 0 ? 1.5 : 0.0);
    content +=
        text(left - 8, y + 13, "end", shortened(bar.label, 34)) +
        fmt::format("<rect class=\"rw-bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"/>\n",
                    left, y, width, kBar) +
        text(left + width + 6, y + 13, "start", bar.text);
    y += kLine;
  }
  return svg(title, kWidth, y, content);
}

std::string narrow_bars_svg(std::string_view title, std::span<const Bar> bars, bool logarithmic) {
  constexpr double kWidth = 340, kLine = 40, kBar = 12, kNumbers = 110;
  double greatest = 0, y = 4;
  for (const Bar& bar : bars) greatest = std::max(greatest, bar.length);
  std::string content;
  for (const Bar& bar : bars) {
    const double width =
        std::max(share(bar.length, greatest, logarithmic) * (kWidth - kNumbers), bar.length > 0 ? 1.5 : 0.0);
    content +=
        text(0, y + 11, "start", shortened(bar.label, 46)) +
        fmt::format("<rect class=\"rw-bar\" x=\"0\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"/>\n",
                    y + 17, width, kBar) +
        text(width + 6, y + 27, "start", bar.text);
    y += kLine;
  }
  return svg(title, kWidth, y, content);
}

std::string lines_html(const Lines& lines) {
  return fmt::format("<div class=\"for-desk\">{}</div><div class=\"for-phone\">{}</div>\n", lines_svg(lines),
                     lines_svg(lines, 360));
}

std::string bars_html(std::string_view title, std::span<const Bar> bars, bool logarithmic) {
  return fmt::format("<div class=\"for-desk\">{}</div><div class=\"for-phone\">{}</div>\n",
                     bars_svg(title, bars, logarithmic), narrow_bars_svg(title, bars, logarithmic));
}

namespace {

/// How large a heat map is: labels of `letters` letters.
struct HeatPaper {
  double cell, left;
  std::size_t letters;
  [[nodiscard]] double width(const Heat& heat) const {
    return left + cell * static_cast<double>(heat.columns.size()) + 70;
  }
};
constexpr HeatPaper kHeatForDesk{44, 350, 46}, kHeatForPhone{28, 150, 17};

std::string heat_on(const Heat& heat, const HeatPaper& paper) {
  constexpr double kLine = 22, kTop = 120;
  const double cell = paper.cell, left = paper.left;
  double greatest = 0;
  for (const auto& row : heat.values)
    for (const auto& value : row) greatest = std::max(greatest, value.value_or(0));
  std::string content;
  for (std::size_t c = 0; c < heat.columns.size(); ++c)
    content += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-55)\">{}</text>\n",
                           left + cell * (static_cast<double>(c) + 0.45), kTop - 8, escaped(heat.columns[c]));
  for (std::size_t r = 0; r < heat.rows.size(); ++r) {
    const double y = kTop + kLine * static_cast<double>(r);
    content += fmt::format("<g><title>{}</title>", escaped(heat.rows[r])) +
               text(left - 8, y + 15, "end", shortened(heat.rows[r], paper.letters)) + "</g>\n";
    for (std::size_t c = 0; c < heat.columns.size(); ++c) {
      const double x = left + cell * static_cast<double>(c);
      const std::optional<double> value = heat.values[r][c];
      const bool nothing = !value || *value <= 0;
      content += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"{}/>\n",
          nothing ? "rw-none" : "rw-cell", x + 1, y + 1, cell - 2, kLine - 2,
          nothing ? ""
                  : fmt::format(" fill-opacity=\"{:.2f}\"", 0.15 + 0.6 * share(*value, greatest, heat.logarithmic)));
      if (!nothing)
        content += fmt::format("<text class=\"rw-number\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                               x + cell / 2, y + 15, number_text(*value, 2));
    }
  }
  return svg(heat.title, paper.width(heat), kTop + kLine * static_cast<double>(heat.rows.size()) + 8, content);
}

}  // namespace

std::string heat_svg(const Heat& heat) { return heat_on(heat, kHeatForDesk); }

std::string heat_html(const Heat& heat) {
  return fmt::format(
      "<div class=\"for-desk\">{}</div><div class=\"for-phone\"><div style=\"min-width:{:.0f}px\">{}</div></div>\n",
      heat_svg(heat), kHeatForPhone.width(heat), heat_on(heat, kHeatForPhone));
}

}  // namespace rewright::plot
