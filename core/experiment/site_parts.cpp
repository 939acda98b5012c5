#include "experiment/site_parts.h"

#include <algorithm>
#include <array>

#include "report/gallery/assets.h"
#include "report/gallery/html.h"

namespace rewright::experiment {
namespace {

using gallery::escaped;
using gallery::file_name;

constexpr std::array kAnswers = {Answer::kReproduced, Answer::kNotReproduced, Answer::kNotComparable, Answer::kNotRun};

std::string compared_line(std::string_view who, const std::string& figure, std::optional<double> value, double most,
                          const std::optional<double>& limit) {
  std::string drawn;
  if (value) {
    drawn = fmt::format("<i style=\"--long:{:.1f}%", 100 * std::max(*value, 0.0) / most);
    if (limit) drawn += fmt::format(";--limit:{:.1f}%;--limited:block", 100 * *limit / most);
    drawn += "\"></i>";
  }
  return fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}{}</dd></div>", who, who, drawn, escaped(figure));
}

}  // namespace

std::string key_of(Answer answer) {
  std::string key = name_of(answer);
  std::ranges::replace(key, ' ', '-');
  return key;
}

std::string badge(Answer answer) {
  const std::string_view colour = answer == Answer::kReproduced      ? "proved"
                                  : answer == Answer::kNotReproduced ? "refuted"
                                  : answer == Answer::kNotComparable ? "condition"
                                                                     : "";
  return fmt::format("<span class=\"badge {}\">{}</span>", colour, name_of(answer));
}

std::string compared(const ClaimFinding& finding) {
  const Claim& claim = *finding.claim;
  std::optional<double> paper = claim.paper_value, here = finding.value, limit;
  if (paper && here && std::max(*paper, *here) > 0) {
    limit = claim.at_least ? claim.at_least : claim.at_most;
    if (limit && *limit < 0) limit.reset();
  } else {
    paper.reset();
    here.reset();
  }
  const double most = std::max({paper.value_or(0), here.value_or(0), limit.value_or(0)});
  std::string lines;
  if (claim.paper != "-") lines = compared_line("paper", claim.paper, paper, most, limit);
  return fmt::format("<dl class=\"compared\">{}{}</dl>", lines, compared_line("here", finding.ours, here, most, limit));
}

std::string reason(const ClaimFinding& finding) {
  if (finding.because.empty()) return "";
  const std::string records = finding.recorded.empty() ? "" : fmt::format("in the records of {}, ", finding.recorded);
  return records + "because " + finding.because;
}

std::string counts_text(std::span<const ClaimFinding* const> claims) {
  std::string text;
  for (const Answer answer : kAnswers) {
    const auto count =
        std::ranges::count_if(claims, [&](const ClaimFinding* claim) { return claim->answer == answer; });
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(answer));
  }
  return text;
}

std::string page_of(const Findings& findings) { return file_name(findings.manifest->name) + ".html"; }

std::string site_frame(const std::string& title, const std::string& menu, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}\n</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
      "<header class=\"bar\"><a class=\"brand\" href=\"index.html\">Rewright <span>experiments</span></a>"
      "<nav aria-label=\"Pages\"><a href=\"index.html#claims\">Claims</a><a "
      "href=\"index.html#experiments\">Experiments</a>{}</nav></header>\n"
      "<main id=\"main\">\n{}</main>\n<footer>Made by <code>rewright experiment "
      "report</code>.</footer>\n</body>\n</html>\n",
      escaped(title), gallery::style_sheet(), site_style(), menu, body);
}

}  // namespace rewright::experiment
