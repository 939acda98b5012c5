#include "report/tuning.h"

#include <algorithm>
#include <cmath>

#include "report/gallery/html.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/roofline_plot.h"

namespace rewright {
namespace {

using gallery::escaped;

constexpr std::size_t kMostBars = 24, kMostCurves = 8;
/// Kernels whose schedules are shown step by step.
constexpr std::size_t kMostStepped = 40;

std::string us_text(double us) { return std::isfinite(us) ? fmt::format("{:.{}f}", us, us < 100 ? 2 : 0) : "-"; }

/// For plots: the begin and the end of a long name.
std::string short_name(const std::string& name) {
  constexpr std::size_t kMost = 24, kEnd = 8;
  if (name.size() <= kMost) return name;
  return name.substr(0, kMost - kEnd - 1) + "\u2026" + name.substr(name.size() - kEnd);
}

std::string table_of(const TuningReport& report) {
  std::vector<TableRow> rows;
  for (std::size_t k = 0; k < report.kernels.size(); ++k) {
    const TunedKernel& kernel = report.kernels[k];
    rows.push_back({fmt::format("<a href=\"#kernel-{}\">{}</a>", k + 1, escaped(kernel.name)),
                    fmt::format("{:.0f}", kernel.count), us_text(kernel.unscheduled_us), us_text(kernel.one_shot_us),
                    us_text(kernel.best_us),
                    fmt::format("{:.2f}", std::isfinite(kernel.one_shot_us) ? kernel.one_shot_us / kernel.best_us : 1),
                    fmt::format("{}", kernel.trials)});
  }
  const TableColumn columns[] = {
      {"kernel"},         {"times", true}, {"us, unscheduled", true}, {"us, without a search", true},
      {"us, best", true}, {"gain", true},  {"trials", true}};
  return table_html("Kernels", columns, rows);
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
    bars.push_back({kernel.name, us, fmt::format("{} us, {:.0f} %", us_text(us), 100 * us / report.best_us)});
  }
  if (rest > 0) bars.push_back({"all others", rest, us_text(rest) + " us"});
  return plot::bars_html("Where time goes, with the best schedules", bars);
}

/// Of a search whose first schedules are much slower than its best, by logarithms.
std::string curve_of(const TuningReport& report) {
  constexpr double kManyTimes = 8;
  plot::Lines lines{"All kernels of a run", "trials", "us", false, false, true, {{"best so far", report.curve}}};
  double greatest = 0;
  for (const auto& [trials, us] : report.curve)
    if (std::isfinite(us)) greatest = std::max(greatest, us);
  lines.log_y = greatest > kManyTimes * report.best_us;
  if (lines.log_y) lines.y = "us, logarithmic";
  return plot::lines_html(lines);
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
  return plot::lines_html(lines);
}

/// From what the search found of all kernels, those that take most in front.
std::string roofline_of(const TuningReport& report) {
  std::vector<RooflineKernel> points;
  for (const TunedKernel& kernel : report.kernels)
    points.push_back({kernel.name, kernel.best_us, kernel.operations, kernel.bytes});
  return roofline_html(points, report.machine, report.threads);
}

std::string schedule_of(const TunedKernel& kernel, std::size_t number) {
  const std::string text = kernel.schedule.empty() ? "none: unscheduled is fastest" : kernel.schedule;
  std::string body;
  if (!kernel.steps.empty() && number <= kMostStepped) {
    body += loop_steps_html(fmt::format("kernel-{}-step", number),
                            fmt::format("Kernel {}, transform by transform", number), kernel.steps);
    const auto [before, after] = changed_lines_html(kernel.loops, kernel.steps.back().after);
    body += fmt::format(
        "<div class=\"two loops\"><figure><figcaption>Loops before</figcaption><div class=\"lines\" tabindex=\"0\" "
        "role=\"group\" aria-label=\"Loops before all steps\">{}</div></figure><figure><figcaption>Loops after all "
        "steps</figcaption><div class=\"lines\" tabindex=\"0\" role=\"group\" aria-label=\"Loops after all steps\">{}"
        "</div></figure></div>\n",
        before, after);
  }
  return fmt::format(
      "<details id=\"kernel-{}\"{}><summary>{}: {} us</summary>\n{}<pre "
      "tabindex=\"0\"><code>{}</code></pre></details>\n",
      number, number == 1 ? " open" : "", escaped(kernel.name), us_text(kernel.best_us), body, escaped(text));
}

}  // namespace

std::string tuning_html(const TuningReport& report) {
  std::string body = fmt::format(
      "<h1>{}</h1>\n<p class=\"lede\">{} us of kernels without a search, <strong>{} us</strong> with the best "
      "schedules: "
      "{:.2f} times as fast. {}. {}. Machine: {}.</p>\n",
      escaped(report.title), us_text(report.one_shot_us), us_text(report.best_us), report.one_shot_us / report.best_us,
      escaped(report.outcomes), escaped(report.times), escaped(report.machine.processor));
  body += section_html("curve", "All kernels of a run, microseconds after so many trials", curve_of(report));
  body += section_html("time", "Where time goes, with the best schedules", bars_of(report));
  if (const std::string roofline = roofline_of(report); !roofline.empty())
    body += section_html("roofline", "What the machine allows",
                         "<p>Each point is a kernel with its best schedule; numbers are places in the table. On a roof "
                         "the machine allows no more.</p>\n" +
                             roofline);
  body += section_html("kernels", "Kernels", table_of(report));
  body += section_html("curves", "The best of each kernel so far, by its best in the end", curves_of(report));
  std::string schedules;
  for (std::size_t k = 0; k < report.kernels.size(); ++k) schedules += schedule_of(report.kernels[k], k + 1);
  body += section_html("schedules", "The best schedules", schedules);
  return page_html(report.title, body);
}

}  // namespace rewright
