#include "report/optimization.h"

#include <rewright/optimize/cost.h>

#include <algorithm>
#include <cmath>

#include "report/dot.h"
#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/graph_difference.h"
#include "report/plot.h"

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
.curve { max-width: 760px; }
)";

std::string in_quotes(std::string_view text) {
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
  std::string label = node.opaque() ? node.opaque()->type : node.name;
  if (const ApplicationNode* made = node.application()) {
    const std::string params = to_string(made->op->info().params, made->params);
    label = made->op->name() + (params.empty() ? "" : " " + params);
  }
  for (const TensorType& type : node.outputs) label += fmt::format(" {}", type.shape);
  return label;
}

// --- the curve -------------------------------------------------------------------------------------------------

std::string curve_svg(const std::vector<OptimizationStory::Moment>& curve) {
  plot::Lines lines;
  lines.title = "Best cost over time";
  lines.x = fmt::format("seconds; {} candidates in all", grouped(curve.back().candidates));
  lines.y = "microseconds";
  lines.steps = true;
  lines.series.emplace_back();
  for (const auto& moment : curve) lines.series.back().points.emplace_back(moment.seconds, moment.best_us);
  return fmt::format("<div class=\"curve\">{}</div>\n", plot::lines_svg(lines));
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
    dot += fmt::format("n{} [label={}, {}];\n", i, in_quotes(label_of(node)), style);
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
