// The report's page of one experiment.
#include <regex>

#include "base/files.h"
#include "experiment/site_pages.h"
#include "report/gallery/html.h"

namespace rewright::experiment {
namespace {

using gallery::escaped;
using gallery::file_name;
using gallery::scrolling;

/// A page stays small: what is larger becomes a file beside it.
constexpr std::size_t kDrawingBytes = 25'000;
constexpr std::size_t kLongTable = 40;

std::string verdict_cell(const ClaimFinding& finding) {
  const Claim& claim = *finding.claim;
  std::string html = badge(finding.answer);
  const auto add = [&](const std::string& text) { html += fmt::format("<small>{}</small>", escaped(text)); };
  if (const std::string why = reason(finding); !why.empty()) add(why);
  if (finding.unexpected) add("outside what was expected");
  if (!claim.criterion.empty()) add("holds if: " + claim.criterion);
  if (!claim.note.empty()) add(claim.note);
  return html;
}

std::string claims_table_of(const Findings& findings) {
  std::string rows;
  for (const ClaimFinding& finding : findings.claims)
    rows += fmt::format("<tr id=\"{}\"><td>{}<small>{}</small></td><td>{}</td><td>{}</td></tr>\n",
                        file_name(finding.claim->id), escaped(finding.claim->claim), escaped(finding.claim->source),
                        compared(finding), verdict_cell(finding));
  return fmt::format(
      "<table class=\"claims\"><thead><tr><th scope=\"col\">claim</th><th scope=\"col\">figures</th><th "
      "scope=\"col\">verdict</th></tr></thead>\n<tbody>\n{}</tbody></table>\n",
      rows);
}

std::string table_html(const ShownTable& table, const std::string& file) {
  std::string head, body;
  for (std::size_t c = 0; c < table.header.size(); ++c)
    head += fmt::format("<th scope=\"col\"{}>{}</th>", table.to_the_right[c] ? " class=\"figure\"" : "",
                        escaped(table.header[c]));
  for (const auto& line : table.cells) {
    body += "<tr>";
    for (std::size_t c = 0; c < line.size(); ++c)
      body += fmt::format("<td{}>{}</td>", table.to_the_right[c] ? " class=\"figure\"" : "", escaped(line[c]));
    body += "</tr>\n";
  }
  const std::string html =
      scrolling(table.title, fmt::format("<table><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table>", head, body));
  const std::string title = fmt::format("<h3>{} (<a href=\"{}\">CSV</a>)</h3>\n", escaped(table.title), file);
  if (table.cells.size() <= kLongTable) return title + html;
  return fmt::format("{}<details><summary>{} lines</summary>\n{}</details>\n", title, table.cells.size(), html);
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

std::string plots_html(const Findings& findings) {
  std::string html;
  for (const Plotted& plotted : plots_of(findings))
    html += fmt::format("<figure class=\"plot\" tabindex=\"0\"><figcaption>{}</figcaption>\n{}</figure>\n",
                        escaped(plotted.title), plotted.html);
  return html;
}

std::string tables_html(const Findings& findings) {
  const Manifest& manifest = *findings.manifest;
  std::string html;
  for (std::size_t i = 0; i < manifest.tables.size(); ++i) {
    const ShownTable table = shown(findings, manifest.tables[i]);
    if (!table.cells.empty())
      html += table_html(table, fmt::format("{}/table-{}.csv", file_name(manifest.name), i + 1));
  }
  return html;
}

/// Graphviz names the parts of each drawing alike; in a page an id is there once.
std::string without_ids(const std::string& svg) {
  static const std::regex id(R"re((<g) id="[^"]*")re");
  return std::regex_replace(svg, id, "$1");
}

Result<std::string> drawings_html(const SiteEntry& entry, std::vector<std::pair<std::string, std::string>>& aside) {
  std::string html;
  const std::string folder = file_name(entry.findings->manifest->name);
  for (const auto& [file, title] : entry.findings->drawings) {
    REWRIGHT_TRY(std::string svg, read_file(entry.results + "/" + file));
    if (svg.size() > kDrawingBytes) {
      html += fmt::format("<div><h3>{}</h3><p><a href=\"{}/{}\">Open the drawing</a> ({} kB)</p></div>\n",
                          escaped(title), folder, file_name(file), svg.size() / 1000);
      aside.emplace_back(file_name(file), std::move(svg));
    } else {
      html += fmt::format(
          "<div><h3>{0}</h3><div class=\"drawing\" role=\"group\" tabindex=\"0\" aria-label=\"{0}\">{1}</div></div>\n",
          escaped(title), without_ids(svg));
    }
  }
  return html.empty() ? html : "<div class=\"pair\">\n" + html + "</div>\n";
}

std::string neighbours(std::span<const SiteEntry> entries, std::size_t at) {
  const auto link = [&](std::size_t to, std::string_view rel, std::string_view words) {
    return fmt::format("<a rel=\"{}\" href=\"{}\">{} {}</a>", rel, page_of(*entries[to].findings), words,
                       escaped(entries[to].findings->manifest->name));
  };
  return fmt::format(
      "<nav class=\"crumbs\" aria-label=\"Experiments\"><a href=\"index.html#experiments\">All experiments</a><span "
      "class=\"neighbours\">{}{}</span></nav>\n",
      at > 0 ? link(at - 1, "prev", "Previous:") : "", at + 1 < entries.size() ? link(at + 1, "next", "Next:") : "");
}

}  // namespace

Result<std::string> experiment_page(std::span<const SiteEntry> entries, std::size_t at,
                                    std::vector<std::pair<std::string, std::string>>& aside) {
  const Findings& findings = *entries[at].findings;
  const Manifest& manifest = *findings.manifest;
  REWRIGHT_TRY(const std::string drawings, drawings_html(entries[at], aside));
  std::string contents, sections;
  const auto add = [&](const char* id, const char* title, const std::string& html) {
    if (html.empty()) return;
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, title);
    sections += fmt::format("<section><h2 id=\"{}\">{}</h2>\n{}</section>\n", id, title, html);
  };
  add("all-claims", "Claims", claims_table_of(findings));
  add("plots", "Plots", plots_html(findings));
  add("tables", "Tables", tables_html(findings));
  add("drawings", "Drawings", drawings);
  return site_frame(
      "Rewright: " + manifest.title, "",
      neighbours(entries, at) +
          fmt::format("<h1>{}</h1>\n<p class=\"lede\">{}</p>\n", escaped(manifest.title), escaped(manifest.question)) +
          "<ul class=\"contents\">" + contents + "</ul>\n" + sections + where_from(findings));
}

}  // namespace rewright::experiment
