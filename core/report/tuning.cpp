#include "report/tuning.h"

#include <algorithm>
#include <cmath>

#include "report/gallery/html.h"
#include "report/page.h"
#include "report/plot.h"

namespace rewright {
namespace {

using gallery::escaped;

constexpr std::size_t kMostBars = 24, kMostCurves = 8;

std::string us_text(double us) { return std::isfinite(us) ? fmt::format("{:.{}f}", us, us < 100 ? 2 : 0) : "-"; }

/// For plots: the begin and the end of a long name.
std::string short_name(const std::string& name) {
  constexpr std::size_t kMost = 24, kEnd = 8;
  if (name.size() <= kMost) return name;
  return name.substr(0, kMost - kEnd - 1) + "\u2026" + name.substr(name.size() - kEnd);
}

std::string table_of(const TuningReport& report) {
  std::string rows;
  for (const TunedKernel& kernel : report.kernels) {
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"figure\">{:.0f}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td "
        "class=\"figure\">{}</td>"
        "<td class=\"figure\">{:.2f}</td><td class=\"figure\">{}</td></tr>\n",
        escaped(kernel.name), kernel.count, us_text(kernel.unscheduled_us), us_text(kernel.one_shot_us),
        us_text(kernel.best_us), std::isfinite(kernel.one_shot_us) ? kernel.one_shot_us / kernel.best_us : 1,
        kernel.trials);
  }
  return "<div class=wide><table><thead><tr><th scope=col>kernel</th><th scope=col class=\"figure\">times</th><th "
         "scope=col "
         "class=\"figure\">us, unscheduled</th><th scope=col class=\"figure\">us, without a search</th><th scope=col "
         "class=\"figure\">us, best</th><th scope=col class=\"figure\">gain</th><th scope=col "
         "class=\"figure\">trials</th></tr></thead>"
         "<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

/// What each kernel takes of a run, all its calls together.
std::string bars_of(const TuningReport& report) {
  std::vector<plot::Bar> bars;
  double rest = 0;
  for (const TunedKernel& kernel : report.kernels) {
    const double us = kernel.count * kernel.best_us;
    if (!std::isfinite(us)) continue;
    if (bars.size() == kMostBars) {
      rest += us;
      continue;
    }
    bars.push_back(
        {short_name(kernel.name), us, fmt::format("{} us, {:.0f} %", us_text(us), 100 * us / report.best_us)});
  }
  if (rest > 0) bars.push_back({"all others", rest, us_text(rest) + " us"});
  return bars_svg("Where time goes, with the best schedules", bars);
}

/// By how much each kernel's best is above its last.
std::string curves_of(const TuningReport& report) {
  plot::Lines lines{
      "The best of each kernel, by its final best", "trials of the kernel", "times as slow", false, true, true, {}};
  for (const TunedKernel& kernel : report.kernels) {
    if (kernel.trials == 0 || lines.series.size() == kMostCurves) continue;
    plot::Series& series = lines.series.emplace_back(plot::Series{short_name(kernel.name), {}});
    for (const auto& [trials, us] : kernel.curve) {
      if (!std::isfinite(us)) continue;
      if (!series.points.empty() && series.points.back().first == trials) series.points.pop_back();
      series.points.emplace_back(trials, us / kernel.best_us);
    }
  }
  return lines_svg(lines);
}

std::string schedule_of(const TunedKernel& kernel) {
  return fmt::format(
      "<details><summary>{}</summary><div class=sides><section><h3>Schedule</h3><pre>{}</pre></section><section>"
      "<h3>Loops before</h3><pre>{}</pre></section><section><h3>Loops after</h3><pre>{}</pre></section></div>"
      "</details>\n",
      escaped(kernel.name), escaped(kernel.schedule.empty() ? "none: unscheduled is fastest" : kernel.schedule),
      escaped(kernel.loops_before), escaped(kernel.loops_after));
}

}  // namespace

std::string tuning_html(const TuningReport& report) {
  std::string body = fmt::format(
      "<h1>{0}</h1>\n<p>{1} us of kernels without a search, <strong>{2} us</strong> with the best schedules: "
      "{3:.2f} "
      "times as fast. {4}. {5}.</p>\n<p class=soft>{6}"
      "</p>\n",
      escaped(report.title), us_text(report.one_shot_us), us_text(report.best_us), report.one_shot_us / report.best_us,
      escaped(report.outcomes), escaped(report.times), escaped(report.machine));
  body += "<h2>All kernels of a run, microseconds after so many trials</h2>\n";
  body +=
      plot::lines_svg({"All kernels of a run", "trials", "us", false, false, true, {{"best so far", report.curve}}});
  body += "<h2>Where time goes, with the best schedules</h2>\n" + bars_of(report);
  body += "<h2>Kernels</h2>\n" + table_of(report);
  body += "<h2>The best of each kernel so far, by its best in the end</h2>\n" + curves_of(report);
  body += "<h2>The best schedules</h2>\n";
  for (const TunedKernel& kernel : report.kernels) body += schedule_of(kernel);
  return page_html(report.title, body);
}

}  // namespace rewright
