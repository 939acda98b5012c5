#include "report/optimization.h"

#include <rewright/cost.h>

#include <algorithm>
#include <cmath>

#include "report/dot.h"
#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/graph_difference.h"

namespace rewright {
namespace {

using gallery::escaped;
using gallery::grouped;
using gallery::microseconds;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6470; --line: #dfe3e8; --page: #fbfbfa; --accent: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa4b2; --line: #323842; --page: #14171c; --accent: #86b4ff; } }
body { margin: 0 auto; max-width: 1232px; padding: 24px 16px; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font-size: .82em; overflow-wrap: anywhere; color: var(--soft); } .scroll { overflow: auto; max-height: 90vh; background: #fff; border: 1px solid var(--line); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 16px; }
.curve { width: 100%; max-width: 760px; } .curve path { fill: none; stroke: var(--accent); stroke-width: 2; }
.curve text { fill: var(--soft); font-size: 12px; } .curve line { stroke: var(--line); }
)";

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result + '"';
}

/// Marked nodes and those up to two edges away.
std::vector<bool> surroundings(const Graph& graph, std::vector<bool> near) {
  for (int round = 0; round < 2; ++round) {
    std::vector<bool> wider = near;
    for (std::size_t i = 0; i < near.size(); ++i) {
      for (const Port& operand : graph.nodes()[i].inputs) {
        if (near[i]) wider[operand.node.value] = true;
        if (near[operand.node.value]) wider[i] = true;
      }
    }
    near = std::move(wider);
  }
  return near;
}

std::string label_of(const Node& node) {
  std::string label = node.op != nullptr ? node.op->name() : node.opaque ? node.opaque->type : node.name;
  if (node.op != nullptr)
    if (const std::string params = to_string(node.op->info().params, node.params); !params.empty())
      label += " " + params;
  for (const TensorType& type : node.outputs) label += fmt::format(" {}", type.shape);
  return label;
}

// --- the curve -------------------------------------------------------------------------------------------------

struct Frame {
  double left = 90, top = 12, width = 640, height = 220;
  double most_seconds = 1, least_us = 0, most_us = 1;
  [[nodiscard]] double x(double seconds) const { return left + width * seconds / most_seconds; }
  [[nodiscard]] double y(double us) const { return top + height * (most_us - us) / (most_us - least_us); }
};

std::string curve_svg(const std::vector<OptimizationStory::Moment>& curve) {
  Frame frame;
  frame.most_us = frame.least_us = curve.front().best_us;
  for (const auto& moment : curve) {
    frame.least_us = std::min(frame.least_us, moment.best_us);
    frame.most_us = std::max(frame.most_us, moment.best_us);
  }
  if (frame.most_us - frame.least_us < 1e-9) frame.most_us += 1;
  frame.most_seconds = std::max(curve.back().seconds, 1e-3);
  std::string path;
  for (const auto& moment : curve) {
    const double x = frame.x(moment.seconds), y = frame.y(moment.best_us);
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
  }
  const double bottom = frame.top + frame.height;
  return fmt::format(
      "<svg class=\"curve\" viewBox=\"0 0 760 270\" role=\"img\" aria-label=\"Best cost over time\">"
      "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\"/><line x1=\"{0}\" y1=\"{2}\" x2=\"{3}\" y2=\"{2}\"/>"
      "<path d=\"{4}\"/>"
      "<text x=\"{5}\" y=\"{6}\" text-anchor=\"end\">{7}</text><text x=\"{5}\" y=\"{2}\" text-anchor=\"end\">{8}</text>"
      "<text x=\"{0}\" y=\"{9}\">0 s</text><text x=\"{3}\" y=\"{9}\" text-anchor=\"end\">{10:.2f} s, {11} "
      "candidates</text></svg>\n",
      frame.left, frame.top, bottom, frame.left + frame.width, path, frame.left - 8, frame.top + 10,
      microseconds(frame.most_us), microseconds(frame.least_us), bottom + 20, frame.most_seconds,
      grouped(curve.back().candidates));
}

// --- the page --------------------------------------------------------------------------------------------------

std::string facts_table(const OptimizationStory& story) {
  std::string rows;
  for (const auto& [what, much] : story.facts)
    rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(what), escaped(much));
  return rows.empty() ? "" : fmt::format("<table>\n{}</table>\n", rows);
}

