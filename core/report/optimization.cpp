#include "report/optimization.h"

#include <rewright/optimize/cost.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "report/change_drawing.h"
#include "report/compiling.h"
#include "report/gallery/drawings.h"
#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/gallery/words.h"
#include "report/graph_difference.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/svg_parts.h"

namespace rewright {
namespace {

using gallery::escaped;
using gallery::grouped;
using gallery::microseconds;

/// So many rewrites are shown one at a time; all are in the table.
constexpr std::size_t kMostSteps = 60;

std::string gain_text(double before_us, double after_us) {
  return after_us > 0 && std::isfinite(before_us) ? fmt::format("{:.2f}", before_us / after_us) : "-";
}

// --- what became of the nodes ----------------------------------------------------------------------------------------

/// Of each rewrite: which node after it is which before it.
std::vector<Counterparts> followed(const OptimizationStory& story) {
  std::vector<Counterparts> steps;
  const Graph* graph = story.before;
  for (const auto& rewrite : story.rewrites) {
    if (graph == nullptr || rewrite.after == nullptr) break;
    steps.push_back(counterparts(*graph, *rewrite.after));
    graph = rewrite.after;
  }
  return steps;
}

struct Touched {
  std::vector<bool> before, after;
};

/// What the rewrites made of the model, all together: a node stays if it does at every step.
Touched touched_in_all(const OptimizationStory& story, const std::vector<Counterparts>& steps) {
  if (steps.size() < story.rewrites.size())
    return {changed_nodes(*story.before, *story.after), changed_nodes(*story.after, *story.before)};
  Counterparts whole(story.before->nodes().size());
  for (std::uint32_t i = 0; i < whole.size(); ++i) whole[i] = i;
  std::vector<bool> is_touched(whole.size(), false);
  const auto follow = [&](const Graph& graph, const Counterparts& step, const Graph& next) {
    const std::vector<bool> touched = touched_nodes(graph, step, next);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (!whole[i]) continue;
      is_touched[i] = is_touched[i] || touched[*whole[i]];
      whole[i] = step[*whole[i]];
    }
  };
  const Graph* graph = story.before;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    follow(*graph, steps[k], *story.rewrites[k].after);
    graph = story.rewrites[k].after;
  }
  follow(*graph, counterparts(*graph, *story.after), *story.after);
  const Counterparts back = reversed(whole, story.after->nodes().size());
  Touched all{std::move(is_touched), touched_nodes(*story.after, back, *story.before)};
  for (std::size_t i = 0; i < whole.size(); ++i) all.before[i] = all.before[i] || !whole[i];
  for (std::size_t j = 0; j < back.size(); ++j)
    if (back[j] && all.before[*back[j]]) all.after[j] = true;
  return all;
}

// --- drawings --------------------------------------------------------------------------------------------------------

/// All drawings of the page, by one run of Graphviz.
struct OptimizationDrawings {
  std::vector<std::string> steps;  ///< Empty where there is nothing to draw.
  std::vector<gallery::Drawing> rules;
  std::string before, after;
  std::string missing;  ///< Why there are none.
};

Result<OptimizationDrawings> drawings_of(const OptimizationStory& story) {
  OptimizationDrawings drawings;
  const std::size_t shown = std::min(story.rewrites.size(), kMostSteps);
  drawings.steps.resize(shown);
  drawings.rules.resize(shown);
  std::string dot;
  std::vector<std::string*> places;
  const auto add = [&](const std::string& text, std::string& place) {
    dot += text;
    places.push_back(&place);
  };
  std::vector<const Rule*> rules;
  std::vector<std::size_t> rule_places;
  std::vector<Counterparts> steps;
  if (story.before != nullptr && story.after != nullptr) {
    steps = followed(story);
    const Touched touched = touched_in_all(story, steps);
    add(graph_as_dot(*story.before, touched.before), drawings.before);
    add(graph_as_dot(*story.after, touched.after), drawings.after);
  }
  for (std::size_t k = 0; k < shown; ++k) {
    const auto& rewrite = story.rewrites[k];
    if (rewrite.drawn != nullptr) rules.push_back(rewrite.drawn), rule_places.push_back(k);
    if (k >= steps.size()) continue;
    const Graph& before = k == 0 ? *story.before : *story.rewrites[k - 1].after;
    if (const auto text = step_as_dot(before, *rewrite.after, steps[k])) add(*text, drawings.steps[k]);
  }
  auto parts = render_parts(dot, places.size());
  if (!parts && parts.error().code != ErrorCode::kNotFound) return parts.error();
  if (!parts) {
    drawings.missing = parts.error().message;
    return drawings;
  }
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = std::move((*parts)[i]);
  REWRIGHT_TRY(std::vector<gallery::Drawing> drawn, gallery::draw(rules));
  for (std::size_t i = 0; i < drawn.size(); ++i) drawings.rules[rule_places[i]] = std::move(drawn[i]);
  return drawings;
}

