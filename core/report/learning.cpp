#include "report/learning.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "report/gallery/html.h"
#include "report/page.h"
#include "report/plot.h"

namespace rewright {
namespace {

using gallery::escaped;

constexpr std::size_t kWorst = 20;

/// "conv2d[groups=2] of data (1, 8, 7, 7), weight (8, 4, 3, 3), then relu", of a key
/// "|conv2d[groups=2]|data(1, 8, 7, 7)weight(8, 4, 3, 3)+0|relu|data(1, 8, 7, 7)".
std::string kernel_text(const std::string& key) {
  static const std::regex application(R"((?:^|\+)[0-9,. ]*\|([^|]+)\|((?:[a-z]+\([0-9, ]*\))*))");
  static const std::regex tensor(R"(([a-z]+)(\([0-9, ]*\)))");
  std::string text;
  for (std::sregex_iterator at(key.begin(), key.end(), application), end; at != end; ++at) {
    if (!text.empty()) {
      text += ", then " + at->str(1);
      continue;
    }
    const std::string inputs = at->str(2);
    text = at->str(1);
    for (std::sregex_iterator input(inputs.begin(), inputs.end(), tensor), last; input != last; ++input)
      text += (text == at->str(1) ? " of " : ", ") + input->str(1) + " " + input->str(2);
  }
  return text.empty() ? key : text;
}

std::vector<const PredictedKernel*> all_kernels(const LearningReport& report) {
  std::vector<const PredictedKernel*> all;
  for (const HeldOut& fold : report.folds) {
    for (const PredictedKernel& kernel : fold.kernels) all.push_back(&kernel);
  }
  return all;
}

double off(const PredictedKernel& kernel) { return std::abs(std::log(kernel.predicted_us / kernel.measured_us)); }

std::string scatter(const std::vector<const PredictedKernel*>& kernels) {
  plot::Lines lines{"Measured and predicted", "us, measured", "us, predicted", true, true, false, {}};
  plot::Series equal{"equal", {}}, roofline{"roofline", {}, false}, learned{"learned", {}, false};
  double least = INFINITY, most = 0;
  for (const PredictedKernel* kernel : kernels) {
    learned.points.emplace_back(kernel->measured_us, kernel->predicted_us);
    roofline.points.emplace_back(kernel->measured_us, kernel->roofline_us);
    least = std::min(least, kernel->measured_us);
    most = std::max(most, kernel->measured_us);
  }
  if (most > 0) equal.points = {{least, least}, {most, most}};
  lines.series = {std::move(learned), std::move(roofline), std::move(equal)};
  return plot::lines_html(lines);
}

/// Share of the kernels that lie within the range in which so many should, by a normal distribution.
std::string calibration(const std::vector<const PredictedKernel*>& kernels) {
  plot::Lines lines{
      "Calibration of the spread", "within, by the spread", "within, as measured", false, false, false, {}};
  plot::Series equal{"equal", {{0, 0}, {1, 1}}}, found{"learned", {}};
  for (int tenth = 0; tenth <= 20; ++tenth) {
    const double deviations = 0.15 * tenth;
    double within = 0, count = 0;
    for (const PredictedKernel* kernel : kernels) {
      if (kernel->spread_us <= 0) continue;
      count += 1;
      within += off(*kernel) <= deviations * kernel->spread_us / kernel->predicted_us ? 1 : 0;
    }
    if (count > 0) found.points.emplace_back(std::erf(deviations / std::sqrt(2.0)), within / count);
  }
  lines.series = {std::move(found), std::move(equal)};
  return plot::lines_html(lines);
}

std::string folds_table(const LearningReport& report) {
  std::vector<TableRow> rows;
  for (const HeldOut& fold : report.folds)
    rows.push_back({escaped(fold.name), fmt::format("{}", fold.kernels.size()),
                    fmt::format("{:.1f} %", 100 * fold.error), fmt::format("{:.2f}", fold.tau),
                    fmt::format("{:.1f} %", 100 * fold.roofline_error)});
  const TableColumn columns[] = {
      {"held out"}, {"kernels", true}, {"error", true}, {"tau", true}, {"the roofline's error", true}};
  return table_html("What was held out", columns, rows);
}

std::string worst_table(std::vector<const PredictedKernel*> kernels) {
  std::ranges::stable_sort(kernels, std::greater(), [](const PredictedKernel* kernel) { return off(*kernel); });
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < std::min(kWorst, kernels.size()); ++i)
    rows.push_back(
        {escaped(kernel_text(kernels[i]->kernel)), plot::number_text(kernels[i]->measured_us),
         plot::number_text(kernels[i]->predicted_us) + " &plusmn; " + plot::number_text(kernels[i]->spread_us),
         plot::number_text(kernels[i]->roofline_us)});
  const TableColumn columns[] = {{"kernel"}, {"us, measured", true}, {"predicted", true}, {"roofline", true}};
  return table_html("Kernels that it gets most wrong", columns, rows);
}

}  // namespace

std::string learning_html(const LearningReport& report) {
  const std::vector<const PredictedKernel*> kernels = all_kernels(report);
  std::string device = report.device;
  if (const std::size_t bar = device.find('|'); bar != std::string::npos) device.replace(bar, 1, ": ");
  std::string body = fmt::format(
      "<h1>{}</h1>\n<p class=\"lede\">Learned from measured kernels, asked about others: those held out by {}. "
      "Measured by "
      "{}. {}</p>\n",
      escaped(report.title), escaped(report.split), escaped(device), escaped(report.ceiling));
  body += section_html("scatter", "Measured and predicted", scatter(kernels));
  body += section_html("spread", "How true the spread is",
                       "<p>The share of kernels within a range of the prediction: by the model's own spread, and as "
                       "measured.</p>\n" +
                           calibration(kernels));
  body +=
      section_html("folds", "What was held out",
                   "<p>Errors are means of |predicted - measured| by measured; tau is Kendall's: 1 where all kernels "
                   "are in their order.</p>\n" +
                       folds_table(report));
  body += section_html("worst", "Kernels that it gets most wrong", worst_table(kernels));
  return page_html(report.title, body);
}

}  // namespace rewright