std::string rewrites_table(const OptimizationStory& story) {
  if (story.rewrites.empty()) return "<p>No rewrite makes it cheaper.</p>\n";
  std::string rows;
  for (std::size_t i = 0; i < story.rewrites.size(); ++i) {
    const auto& step = story.rewrites[i];
    rows += fmt::format(
        "<tr><td class=\"figure\">{}</td><td>{}<br><code>{}</code></td><td class=\"figure\">{}</td>"
        "<td class=\"figure\">{}</td></tr>\n",
        i + 1, escaped(step.rule), escaped(step.text), microseconds(step.before_us), microseconds(step.after_us));
  }
  return fmt::format(
      "<table>\n<tr><th></th><th>rule</th><th class=\"figure\">cost before</th><th class=\"figure\">after</th></tr>\n"
      "{}</table>\n",
      rows);
}

Result<std::string> drawing(std::string_view title, const Graph& graph, const Graph& other) {
  auto svg = render_svg(changes_as_dot(graph, changed_nodes(graph, other)));
  if (!svg && svg.error().code == ErrorCode::kNotFound)
    return fmt::format("<div><h3>{}</h3><p>{}.</p></div>\n", title, escaped(svg.error().message));
  if (!svg) return svg.error();
  const std::size_t start = svg->find("<svg");
  return fmt::format("<div><h3>{}</h3><div class=\"scroll\">{}</div></div>\n", title,
                     start == std::string::npos ? *svg : svg->substr(start));
}

}  // namespace

std::string changes_as_dot(const Graph& graph, const std::vector<bool>& marked, std::size_t most) {
  const std::vector<bool> weight = weight_only(graph);
  std::vector<bool> shown(weight.size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = !weight[i];
  const auto drawn = static_cast<std::size_t>(std::ranges::count(shown, true));
  if (drawn > most) {
    std::vector<bool> data_marks = marked;
    for (std::size_t i = 0; i < shown.size(); ++i) data_marks[i] = marked[i] && !weight[i];
    const std::vector<bool> near = surroundings(graph, std::move(data_marks));
    for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = shown[i] && near[i];
  }
  std::string dot = "digraph {\nnode [fontname=\"Helvetica\", fontsize=11, shape=box];\nordering=in;\n";
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const Node& node = graph.nodes()[i];
    const std::string_view style = marked[i]         ? "style=filled, fillcolor=\"#f9d29b\""
                                   : node.is_input() ? "style=\"rounded,filled\", fillcolor=\"#dbe9f6\""
                                                     : "style=solid";
    dot += fmt::format("n{} [label={}, {}];\n", i, quoted(label_of(node)), style);
    bool cut = false;
    for (const Port& operand : node.inputs) {
      const std::size_t from = operand.node.value;
      if (shown[from]) dot += fmt::format("n{} -> n{};\n", from, i);
      cut = cut || (!shown[from] && !weight[from]);
    }
    if (cut) dot += fmt::format("c{0} [label=\"...\", shape=plaintext];\nc{0} -> n{0} [style=dotted];\n", i);
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k) {
    const std::size_t from = graph.outputs()[k].node.value;
    if (!shown[from]) continue;
    dot += fmt::format("o{} [label=\"output {}\", shape=ellipse];\nn{} -> o{};\n", k, k, from, k);
  }
  return dot + "}\n";
}

Result<std::string> optimization_page(const OptimizationStory& story) {
  std::string body = fmt::format("<h1>{}</h1>\n{}", escaped(story.model), facts_table(story));
  if (!story.curve.empty())
    body += fmt::format("<h2>Best cost over time</h2>\n<p>Search {}, cost {}.</p>\n{}", escaped(story.search),
                        escaped(story.cost), curve_svg(story.curve));
  body += "<h2>Rewrites</h2>\n" + rewrites_table(story);
  if (story.before != nullptr && story.after != nullptr) {
    REWRIGHT_TRY(const std::string before, drawing("Before", *story.before, *story.after));
    REWRIGHT_TRY(const std::string after, drawing("After", *story.after, *story.before));
    body += fmt::format(
        "<h2>The graph</h2>\n<p>What has no counterpart on the other side is orange. Weights, and work on them that is "
        "done before the first run, are left out; of large graphs only what lies around the changes is drawn.</p>\n"
        "<div class=\"sides\">{}{}</div>\n",
        before, after);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(story.model), kStyle, body);
}

}  // namespace rewright