// --- the page --------------------------------------------------------------------------------------------------------

std::string rule_html(const OptimizationStory::Rewrite& rewrite, const gallery::Drawing& drawing) {
  std::string html;
  if (!drawing.source.empty() && rewrite.drawn != nullptr) {
    const std::size_t arrow = rewrite.text.find(" => ");
    const std::string target = arrow == std::string::npos ? rewrite.text : rewrite.text.substr(arrow + 4);
    html += fmt::format(
        "<div class=\"sides\">\n<figure><figcaption>The rule&#39;s source</figcaption>{}</figure>\n<div "
        "class=\"becomes\" aria-hidden=\"true\">&rArr;</div>\n<figure><figcaption>Its target</figcaption>{}</figure>\n"
        "</div>\n",
        named_drawing(drawing.source, "Source of " + rewrite.text.substr(0, arrow)),
        named_drawing(drawing.target, "Target: " + target));
  }
  if (!rewrite.text.empty()) html += fmt::format("<p class=\"equation\"><code>{}</code></p>\n", escaped(rewrite.text));
  if (rewrite.drawn == nullptr || rewrite.drawn->precondition.empty()) return html;
  html += "<p>It holds wherever</p>\n<ul class=\"conditions\">\n";
  for (const Constraint& constraint : rewrite.drawn->precondition)
    html += fmt::format("<li><code>{}</code> <span>{}</span></li>\n", escaped(to_string(constraint)),
                        escaped(gallery::in_words(constraint)));
  return html + "</ul>\n";
}

std::string step_html(const OptimizationStory& story, std::size_t k, const OptimizationDrawings& drawings) {
  const auto& rewrite = story.rewrites[k];
  std::string badges = fmt::format("<span class=\"badge gain\">{} &rarr; {}</span>", microseconds(rewrite.before_us),
                                   microseconds(rewrite.after_us));
  if (!rewrite.rule_class.empty())
    badges += fmt::format("<span class=\"badge\">{}</span>", escaped(rewrite.rule_class));
  if (rewrite.drawn != nullptr)
    badges += fmt::format("<span class=\"badge\">trust: {}</span>", name_of(rewrite.drawn->trust));
  std::string drawing;
  if (!drawings.steps[k].empty()) {
    drawing = frame_html(drawings.steps[k], fmt::format("The graph around rewrite {}, before and after it", k + 1));
  } else if (drawings.missing.empty() && story.before != nullptr) {
    drawing =
        "<p class=\"quiet\">No drawing: it changed work on weights alone, or more nodes than can be looked at.</p>\n";
  }
  return fmt::format(
      "<article class=\"step\" id=\"rewrite-{0}\" aria-labelledby=\"rewrite-{0}-title\">\n<h3 "
      "id=\"rewrite-{0}-title\">{0}. {1}</h3>\n<p class=\"badges\">{2}</p>\n{3}{4}</article>\n",
      k + 1, escaped(rewrite.rule), badges, drawing, rule_html(rewrite, drawings.rules[k]));
}

constexpr std::string_view kKey =
    "<ul class=\"key\"><li><i class=\"gone\"></i>goes</li><li><i class=\"new\"></i>comes</li><li><i "
    "class=\"touched\"></i>stays, with other weights</li><li><i></i>stays as it is</li></ul>\n";

std::string steps_section(const OptimizationStory& story, const OptimizationDrawings& drawings) {
  if (story.rewrites.empty()) return "";
  std::string steps;
  const std::size_t shown = drawings.steps.size();
  for (std::size_t k = 0; k < shown; ++k) steps += step_html(story, k, drawings);
  std::string before =
      "<p>Each rewrite replaces the part of the graph that its rule&#39;s source matches by the rule&#39;s target.";
  if (shown < story.rewrites.size())
    before += fmt::format(" The first {} of {} are shown.", shown, story.rewrites.size());
  before += "</p>\n";
  before += drawings.missing.empty()
                ? std::string(kKey)
                : fmt::format("<p class=\"quiet\">No drawings: {}.</p>\n", escaped(drawings.missing));
  return steps_html("steps", "Rewrite by rewrite", "Rewrite", before, steps);
}

