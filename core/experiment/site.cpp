#include "experiment/site.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"
#include "experiment/run.h"
#include "report/gallery/assets.h"
#include "report/gallery/html.h"

namespace rewright::experiment {
namespace {

using gallery::escaped;
using gallery::file_name;

constexpr std::string_view kStyle =
    ".claims td:nth-child(2){min-width:15em}.claims td:last-child{min-width:13em}.plot svg{max-width:100%}"
    ".drawing{background:#fff;border:1px solid var(--line);border-radius:8px;overflow:auto;max-height:80vh;padding:8px}"
    ".drawing svg text{fill:#000;font-size:11px}.pair{display:grid;grid-template-columns:repeat(auto-fit,"
    "minmax(min(100%,340px),1fr));gap:14px}.plot svg.rw-plot .rw-cell,.plot svg.rw-plot .rw-none{opacity:1}"
    ".plot .rw-none{fill:none}section h2{scroll-margin-top:12px}"
    // On a phone a claim is a paragraph.
    "@media(max-width:720px){.claims thead{display:none}.claims,.claims tbody,.claims tr,.claims td{display:block;"
    "text-align:left}.claims td{border:0;padding:2px 0}.claims tr{border-bottom:1px solid var(--line);padding:10px 0}"
    ".claims td:nth-last-child(3)::before{content:'paper: '}.claims td:nth-last-child(2)::before{content:'here: '}}";

std::string_view badge_of(Answer answer) {
  switch (answer) {
    case Answer::kReproduced: return "proved";
    case Answer::kNotReproduced: return "refuted";
    case Answer::kNotComparable: return "condition";
    case Answer::kNotRun: break;
  }
  return "";
}

std::string tiles(std::span<const SiteEntry> entries) {
  std::array<std::size_t, 4> counts{};
  for (const SiteEntry& entry : entries)
    for (const ClaimFinding& claim : entry.findings->claims) ++counts[static_cast<std::size_t>(claim.answer)];
  std::string html = "<ul class=\"tiles\">\n";
  for (const Answer answer : {Answer::kReproduced, Answer::kNotReproduced, Answer::kNotComparable, Answer::kNotRun}) {
    const std::size_t count = counts[static_cast<std::size_t>(answer)];
    if (count > 0 || answer != Answer::kNotRun)
      html += fmt::format("<li><b>{}</b><span>{}</span></li>\n", count, name_of(answer));
  }
  return html + "</ul>\n";
}

std::string claim_row(const Findings& findings, const ClaimFinding& finding, bool linked) {
  const Claim& claim = *finding.claim;
  std::string verdict =
      fmt::format("<span class=\"badge {}\">{}</span>", badge_of(finding.answer), name_of(finding.answer));
  if (!finding.because.empty()) verdict += fmt::format("<br><small>because {}</small>", escaped(finding.because));
  if (finding.unexpected) verdict += "<br><small>outside what was expected</small>";
  if (!claim.criterion.empty()) verdict += fmt::format("<br><small>holds if: {}</small>", escaped(claim.criterion));
  if (!claim.note.empty()) verdict += fmt::format("<br><small>{}</small>", escaped(claim.note));
  const std::string name =
      linked ? fmt::format("<td><a href=\"#{0}\">{0}</a></td>", file_name(findings.manifest->name)) : "";
  return fmt::format("<tr>{}<td>{}<br><small>{}</small></td><td>{}</td><td class=\"figure\">{}</td><td>{}</td></tr>\n",
                     name, escaped(claim.claim), escaped(claim.source), escaped(claim.paper), escaped(finding.ours),
                     verdict);
}

std::string claims(std::span<const SiteEntry> entries, bool linked) {
  std::string rows;
  for (const SiteEntry& entry : entries)
    for (const ClaimFinding& finding : entry.findings->claims) rows += claim_row(*entry.findings, finding, linked);
  return fmt::format(
      "<div class=\"scroll\"><table class=\"claims\"><thead><tr>{}<th>claim</th><th>paper</th><th "
      "class=\"figure\">here</th>"
      "<th>verdict</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      linked ? "<th>experiment</th>" : "", rows);
}

std::string table_html(const ShownTable& table, const std::string& file) {
  std::string head, body;
  for (std::size_t c = 0; c < table.header.size(); ++c)
    head += fmt::format("<th{}>{}</th>", table.to_the_right[c] ? " class=\"figure\"" : "", escaped(table.header[c]));
  for (const auto& line : table.cells) {
    body += "<tr>";
    for (std::size_t c = 0; c < line.size(); ++c)
      body += fmt::format("<td{}>{}</td>", table.to_the_right[c] ? " class=\"figure\"" : "", escaped(line[c]));
    body += "</tr>\n";
  }
  const std::string html = fmt::format(
      "<div class=\"scroll\"><table><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n", head, body);
  const std::string title = fmt::format("{} (<a href=\"{}\">CSV</a>)", escaped(table.title), file);
  if (table.cells.size() <= 40) return fmt::format("<h3>{}</h3>\n{}", title, html);
  return fmt::format("<h3>{}</h3>\n<details><summary>{} lines</summary>\n{}</details>\n", title, table.cells.size(),
                     html);
}

std::string where_from(const Findings& findings) {
  const Manifest& manifest = *findings.manifest;
  std::string text =
      fmt::format("<p class=\"quiet\"><code>rewright experiment run {}{}</code>: {} of {} units",
                  escaped(manifest.name), findings.quick ? " --quick" : "", findings.done, findings.total);
  if (!findings.last_date.empty())
    text += fmt::format(" in {:.0f} s, ended {}; <a href=\"{}/results.jsonl\">raw results</a>", findings.seconds,
                        escaped(findings.last_date), file_name(manifest.name));
  for (const Json& setting : findings.settings) {
    const Json& machine = setting.at("machine");
    text +=
        fmt::format("; {}, {} threads, {} GiB, {}, Rewright {}, commit {}", escaped(machine.value("processor", "")),
                    machine.value("threads", 0), machine.value("memory_gib", 0), escaped(machine.value("system", "")),
                    escaped(setting.value("program", "")), escaped(commit_of(setting)));
  }
  return text + ".</p>\n";
}

Result<std::string> drawings(const SiteEntry& entry) {
  if (entry.findings->drawings.empty()) return std::string();
  std::string html;
  for (const auto& [file, title] : entry.findings->drawings) {
    REWRIGHT_TRY(const std::string svg, read_file(entry.results + "/" + file));
    html += fmt::format("<div><h3>{}</h3><div class=\"drawing\">{}</div></div>\n", escaped(title), svg);
  }
  return fmt::format("<details><summary>{} drawings</summary>\n<div class=\"pair\">{}</div></details>\n",
                     entry.findings->drawings.size(), html);
}

Result<std::string> section(const SiteEntry& entry) {
  const Findings& findings = *entry.findings;
  const Manifest& manifest = *findings.manifest;
  std::string html = fmt::format("<section><h2 id=\"{}\">{}</h2>\n<p class=\"lede\">{}</p>\n", file_name(manifest.name),
                                 escaped(manifest.title), escaped(manifest.question));
  html += claims(std::span(&entry, 1), false);
  for (const auto& [title, svg] : plots_of(findings))
    html += fmt::format("<figure class=\"plot\"><figcaption>{}</figcaption>\n{}</figure>\n", escaped(title), svg);
  for (std::size_t i = 0; i < manifest.tables.size(); ++i) {
    const ShownTable table = shown(findings, manifest.tables[i]);
    if (!table.cells.empty())
      html += table_html(table, fmt::format("{}/table-{}.csv", file_name(manifest.name), i + 1));
  }
  REWRIGHT_TRY(const std::string pictures, drawings(entry));
  return html + pictures + where_from(findings) + "</section>\n";
}

}  // namespace

Result<std::string> site_page(std::span<const SiteEntry> entries) {
  std::string body =
      "<h1>Claims, and whether they hold here</h1>\n<p class=\"lede\">What papers on superoptimizers of tensor "
      "programs "
      "claim, what this program measures, and the verdict. A claim that does not hold stays on this page, with what is "
      "known of the reason. Figures of a GPU are modelled, and say so.</p>\n" +
      tiles(entries) + claims(entries, true);
  for (const SiteEntry& entry : entries) {
    REWRIGHT_TRY(const std::string part, section(entry));
    body += part;
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Rewright: experiments</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}\n</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
      "<header class=\"bar\"><a class=\"brand\" href=\"index.html\">Rewright <span>experiments</span></a></header>\n"
      "<main id=\"main\">\n{}</main>\n<footer>Made by <code>rewright experiment "
      "report</code>.</footer>\n</body>\n</html>\n",
      gallery::style_sheet(), kStyle, body);
}

Status write_site(std::span<const SiteEntry> entries, const std::string& folder) {
  namespace fs = std::filesystem;
  REWRIGHT_TRY(const std::string page, site_page(entries));
  for (const SiteEntry& entry : entries) {
    const std::string own = folder + "/" + file_name(entry.findings->manifest->name);
    std::error_code failed;
    fs::create_directories(own, failed);
    if (failed) return make_error(ErrorCode::kIo, "the folder '{}' cannot be made: {}", own, failed.message());
    REWRIGHT_CHECK(write_outputs(*entry.findings, own));
    if (entry.findings->done == 0) continue;
    REWRIGHT_TRY(const std::string raw, read_file(entry.results + "/results.jsonl"));
    REWRIGHT_CHECK(write_file(own + "/results.jsonl", raw));
  }
  return write_file(folder + "/index.html", page);
}

}  // namespace rewright::experiment
