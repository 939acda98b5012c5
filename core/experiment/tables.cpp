// Tables and plots of findings, as text.
#include <algorithm>
#include <cmath>

#include "experiment/findings.h"
#include "report/plot.h"

namespace rewright::experiment {
namespace {

const Json& field_of(const Json& row, const std::string& field) {
  static const Json kNothing;
  const auto found = row.find(field);
  return found == row.end() ? kNothing : *found;
}

std::string raw_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_time(const std::string& field, std::string_view ending) {
  return field == ending || field.ends_with(fmt::format("_{}", ending));
}

/// "35.2 us", "1.25 ms", "2.10 s".
std::string time_text(double us) {
  if (us >= 1e6) return fmt::format("{:.2f} s", us / 1e6);
  return us >= 1e3 ? fmt::format("{:.2f} ms", us / 1e3) : fmt::format("{:.1f} us", us);
}

/// The values of a field, each once, in the order of the rows.
std::vector<Json> distinct(const std::vector<const Json*>& rows, const std::string& field) {
  std::vector<Json> values;
  for (const Json* row : rows) {
    const Json& value = field_of(*row, field);
    if (!value.is_null() && std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

void add_cell(ShownTable& table, const std::string& field, const Json& value) {
  table.cells.back().push_back(value_text(field, value));
  table.raw.back().push_back(raw_text(value));
}

ShownTable pivoted(const std::vector<const Json*>& rows, const TableSpec& spec) {
  ShownTable table;
  table.title = spec.title;
  table.header = {words(spec.rows)};
  table.to_the_right = {false};
  const std::vector<Json> across = distinct(rows, spec.across);
  for (const Json& value : across) {
    table.header.push_back(value_text(spec.across, value));
    table.to_the_right.push_back(true);
  }
  for (const Json& line : distinct(rows, spec.rows)) {
    table.cells.emplace_back();
    table.raw.emplace_back();
    add_cell(table, spec.rows, line);
    for (const Json& column : across) {
      const auto at = std::ranges::find_if(rows, [&](const Json* row) {
        return field_of(*row, spec.rows) == line && field_of(*row, spec.across) == column;
      });
      add_cell(table, spec.value, at == rows.end() ? Json() : field_of(**at, spec.value));
    }
  }
  return table;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line(1, '|');
  for (const std::string& cell : cells) {
    line += ' ';
    for (const char c : cell) {
      if (c == '|' || c == '[') line += '\\';  // split[axis=1](x) is no link.
      line += c == '\n' ? ' ' : c;
    }
    line += " |";
  }
  line += '\n';
  return line;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  line += '\n';
  return line;
}

std::optional<double> number(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

/// "best, us" of best_us: an axis says its unit, where a table has it in its cells.
std::string axis_words(const std::string& field) { return words(field) + (field.ends_with("_us") ? ", us" : ""); }

Plotted lines_plot(const std::vector<const Json*>& rows, const PlotSpec& spec) {
  plot::Lines lines{spec.title, axis_words(spec.x), axis_words(spec.y), spec.log_x, spec.log_y, spec.steps, {}};
  for (const Json* row : rows) {
    const auto x = number(field_of(*row, spec.x)), y = number(field_of(*row, spec.y));
    if (!x || !y) continue;
    const std::string name = spec.series.empty() ? "" : value_text(spec.series, field_of(*row, spec.series));
    auto series = std::ranges::find(lines.series, name, &plot::Series::name);
    if (series == lines.series.end()) series = lines.series.insert(series, {name, {}});
    series->points.emplace_back(*x, *y);
  }
  return {lines.title, plot::lines_svg(lines), plot::lines_html(lines)};
}

Plotted bars_plot(const std::vector<const Json*>& rows, const PlotSpec& spec) {
  std::vector<plot::Bar> bars;
  for (const Json* row : rows) {
    const Json& value = field_of(*row, spec.value);
    if (const auto length = number(value))
      bars.push_back({value_text(spec.rows, field_of(*row, spec.rows)), *length, value_text(spec.value, value)});
  }
  if (bars.empty()) return {};
  return {spec.title, plot::bars_svg(spec.title, bars, spec.log_y), plot::bars_html(spec.title, bars, spec.log_y)};
}

Plotted heat_plot(const std::vector<const Json*>& rows, const PlotSpec& spec) {
  plot::Heat heat{spec.title, {}, {}, {}, spec.log_y};
  const std::vector<Json> lines = distinct(rows, spec.rows), columns = distinct(rows, spec.across);
  for (const Json& column : columns) heat.columns.push_back(value_text(spec.across, column));
  for (const Json& line : lines) {
    heat.rows.push_back(value_text(spec.rows, line));
    auto& cells = heat.values.emplace_back(columns.size());
    for (const Json* row : rows) {
      if (field_of(*row, spec.rows) != line) continue;
      const auto column = std::ranges::find(columns, field_of(*row, spec.across));
      if (const auto value = number(field_of(*row, spec.value)); value && column != columns.end())
        cells[static_cast<std::size_t>(column - columns.begin())] = value;
    }
  }
  if (lines.empty()) return {};
  return {spec.title, plot::heat_svg(heat), plot::heat_html(heat)};
}

}  // namespace

std::string commit_of(const Json& setting) {
  const std::string git = setting.value("git", "");
  return git.empty() ? "unknown" : git;
}

std::string words(std::string field) {
  if (field.ends_with("_us")) field.resize(field.size() - 3);
  std::ranges::replace(field, '_', ' ');
  return field;
}

std::string value_text(const std::string& field, const Json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return raw_text(value);
  const double figure = value.get<double>();
  if (is_time(field, "us")) return time_text(figure);
  if (is_time(field, "seconds")) {
    if (figure < 0.01) return fmt::format("{:.1f} ms", figure * 1000);
    return figure < 10 ? fmt::format("{:.2f} s", figure) : fmt::format("{:.0f} s", figure);
  }
  if (field == "gain" || field.starts_with("gain_") || field == "reduction") return fmt::format("{:.2f}x", figure);
  if (field == "share") return fmt::format("{:.1f} %", figure);
  return plot::number_text(figure, 4);
}

ShownTable shown(const Findings& findings, const TableSpec& spec) {
  const std::vector<const Json*> rows = rows_where(findings, spec.runs, spec.where);
  if (!spec.value.empty()) return pivoted(rows, spec);
  ShownTable table;
  table.title = spec.title;
  for (const std::string& column : spec.columns) {
    table.header.push_back(words(column));
    table.to_the_right.push_back(
        std::ranges::any_of(rows, [&](const Json* row) { return field_of(*row, column).is_number(); }));
  }
  for (const Json* row : rows) {
    table.cells.emplace_back();
    table.raw.emplace_back();
    for (const std::string& column : spec.columns) add_cell(table, column, field_of(*row, column));
  }
  return table;
}

ShownTable claims_table(const Findings& findings) {
  ShownTable table;
  table.header = {"claim", "source", "paper", "here", "verdict"};
  table.to_the_right.assign(table.header.size(), false);
  for (const ClaimFinding& claim : findings.claims) {
    std::string verdict = claim.verdict();
    if (claim.unexpected) verdict += "; outside what was expected";
    if (!claim.claim->note.empty()) verdict += fmt::format(". {}", claim.claim->note);
    table.cells.push_back(
        {claim.claim->claim, claim.claim->source, claim.claim->paper, claim.ours, std::move(verdict)});
  }
  table.raw = table.cells;
  return table;
}

ShownTable overview(std::span<const Findings> all, std::span<const Work> works) {
  const auto rank = [&](const std::string& work) {
    const auto at = std::ranges::find(works, work, &Work::name);
    return std::pair(work == kOwnWork, at - works.begin());
  };
  ShownTable table;
  table.header = {"from", "experiment", "claim", "paper", "here", "verdict"};
  table.to_the_right.assign(table.header.size(), false);
  for (const Findings& findings : all)
    for (const ClaimFinding& claim : findings.claims)
      table.cells.push_back({claim.claim->work, findings.manifest->name, claim.claim->claim, claim.claim->paper,
                             claim.ours, name_of(claim.answer)});
  std::ranges::stable_sort(table.cells, {}, [&](const auto& cells) { return rank(cells.front()); });
  table.raw = table.cells;
  return table;
}

std::string markdown(const ShownTable& table) {
  std::string text = line_of(table.header) + "|";
  for (const bool right : table.to_the_right) text += right ? "---:|" : "---|";
  text += "\n";
  for (const auto& line : table.cells) text += line_of(line);
  return text;
}

std::string csv(const ShownTable& table) {
  std::string text = csv_line(table.header);
  for (const auto& line : table.raw) text += csv_line(line);
  return text;
}

std::vector<Plotted> plots_of(const Findings& findings) {
  std::vector<Plotted> plots;
  for (const PlotSpec& spec : findings.manifest->plots) {
    const std::vector<const Json*> rows = rows_where(findings, spec.runs, spec.where);
    Plotted plotted = spec.kind == PlotSpec::Kind::kLines  ? lines_plot(rows, spec)
                      : spec.kind == PlotSpec::Kind::kBars ? bars_plot(rows, spec)
                                                           : heat_plot(rows, spec);
    if (!plotted.svg.empty()) plots.push_back(std::move(plotted));
  }
  return plots;
}

std::string markdown(const Findings& findings, Tables which) {
  std::string text = markdown(claims_table(findings));
  for (const TableSpec& spec : findings.manifest->tables) {
    if (which == Tables::kReadme && !spec.in_readme) continue;
    const ShownTable table = shown(findings, spec);
    if (!table.cells.empty()) text += fmt::format("\n{}:\n\n{}", table.title, markdown(table));
  }
  if (!findings.last_date.empty()) {
    text += fmt::format("\n{} of {} units, {:.0f} s, ended {}", findings.done, findings.total, findings.seconds,
                        findings.last_date);
    for (const Json& setting : findings.settings) {
      const Json& machine = setting.at("machine");
      text += fmt::format("; {} ({} threads, {} GiB), {}, commit {}", machine.value("processor", ""),
                          machine.value("threads", 0), machine.value("memory_gib", 0), machine.value("system", ""),
                          commit_of(setting));
    }
    text += ".\n";
  }
  return text;
}

Result<std::string> with_section(const std::string& text, const std::string& name, const std::string& content) {
  const std::size_t begin = text.find(fmt::format("<!-- {}: begin", name));
  const std::size_t first = begin == std::string::npos ? begin : text.find('\n', begin);
  const std::size_t end = first == std::string::npos ? first : text.find(fmt::format("<!-- {}: end", name), first);
  if (end == std::string::npos)
    return make_error(ErrorCode::kNotFound, "there are no lines '<!-- {0}: begin -->' and '<!-- {0}: end -->'", name);
  return text.substr(0, first + 1) + content + text.substr(end);
}

}  // namespace rewright::experiment
