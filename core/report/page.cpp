#include "report/page.h"

#include "report/gallery/assets.h"
#include "report/gallery/html.h"
#include "report/svg_parts.h"

namespace rewright {

using gallery::escaped;

std::string page_html(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<style>\n{}{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
      "<main id=\"main\">\n{}</main>\n<footer>Made by <code>rewright</code>; this file needs no other.</footer>\n"
      "<script>\n{}</script>\n</body>\n</html>\n",
      escaped(title), gallery::base_style(), gallery::page_style(), body, gallery::page_script());
}

std::string section_html(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", id, title,
      body);
}

std::string steps_html(std::string_view id, std::string_view title, std::string_view what, std::string_view before,
                       std::string_view steps) {
  return fmt::format(
      "<section id=\"{0}\" class=\"steps\" data-what=\"{1}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{2}"
      "</h2>\n{3}{4}</section>\n",
      id, what, title, before, steps);
}

std::string frame_html(std::string svg, std::string_view name) {
  return fmt::format(
      "<div class=\"frame\"><div class=\"pane\" tabindex=\"0\" role=\"group\" aria-label=\"{}; arrow keys move it, "
      "plus "
      "and minus zoom, 0 fits it\">{}</div></div>\n",
      escaped(name), named_drawing(std::move(svg), name));
}

std::string table_html(std::string_view name, std::span<const TableColumn> columns, std::span<const TableRow> rows) {
  const auto figure = [](const TableColumn& column) { return column.is_figure ? " class=\"figure\"" : ""; };
  std::string head, body;
  for (const TableColumn& column : columns)
    head += fmt::format("<th scope=\"col\"{}>{}</th>", figure(column), escaped(column.title));
  for (const TableRow& row : rows) {
    body += "<tr>";
    for (std::size_t c = 0; c < columns.size(); ++c)
      body += fmt::format("<td{} data-title=\"{}\">{}</td>", figure(columns[c]), escaped(columns[c].title), row[c]);
    body += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table class=\"cells\">\n<thead><tr>{}</tr>"
      "</thead>\n<tbody>\n{}</tbody></table></div>\n",
      escaped(name), head, body);
}

}  // namespace rewright