/// Work on weights is done before the first run.
std::size_t operators_of_runs(const Graph& graph) {
  const std::vector<bool> weight = weight_only(graph);
  std::size_t count = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) count += !weight[i] && !graph.nodes()[i].is_input() ? 1 : 0;
  return count;
}

std::string graphs_section(const OptimizationStory& story, const OptimizationDrawings& drawings) {
  if (story.before == nullptr || drawings.before.empty()) return "";
  const auto side = [](std::string_view title, const Graph& graph, const std::string& svg) {
    return fmt::format("<figure><figcaption>{}: {} operators</figcaption>{}</figure>\n", title,
                       operators_of_runs(graph),
                       frame_html(svg, fmt::format("The graph {}", title == "Before" ? "before" : "after")));
  };
  return section_html(
      "graph", "The whole graph",
      fmt::format(
          "<p>What a rewrite touched has a colour. Weights, and work on them that is done before the first run, are "
          "left "
          "out; of large graphs only what lies around the changes is drawn.</p>\n<div class=\"two\">{}{}</div>\n",
          side("Before", *story.before, drawings.before), side("After", *story.after, drawings.after)));
}

/// A search that has found nearly all early is seen by the logarithm of time.
std::string curve_section(const OptimizationStory& story) {
  if (story.curve.size() < 2) return "";
  const auto& curve = story.curve;
  plot::Lines lines;
  lines.title = fmt::format("Best cost over time, from {} to {}", microseconds(curve.front().best_us),
                            microseconds(curve.back().best_us));
  lines.y = "microseconds";
  lines.steps = true;
  double first = 0, last = 0;  // When something better than the start was found, first and last.
  for (const auto& moment : curve) {
    if (moment.best_us >= curve.front().best_us || !(moment.seconds > 0)) continue;
    if (first == 0) first = moment.seconds;
    if (moment.best_us > curve.back().best_us) last = moment.seconds;
  }
  lines.log_x = first > 0 && std::max(first, last) < curve.back().seconds / 5;
  lines.log_y = curve.back().best_us > 0 && curve.front().best_us / curve.back().best_us > 20;
  lines.x = lines.log_x ? "seconds, logarithmic" : "seconds";
  lines.series.emplace_back();
  for (const auto& moment : curve)
    lines.series.back().points.emplace_back(lines.log_x ? std::max(moment.seconds, first / 2) : moment.seconds,
                                            moment.best_us);
  return section_html("curve", "Best cost over time",
                      fmt::format("<p>Search {}, cost {}: {} candidates.</p>\n{}", escaped(story.search),
                                  escaped(story.cost), grouped(curve.back().candidates), plot::lines_html(lines)));
}

std::string rewrites_section(const OptimizationStory& story, std::size_t shown) {
  if (story.rewrites.empty()) return section_html("rewrites", "All rewrites", "<p>No rewrite makes it cheaper.</p>\n");
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < story.rewrites.size(); ++i) {
    const auto& step = story.rewrites[i];
    const std::string name = escaped(step.rule);
    rows.push_back(
        {fmt::format("{}", i + 1),
         fmt::format("{}<br><code>{}</code>",
                     i < shown ? fmt::format("<a href=\"#rewrite-{}\">{}</a>", i + 1, name) : name, escaped(step.text)),
         microseconds(step.before_us), microseconds(step.after_us), gain_text(step.before_us, step.after_us)});
  }
  const TableColumn columns[] = {{"number", true}, {"rule"}, {"cost before", true}, {"after", true}, {"gain", true}};
  return section_html("rewrites", "All rewrites", table_html("All rewrites", columns, rows));
}

}  // namespace

Result<std::string> optimization_page(const OptimizationStory& story) {
  REWRIGHT_TRY(const OptimizationDrawings drawings, drawings_of(story));
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"lede\">What <code>rewright optimize</code> made of it.</p>\n",
                                 escaped(story.model));
  if (!story.facts.empty()) body += section_html("facts", "What came of it", facts_html(story.facts));
  body += steps_section(story, drawings) + graphs_section(story, drawings) + curve_section(story) +
          rewrites_section(story, drawings.steps.size());
  return page_html(story.model, body);
}

}  // namespace rewright
