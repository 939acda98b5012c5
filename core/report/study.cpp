#include "report/study.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/gallery/html.h"
#include "report/page.h"
#include "report/plot.h"

namespace rewright {
namespace {

using gallery::escaped;

std::string name_of_row(const StudyRow& row) {
  return row.network + ", " + row.compression + (row.setting.empty() ? "" : ", " + row.setting);
}

/// Of a cell that is ok, shaded by how much faster than dense it is: green above, red below, by the logarithm.
std::string shade_of(double achieved) {
  const double strength = std::min(std::abs(std::log2(achieved)) / 3, 1.0);
  return fmt::format("background:rgba({},{:.2f})", achieved >= 1 ? "0,140,70" : "200,60,40", 0.08 + 0.37 * strength);
}

std::string cell_html(const StudyCell& cell) {
  if (cell.state != "ok") return fmt::format("<td title=\"{}\">{}</td>", escaped(cell.why), escaped(cell.state));
  std::string text = cell.us ? fmt::format("{:.0f} us", *cell.us) : "ok";
  if (cell.achieved) text = fmt::format("<b>{:.2f}x</b><br>{}", *cell.achieved, text);
  if (cell.of_limit) text += fmt::format("<br>{:.0f} % of limit", 100 * *cell.of_limit);
  return fmt::format("<td class=figure style=\"{}\">{}</td>", shade_of(cell.achieved.value_or(1)), text);
}

std::string matrix_of(const StudyReport& report) {
  std::string head = "<tr><th scope=col>network</th><th scope=col>compression</th>";
  for (const std::string& column : report.columns) head += "<th scope=col class=figure>" + escaped(column) + "</th>";
  head += "<th scope=col class=figure>expected</th><th scope=col class=figure>error</th></tr>";
  std::string rows;
  for (const StudyRow& row : report.rows) {
    rows += fmt::format("<tr><th scope=row>{}</th><td>{}</td>", escaped(row.network),
                        escaped(row.compression + (row.setting.empty() ? "" : ", " + row.setting)));
    std::optional<double> expected;
    for (const StudyCell& cell : row.cells) {
      rows += cell_html(cell);
      if (cell.expected) expected = cell.expected;
    }
    rows += fmt::format("<td class=figure>{}</td><td class=figure>{}</td></tr>\n",
                        expected ? fmt::format("{:.2f}x", *expected) : "-",
                        row.error ? plot::number_text(*row.error) : "-");
  }
  return "<h2>Each cell: times as fast as the network's fastest dense cell, and a run's time</h2>\n<div class=wide "
         "role=group tabindex=0 "
         "aria-label=\"What became of each cell\">"
         "<table><thead>" +
         head + "</thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

/// "12.3 us, alone 10.1 us", by a layer's name.
std::map<std::string, std::string> layer_texts(const StudyCell& cell) {
  std::map<std::string, std::string> texts;
  for (const StudyLayer& layer : cell.layers)
    texts[layer.name] =
        fmt::format("{:.1f} us{}", layer.us, layer.alone_us ? fmt::format("<br>alone {:.1f} us", *layer.alone_us) : "");
  return texts;
}

/// A table for each network and compression that opens: layers in the order in which they run.
std::string layers_of(const StudyReport& report) {
  std::string tables;
  for (const StudyRow& row : report.rows) {
    std::vector<std::string> names;
    std::vector<std::map<std::string, std::string>> texts;
    std::string head = "<tr><th scope=col>layer</th>";
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      head += "<th scope=col class=figure>" + escaped(report.columns[c]) + "</th>";
      texts.push_back(layer_texts(row.cells[c]));
      for (const StudyLayer& layer : row.cells[c].layers)
        if (std::ranges::find(names, layer.name) == names.end()) names.push_back(layer.name);
    }
    if (names.empty()) continue;
    std::string lines;
    for (const std::string& name : names) {
      lines += fmt::format("<tr><th scope=row>{}</th>", escaped(name));
      for (const auto& cell : texts)
        lines += fmt::format("<td class=figure>{}</td>", cell.contains(name) ? cell.at(name) : "-");
      lines += "</tr>\n";
    }
    tables += fmt::format(
        "<details><summary>{}</summary>\n<div class=wide role=group tabindex=0 aria-label=\"Layers of {}\"><table>"
        "<thead>{}</tr></thead><tbody>\n{}</tbody></table></div></details>\n",
        escaped(name_of_row(row)), escaped(name_of_row(row)), head, lines);
  }
  return tables.empty() ? ""
                        : "<h2>Each layer among the others, and convolutions alone</h2>\n<p>A layer is what makes one "
                          "result, with what has joined it. Alone: a network of the convolution, which reads and "
                          "writes images with channels first.</p>\n" +
                              tables;
}

/// What is not ok, with its sentence.
std::string reasons_of(const StudyReport& report) {
  std::string items;
  for (const StudyRow& row : report.rows)
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      if (row.cells[c].state != "ok")
        items += fmt::format("<li>{}, {}: {}. {}</li>\n", escaped(name_of_row(row)), escaped(report.columns[c]),
                             escaped(row.cells[c].state), escaped(row.cells[c].why));
  return items.empty() ? "" : "<h2>Cells that have no time</h2>\n<ul>\n" + items + "</ul>\n";
}

struct Point {
  double us, other;
};
/// Those that no other beats in both, from the fastest on.
std::vector<std::pair<double, double>> front_of(std::vector<Point> points) {
  std::ranges::sort(points, {}, [](const Point& point) { return std::pair(point.us, point.other); });
  std::vector<std::pair<double, double>> front;
  for (const Point& point : points)
    if (front.empty() || point.other < front.back().second) front.emplace_back(point.us, point.other);
  return front;
}

/// A plot a network: all cells, and the front of them.
template <class Other>
std::string fronts_of(const StudyReport& report, const std::string& title, const std::string& y, const Other& other) {
  std::map<std::string, std::vector<Point>> points;
  for (const StudyRow& row : report.rows)
    for (const StudyCell& cell : row.cells)
      if (const auto value = other(row, cell); cell.us && value) points[row.network].push_back({*cell.us, *value});
  std::string plots;
  for (const auto& [network, all] : points) {
    plot::Lines lines{network, "us a run", y, true, false, true, {}};
    plot::Series& cells = lines.series.emplace_back(plot::Series{"cells", {}, false});
    for (const Point& point : all) cells.points.emplace_back(point.us, point.other);
    lines.series.push_back({"no other is better in both", front_of(all)});
    plots += lines_svg(lines);
  }
  return plots.empty() ? "" : "<h2>" + escaped(title) + "</h2>\n" + plots;
}

}  // namespace

std::string study_html(const StudyReport& report) {
  std::string body = fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escaped(report.title), escaped(report.machine));
  body += matrix_of(report) + reasons_of(report) + layers_of(report);
  body += fronts_of(report, "What time costs in error", "error by the greatest output",
                    [](const StudyRow& row, const StudyCell&) { return row.error; });
  body += fronts_of(report, "What time costs in memory", "MiB at most",
                    [](const StudyRow&, const StudyCell& cell) -> std::optional<double> {
                      return cell.peak_bytes ? std::optional(*cell.peak_bytes / (1 << 20)) : std::nullopt;
                    });
  return page_html(report.title, body);
}

}  // namespace rewright
