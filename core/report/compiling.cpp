#include "report/compiling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "report/gallery/html.h"
#include "report/page.h"
#include "report/plot.h"

namespace rewright {
namespace {

using gallery::escaped;

constexpr std::size_t kMostKernelBars = 16;

double us_of_all(const std::vector<CompiledKernel>& kernels) {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                         [](double sum, const CompiledKernel& call) { return sum + call.kernel.us; });
}

/// Of kernels of one name together, those that take most in front.
std::string shares_html(const std::vector<CompiledKernel>& kernels) {
  std::map<std::string, std::pair<double, int>> by_name;
  for (const CompiledKernel& call : kernels) {
    auto& [us, calls] = by_name[call.kernel.name];
    us += call.kernel.us;
    ++calls;
  }
  std::vector<std::pair<std::string, std::pair<double, int>>> sorted(by_name.begin(), by_name.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& each) { return each.second.first; });
  const double all = us_of_all(kernels);
  std::vector<plot::Bar> bars;
  double rest = 0;
  for (const auto& [name, time] : sorted) {
    const auto [us, calls] = time;
    if (bars.size() == kMostKernelBars) {
      rest += us;
      continue;
    }
    bars.push_back({calls > 1 ? fmt::format("{} ({} calls)", name, calls) : name, us,
                    fmt::format("{} us, {:.0f} %", kernel_us_text(us), 100 * us / all)});
  }
  if (rest > 0)
    bars.push_back({"all others", rest, fmt::format("{} us, {:.0f} %", kernel_us_text(rest), 100 * rest / all)});
  return plot::bars_html("Share of a run by kernel", bars);
}

std::string kernels_table(const std::vector<CompiledKernel>& kernels) {
  const double all = us_of_all(kernels);
  std::vector<TableRow> rows;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const CompiledKernel& call = kernels[k];
    rows.push_back({fmt::format("{}", k + 1), fmt::format("<code>{}</code>", escaped(call.kernel.name)),
                    escaped(call.result), kernel_us_text(call.kernel.us),
                    fmt::format("{:.1f} %", all > 0 ? 100 * call.kernel.us / all : 0), kernel_us_text(call.limit_us),
                    call.kernel.us > 0 ? fmt::format("{:.0f} %", 100 * call.limit_us / call.kernel.us) : "-"});
  }
  const TableColumn columns[] = {{"number", true}, {"kernel"},          {"result"},        {"us", true},
                                 {"share", true},  {"limit, us", true}, {"of limit", true}};
  return table_html("Kernels", columns, rows);
}

}  // namespace

std::string kernel_us_text(double us) {
  if (!std::isfinite(us)) return "-";
  return fmt::format("{:.{}f}", us, us < 1 ? 3 : us < 100 ? 2 : 0);
}

std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string rows;
  for (const auto& [what, much] : facts) rows += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(what), escaped(much));
  return rows.empty() ? "" : fmt::format("<dl class=\"facts\">\n{}</dl>\n", rows);
}

std::string compiling_html(const CompilingReport& report) {
  std::vector<CompiledKernel> kernels = report.kernels;
  std::ranges::stable_sort(kernels, std::greater(), [](const CompiledKernel& call) { return call.kernel.us; });
  std::string body =
      fmt::format("<h1>{} as C</h1>\n<p class=\"lede\">{}</p>\n", escaped(report.model), escaped(report.lede));
  if (!report.facts.empty()) body += section_html("facts", "What came of it", facts_html(report.facts));
  if (kernels.empty()) {
    body += section_html("kernels", "Kernels", "<p class=\"quiet\">Kernels were not timed one by one.</p>\n");
    return page_html(report.model, body);
  }
  body += section_html("time", "Where the time of a run goes", shares_html(kernels));
  std::vector<RooflineKernel> points;
  for (const CompiledKernel& call : kernels) points.push_back(call.kernel);
  if (const std::string roofline = roofline_html(points, report.machine, report.threads); !roofline.empty())
    body += section_html("roofline", "What the machine allows",
                         fmt::format("<p>Each point is a kernel; numbers are those of the table. On a roof the machine "
                                     "allows no more. Machine: {}.</p>\n{}",
                                     escaped(report.machine.processor), roofline));
  body +=
      section_html("kernels", "Kernels",
                   "<p>Least times, each among the others. The limit is what arithmetic or reading its tensors takes "
                   "at least.</p>\n" +
                       kernels_table(kernels));
  return page_html(report.model, body);
}

}  // namespace rewright
