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
  if (cell.state != "ok") return fmt::format("<span title=\"{}\">{}</span>", escaped(cell.why), escaped(cell.state));
  std::string text = cell.us ? fmt::format("{} us", plot::number_text(*cell.us)) : "ok";
  if (cell.achieved) text = fmt::format("<b>{:.2f}x</b><br>{}", *cell.achieved, text);
  if (cell.of_limit) text += fmt::format("<br>{:.0f} % of limit", 100 * *cell.of_limit);
  return fmt::format("<span class=\"shade\" style=\"{}\">{}</span>", shade_of(cell.achieved.value_or(1)), text);
}

std::string matrix_of(const StudyReport& report) {
  std::vector<TableColumn> columns{{"network"}, {"compression"}};
  for (const std::string& algorithm : report.columns) columns.push_back({algorithm, true});
  columns.insert(columns.end(), {{"expected", true}, {"error", true}});
  std::vector<TableRow> rows;
  for (const StudyRow& row : report.rows) {
    TableRow& cells = rows.emplace_back();
    cells = {"<b>" + escaped(row.network) + "</b>",
             escaped(row.compression + (row.setting.empty() ? "" : ", " + row.setting))};
    std::optional<double> expected;
    for (const StudyCell& cell : row.cells) {
      cells.push_back(cell_html(cell));
      if (cell.expected) expected = cell.expected;
    }
    cells.push_back(expected ? fmt::format("{:.2f}x", *expected) : "-");
    cells.push_back(row.error ? plot::number_text(*row.error) : "-");
  }
  return section_html(
      "cells", "Each network, compression and algorithm",
      "<p>Bold: times as fast as the network's fastest dense cell; green is faster, red slower. Limit: the "
      "time that the machine allows. Expected: if time went with the multiply-adds that are left. Error: "
      "how far outputs are off, by the original's greatest output.</p>\n" +
          table_html("What became of each cell", columns, rows));
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
    std::vector<TableColumn> columns{{"layer"}};
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      columns.push_back({report.columns[c], true});
      texts.push_back(layer_texts(row.cells[c]));
      for (const StudyLayer& layer : row.cells[c].layers)
        if (std::ranges::find(names, layer.name) == names.end()) names.push_back(layer.name);
    }
    if (names.empty()) continue;
    std::vector<TableRow> lines;
    for (const std::string& name : names) {
      TableRow& line = lines.emplace_back();
      line.push_back(escaped(name));
      for (const auto& cell : texts) line.push_back(cell.contains(name) ? cell.at(name) : "-");
    }
    const std::string network = name_of_row(row);
    tables += fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(network),
                          table_html("Layers of " + network, columns, lines));
  }
  return tables.empty() ? ""
                        : section_html("layers", "Each layer among the others, and convolutions alone",
                                       "<p>A layer is what makes one result, with what has joined it. Alone: a network "
                                       "of the convolution, which reads and writes images with channels first.</p>\n" +
                                           tables);
}

/// What is not ok, with its sentence.
std::string reasons_of(const StudyReport& report) {
  std::string items;
  for (const StudyRow& row : report.rows)
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      if (row.cells[c].state != "ok")
        items += fmt::format("<li>{}, {}: {}. {}</li>\n", escaped(name_of_row(row)), escaped(report.columns[c]),
                             escaped(row.cells[c].state), escaped(row.cells[c].why));
  return items.empty() ? "" : section_html("reasons", "Cells that have no time", "<ul>\n" + items + "</ul>\n");
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

/// A plot a network: all cells, a colour a compression, and the front of them.
template <class Other>
std::string fronts_of(const StudyReport& report, const std::string& id, const std::string& title, const std::string& y,
                      const Other& other) {
  std::map<std::string, std::pair<plot::Lines, std::vector<Point>>> networks;
  for (const StudyRow& row : report.rows) {
    plot::Series cells{row.compression + (row.setting.empty() ? "" : ", " + row.setting), {}, false};
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const auto value = other(row, row.cells[c]);
      if (!row.cells[c].us || !value) continue;
      cells.points.emplace_back(*row.cells[c].us, *value);
      cells.labels.push_back(report.columns[c]);
    }
    if (cells.points.empty()) continue;
    auto& [lines, points] = networks[row.network];
    for (const auto& [us, value] : cells.points) points.push_back({us, value});
    lines.series.push_back(std::move(cells));
  }
  std::string plots;
  for (auto& [network, drawn] : networks) {
    auto& [lines, points] = drawn;
    lines.title = network + ": " + title;
    lines.x = "us a run";
    lines.y = y;
    lines.log_x = lines.steps = true;
    lines.headroom = 1.1;
    lines.series.push_back({"no other is better in both", front_of(points)});
    plots += "<h3>" + escaped(network) + "</h3>\n" + lines_html(lines);
  }
  return plots.empty()
             ? ""
             : section_html(id, title,
                            "<p>A point is a cell, named by its algorithm where there is room.</p>\n" + plots);
}

}  // namespace

std::string study_html(const StudyReport& report) {
  std::string body = fmt::format(
      "<h1>{}</h1>\n<p class=\"lede\">What each network, compressed and compiled in each way, takes a run. "
      "Machine: {}</p>\n",
      escaped(report.title), escaped(report.machine));
  body += matrix_of(report) + reasons_of(report) + layers_of(report);
  body += fronts_of(report, "error", "What time costs in error", "error by the greatest output",
                    [](const StudyRow& row, const StudyCell&) { return row.error; });
  body += fronts_of(report, "memory", "What time costs in memory", "MiB at most",
                    [](const StudyRow&, const StudyCell& cell) -> std::optional<double> {
                      return cell.peak_bytes ? std::optional(*cell.peak_bytes / (1 << 20)) : std::nullopt;
                    });
  return page_html(report.title, body);
}

}  // namespace rewright
