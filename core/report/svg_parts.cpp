#include "report/svg_parts.h"

#include <algorithm>
#include <cstdlib>

#include "report/dot.h"
#include "report/gallery/html.h"

namespace rewright {
namespace {

/// Takes `what` out of the line, wherever it stands.
void take_out(std::string& line, std::string_view what) {
  for (std::size_t at = line.find(what); at != std::string::npos; at = line.find(what, at)) line.erase(at, what.size());
}

/// A rounded box, which Graphviz writes as a long path, as a rectangle around the path's points.
std::string as_rectangle(const std::string& line) {
  const std::size_t begin = line.find(" d=\"M") + 5;
  double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  int axis = 0;
  for (const char* at = line.c_str() + begin; *at != '"' && *at != 0;) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) {
      ++at;  // A letter, a comma or a space.
      continue;
    }
    low[axis] = std::min(low[axis], value);
    high[axis] = std::max(high[axis], value);
    axis = 1 - axis;
    at = end;
  }
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>", low[0], low[1],
                     high[0] - low[0], high[1] - low[1]);
}

/// What says nothing to a reader is left out: comments, titles, ids (they would not be unique in the page), and what
/// the style sheet says.
std::string compact(std::string_view svg) {
  std::string result;
  bool node = false;
  while (!svg.empty()) {
    const std::size_t end = std::min(svg.find('\n'), svg.size());
    std::string line(svg.substr(0, end));
    svg.remove_prefix(std::min(end + 1, svg.size()));
    if (line.starts_with("<!--") || line.starts_with("<title>")) continue;
    if (line.starts_with("<g ")) {
      node = line.find("class=\"node") != std::string::npos;
      const std::size_t id = line.find(" id=\"");
      if (id != std::string::npos) line.erase(id, line.find('"', id + 5) + 1 - id);
    }
    if (node && line.starts_with("<path")) line = as_rectangle(line);
    for (const char* what : {" font-family=\"Helvetica,sans-Serif\"", " xmlns=\"http://www.w3.org/2000/svg\"",
                             " xmlns:xlink=\"http://www.w3.org/1999/xlink\"", " fill=\"none\"", " stroke=\"#8a94a3\"",
                             " fill=\"#8a94a3\"", " text-anchor=\"start\"", " font-size=\"12.00\""})
      take_out(line, what);
    result += line + '\n';
  }
  return result;
}

}  // namespace

std::string dot_label(std::string_view word, const std::vector<std::string>& lines) {
  std::string text = fmt::format("<<b>{}</b>", gallery::escaped(word));
  for (const std::string& line : lines)
    text += fmt::format("<br/><font point-size=\"9\" color=\"#5b6470\">{}</font>", gallery::escaped(line));
  return text + ">";
}

Result<std::vector<std::string>> render_parts(std::string_view dot, std::size_t count) {
  std::vector<std::string> parts;
  if (count == 0) return parts;
  REWRIGHT_TRY(const std::string svg, render_svg(dot));
  constexpr std::string_view kEnd = "</svg>";
  for (std::size_t at = svg.find("<svg"); at != std::string::npos; at = svg.find("<svg", at)) {
    const std::size_t end = svg.find(kEnd, at);
    if (end == std::string::npos) break;
    parts.push_back(compact(std::string_view(svg).substr(at, end + kEnd.size() - at)));
    at = end;
  }
  if (parts.size() != count)
    return make_error(ErrorCode::kInternal, "Graphviz's 'dot' made {} drawings of {}", parts.size(), count);
  return parts;
}

std::string named_drawing(std::string svg, std::string_view name) {
  constexpr std::string_view kBegin = "<svg";
  if (svg.starts_with(kBegin))
    svg.insert(kBegin.size(), fmt::format(" role=\"img\" aria-label=\"{}\"", gallery::escaped(name)));
  return svg;
}

}  // namespace rewright
