#include "report/loop_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/gallery/html.h"
#include "report/page.h"

namespace rewright {
namespace {

using gallery::escaped;

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string line_html(const std::string& line, std::string_view change) {
  return fmt::format("<div{}>{}</div>", change.empty() ? "" : fmt::format(" class=\"{}\"", change),
                     line.empty() ? " " : escaped(line));
}

std::string loops_html(std::string_view name, const std::string& lines) {
  return fmt::format(
      "<figure><figcaption>{0}</figcaption><div class=\"lines\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"{0}\">{1}</div></figure>\n",
      name, lines);
}

std::string loop_step_html(std::string_view id, std::size_t number, const LoopStep& step) {
  std::string facts;
  const auto fact = [&](std::string_view what, const std::string& text) {
    if (!text.empty()) facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", what, escaped(text));
  };
  fact("from", step.origin);
  fact("needs", step.needs);
  fact("found", step.found);
  fact("instead", step.instead);
  fact("gives", step.is_applied ? step.changes : "left out");
  const auto [before, after] = changed_lines_html(step.before, step.after);
  return fmt::format(
      "<article class=\"step\" id=\"{0}-{1}\" aria-labelledby=\"{0}-{1}-title\">\n<h3 id=\"{0}-{1}-title\">{1}. "
      "<code>{2}</code></h3>\n<dl class=\"facts\">\n{3}</dl>\n<div class=\"two loops\">{4}{5}</div></article>\n",
      id, number, escaped(step.transform), facts, loops_html("Loops before", before), loops_html("Loops after", after));
}

}  // namespace

std::pair<std::string, std::string> changed_lines_html(std::string_view before, std::string_view after) {
  const std::vector<std::string> a = lines_in(before), b = lines_in(after);
  // Longest common subsequence, from the ends.
  std::vector<std::vector<std::size_t>> most(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      most[i][j] = a[i] == b[j] ? most[i + 1][j + 1] + 1 : std::max(most[i + 1][j], most[i][j + 1]);
  std::pair<std::string, std::string> html;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      html.first += line_html(a[i++], "");
      html.second += line_html(b[j++], "");
    } else if (j == b.size() || (i < a.size() && most[i + 1][j] >= most[i][j + 1])) {
      html.first += line_html(a[i++], "gone");
    } else {
      html.second += line_html(b[j++], "new");
    }
  }
  return html;
}

std::string loop_steps_html(std::string_view id, std::string_view title, std::span<const LoopStep> steps) {
  std::string articles;
  for (std::size_t k = 0; k < steps.size(); ++k) articles += loop_step_html(id, k + 1, steps[k]);
  return steps_html(id, title, "Step", "", articles);
}

std::string schedule_html(const SchedulePage& page) {
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"lede\">{}</p>\n", escaped(page.title), escaped(page.lede));
  if (!page.steps.empty()) body += loop_steps_html("step", "Transform by transform", page.steps);
  const std::string end = page.steps.empty() ? page.loops : page.steps.back().after;
  const auto [before, after] = changed_lines_html(page.loops, end);
  body += section_html("whole", "The whole schedule",
                       fmt::format("<div class=\"two loops\">{}{}</div>\n", loops_html("Loops of the program", before),
                                   loops_html("Loops as they are scheduled", after)));
  body += section_html("schedule", "The schedule as text",
                       fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(page.schedule)));
  for (std::size_t k = 0; k < page.programs.size(); ++k)
    body += section_html(fmt::format("code-{}", k + 1), escaped(page.programs[k].first),
                         fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(page.programs[k].second)));
  return page_html(page.title, body);
}

}  // namespace rewright
