#include <filesystem>

#include "axiom/writer.h"
#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/theorem_page.h"

namespace rewright::gallery {
namespace {

std::string statement(const SiteAxiom& axiom) {
  if (axiom.axiom == nullptr) return {};
  const auto text = to_smt(*axiom.axiom);
  return text ? *text : std::string();
}

std::string file_of(const SiteAxiom& axiom) {
  if (axiom.axiom == nullptr) return "&ndash;";
  return escaped(std::filesystem::path(axiom.axiom->file).filename().string());
}

}  // namespace

std::string axioms_page(const Site& site) {
  std::string rows;
  for (const auto& [name, axiom] : site.axioms)
    rows += fmt::format("<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td class=\"figure\">{}</td></tr>\n",
                        axiom_file(name), escaped(name), file_of(axiom), grouped(axiom.rules.size()));
  std::string body = fmt::format(
      "<h1>{} axioms</h1>\n<p class=\"lede\">What the proofs of this library rest on, and how many rules need "
      "each.</p>\n",
      grouped(site.axioms.size()));
  if (!site.axioms_missing.empty())
    body += fmt::format("<p class=\"quiet\">Their statements are not shown: {}.</p>\n", escaped(site.axioms_missing));
  body += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>axiom</th><th>file</th><th class=\"figure\">rules "
      "that need it</th>"
      "</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      rows);
  return page({fmt::format("{}: axioms", site.name), "", "axioms", "", site.name}, body);
}

std::string axiom_page(const Site& site, const SiteAxiom& axiom) {
  constexpr std::size_t kMost = 100;
  std::string body = fmt::format(
      "<nav class=\"crumbs\" aria-label=\"Axioms\"><a href=\"../axioms.html\">Axioms</a></nav>\n"
      "<h1>{}</h1>\n",
      escaped(axiom.name));
  if (const std::string text = statement(axiom); !text.empty()) {
    body += fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(text));
    body += fmt::format("<p class=\"quiet\">{}, line {}. {}</p>\n", file_of(axiom), axiom.axiom->line,
                        escaped(axiom.axiom->source.empty() ? "" : "Source: " + axiom.axiom->source + "."));
  } else {
    body += fmt::format("<p class=\"quiet\">Its statement is not shown{}{}.</p>\n",
                        site.axioms_missing.empty() ? "" : ": ", escaped(site.axioms_missing));
  }
  if (const auto reading = axiom.axiom == nullptr ? std::nullopt : theorem::read_proof(*axiom.axiom, 6))
    body += fmt::format("<h2>From the definitions</h2>\n<p class=\"quiet\">For {}.</p>\n{}", escaped(reading->setting),
                        reading_html(reading->proof, reading->left, reading->right));
  body += fmt::format(
      "<h2>{} {} it</h2>\n<p><a class=\"button\" href=\"../index.html#axiom={}\">Search among them</a></p>\n<ul "
      "class=\"rules\">\n",
      grouped(axiom.rules.size()), axiom.rules.size() == 1 ? "rule needs" : "rules need", url_part(axiom.name));
  for (std::size_t i = 0; i < std::min(kMost, axiom.rules.size()); ++i) {
    const RuleText& rule = site.rules[axiom.rules[i]].text;
    body += fmt::format("<li><a href=\"../{}\"><code>{} &rArr; {}</code></a></li>\n", rule_file(rule),
                        escaped(rule.source), escaped(rule.target));
  }
  body += "</ul>\n";
  if (axiom.rules.size() > kMost)
    body += fmt::format("<p class=\"quiet\">and {} more.</p>\n", grouped(axiom.rules.size() - kMost));
  return page({axiom.name, "../", "axioms", "", site.name}, body);
}

}  // namespace rewright::gallery
