#include <rewright/rule/rule.h>

#include <cmath>

#include "interchange/interchange.h"
#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/gallery/words.h"
#include "report/theorem_page.h"

namespace rewright::gallery {
namespace {

std::string row(const std::vector<std::string>& cells, std::string_view element = "td") {
  std::string text = "<tr>";
  for (const std::string& cell : cells) text += fmt::format("<{0}>{1}</{0}>", element, cell);
  return text + "</tr>\n";
}

std::string table(const std::vector<std::string>& head, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>{}</thead>\n<tbody>\n{}</tbody></table></div>\n",
      row(head, "th"), rows);
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", id, title,
      body);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
}

// --- the head --------------------------------------------------------------------------------------------------

std::string head(const Site& site, const SiteRule& rule, std::size_t position) {
  const std::size_t dash = std::min(rule.text.name.rfind('-'), rule.text.name.size());
  std::string neighbours;
  if (position > 0)
    neighbours +=
        fmt::format("<a rel=\"prev\" href=\"../{}\">&larr; previous</a>", rule_file(site.rules[position - 1].text));
  if (position + 1 < site.rules.size())
    neighbours +=
        fmt::format("<a rel=\"next\" href=\"../{}\">next &rarr;</a>", rule_file(site.rules[position + 1].text));
  std::string badges = fmt::format("<span class=\"badge {0}\">{1}</span>", escaped(rule.text.trust),
                                   rule.text.trust == "solver" ? "a solver&#39;s word"
                                   : rule.text.trust == "none" ? "not proved"
                                                               : "proof replayed");
  if (!rule.proved_by.empty()) badges += fmt::format("<span class=\"badge\">{}</span>", escaped(rule.proved_by));
  badges += fmt::format("<span class=\"badge\">{}</span>", counted(size_of(rule.text), "operator", "operators"));
  if (!rule.text.precondition.empty()) badges += "<span class=\"badge condition\">conditional</span>";
  if (!rule.uses.empty())
    badges += fmt::format("<span class=\"badge gain\">gained {}</span>", microseconds(rule.gain_us));
  return fmt::format(
      "<nav class=\"crumbs\" aria-label=\"Rules\"><a href=\"../index.html\">Rules</a> <span>{} of {}</span>"
      "<span class=\"neighbours\">{}</span></nav>\n<h1>{}<small>{}</small></h1>\n<p class=\"badges\">{}</p>\n",
      grouped(position + 1), grouped(site.rules.size()), neighbours, escaped(rule.text.name.substr(0, dash)),
      escaped(rule.text.name.substr(dash)), badges);
}

std::string sides(const SiteRule& rule, const Drawing* drawing) {
  if (drawing == nullptr) return "";
  return fmt::format(
      "<div class=\"sides\">\n<figure><figcaption>Source</figcaption>\n<div class=\"scroll\" tabindex=\"0\" "
      "role=\"img\" "
      "aria-label=\"{0}\">{1}</div></figure>\n<div class=\"becomes\" aria-label=\"becomes\">&rArr;</div>\n"
      "<figure><figcaption>Target</figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"img\" "
      "aria-label=\"{2}\">{3}"
      "</div></figure>\n</div>\n",
      escaped(rule.text.source), drawing->source, escaped(rule.text.target), drawing->target);
}

// --- sections --------------------------------------------------------------------------------------------------

std::string condition(const SiteRule& rule) {
  std::string body = "<p>Inputs: ";
  for (std::size_t i = 0; i < rule.rule.inputs.size(); ++i) {
    const PatternInput& input = rule.rule.inputs[i];
    body += fmt::format("{}<var class=\"in{}\">{}</var> of rank {}", i == 0 ? "" : ", ", i % 8, escaped(input.name),
                        input.rank);
  }
  if (rule.rule.inputs.empty()) body += "none";
  body += ". ";
  if (rule.rule.precondition.empty())
    return section("condition", "When it holds",
                   body + "For all sizes at which the source is defined; there is nothing more to check.</p>\n");
  body += "Wherever the source is defined, and</p>\n<ul class=\"conditions\">\n";
  for (const Constraint& constraint : rule.rule.precondition)
    body += fmt::format("<li><code>{}</code> <span>{}</span></li>\n", escaped(to_string(constraint)),
                        escaped(in_words(constraint)));
  return section("condition", "When it holds", body + "</ul>\n");
}

std::string uses(const SiteRule& rule) {
  if (rule.uses.empty())
    return section(
        "uses", "Where it paid",
        "<p class=\"quiet\">It was of use in no model that <code>rewright optimize</code> has seen with this "
        "store.</p>\n");
  std::string rows;
  for (const UseRecord& use : rule.uses) {
    const double share = use.model_before_us > 0 ? use.gain_us / use.model_before_us * 100 : 0;
    rows +=
        row({escaped(use.model), escaped(use.search), escaped(use.cost), grouped(static_cast<std::uint64_t>(use.times)),
             microseconds(use.gain_us), fmt::format("{:.1f} %", share),
             fmt::format("{} &rarr; {}", microseconds(use.model_before_us), microseconds(use.model_after_us))});
  }
  return section(
      "uses", "Where it paid",
      table({"model", "search", "cost model", "times", "gain", "of the model", "the model, with all rules"}, rows));
}

std::string verdicts(const SiteRule& rule) {
  std::string rows;
  for (const VerdictRecord& record : rule.verdicts) {
    const char* kind = name_of(record.verdict.kind);
    const bool refuted = record.verdict.kind == VerdictKind::kRefuted;
    const char* note =
        refuted && !rule.rule.precondition.empty() ? " <small>(outside the rule&#39;s condition)</small>" : "";
    rows += row({fmt::format("{} <small>{}</small>", escaped(record.verifier), escaped(record.version)),
                 fmt::format("<span class=\"badge {0}\">{0}</span>", kind), escaped(record.verdict.reason) + note,
                 grouped(record.budget.work),
                 record.verdict.seconds > 0 ? microseconds(record.verdict.seconds * 1e6) : "&ndash;"});
  }
  if (rows.empty())
    return section("verdicts", "Verdicts",
                   fmt::format("<p class=\"quiet\">No verifier was asked about it as a goal.{}</p>\n",
                               rule.text.certificate.empty() ? "" : " The proof below is its own."));
  return section("verdicts", "Verdicts", table({"verifier", "verdict", "what it said", "budget", "time"}, rows));
}

std::string proof(const Site& site, const RulePageInput& input) {
  if (!input.readings.empty()) {
    std::string body =
        "<p>From the definitions of the operators, without axioms: at each index both sides are the same sum. The "
        "certificate was replayed here.</p>\n";
    for (std::size_t output = 0; output < input.readings.size(); ++output) {
      if (input.readings.size() > 1) body += fmt::format("<h3>Output {}</h3>\n", output);
      body += reading_html(input.readings[output], "", "");
    }
    return section("proof", "The proof", body);
  }
  if (input.proof.empty())
    return section("proof", "The proof", fmt::format("<p class=\"quiet\">{}</p>\n", escaped(input.proof_missing)));
  std::size_t steps = 0;
  for (const ProofChain& chain : input.proof) steps += chain.steps.size();
  return section("proof", "The proof",
                 fmt::format("<p>{}. Each uses one axiom at one place: <mark>what it takes</mark> becomes <ins>what it "
                             "makes</ins>; what the "
                             "axiom's variables stand for is not marked.</p>\n{}",
                             counted(steps, "step", "steps"), proof_html(input.proof, site.axioms)));
}

std::string derivations(const Site& site, const SiteRule& rule) {
  constexpr std::size_t kMost = 200;
  std::string body;
  if (!rule.derives.empty()) {
    body += fmt::format(
        "<p>{} from it and others of the library, and so {} left out:</p>\n<ul "
        "class=\"derived\" tabindex=\"0\">\n",
        counted(rule.derives.size(), "proved rule follows", "proved rules follow"),
        rule.derives.size() == 1 ? "is" : "are");
    for (std::size_t i = 0; i < std::min(kMost, rule.derives.size()); ++i) {
      const Derived& derived = site.derived[rule.derives[i]];
      body +=
          fmt::format("<li><code>{}</code> <small>{}; from the library in {}{}</small></li>\n", escaped(derived.text),
                      escaped(derived.reason), counted(static_cast<std::uint64_t>(derived.steps), "step", "steps"),
                      derived.forward ? ", each from left to right" : "");
    }
    body += "</ul>\n";
    if (rule.derives.size() > kMost)
      body += fmt::format("<p class=\"quiet\">and {} more.</p>\n", grouped(rule.derives.size() - kMost));
  }
  if (site.derived.empty())
    body += "<p class=\"quiet\">No pruner of this campaign asked which rules follow from which.</p>\n";
  else if (rule.derives.empty())
    body += "<p class=\"quiet\">No rule was left out for its sake.</p>\n";
  if (!site.derived.empty())
    body +=
        "<p class=\"quiet\">No derivation of this rule from rules before it was found within the pruners' limits, so "
        "it is in the library. (Of an equation that stays, the library has both directions.)</p>\n";
  return section("library", "What it derives, and what derives it", body);
}

std::string provenance(const SiteRule& rule) {
  std::string rows;
  for (const FoundAs& found : rule.found) {
    std::string how = found.reversed ? "right to left" : "left to right";
    if (found.numbers) how += ", sizes that nothing determines kept as numbers";
    rows += row({grouped(static_cast<std::uint64_t>(found.candidate.position)),
                 fmt::format("<code>{}</code>", escaped(found.candidate.id.substr(0, 8))),
                 fmt::format("{}", found.candidate.operators), how,
                 found.pruner.empty() ? "stayed" : fmt::format("removed by {}, came back", escaped(found.pruner)),
                 grouped(static_cast<std::uint64_t>(found.stands_for))});
  }
  std::string body;
  for (std::size_t i = 0; i < rule.campaigns.size(); ++i)
    body += (i == 0 ? "<p>Found by " : ", ") + escaped(rule.campaigns[i]);
  if (!rule.campaigns.empty()) body += ".</p>\n";
  body += rows.empty() ? "<p>No candidate led to it: it was read from a file, or is a more general form of rules that "
                         "were found. It was "
                         "proved again.</p>\n"
                       : table({"candidate", "id", "operators", "read", "pruners", "removed for its sake"}, rows);
  return section("provenance", "Where it comes from", body);
}

std::string forms(const SiteRule& rule) {
  const auto form = [](std::string_view title, const std::string& text) {
    return fmt::format("<details><summary>{}</summary><pre tabindex=\"0\"><code>{}</code></pre></details>\n", title,
                       escaped(text));
  };
  std::string body = form("Text (reads back to the same id)", rule.text.text);
  body += form("egg", to_egg(std::span(&rule.rule, 1)));
  body += form("SMT-LIB", to_smt2(std::span(&rule.rule, 1)));
  body += form("Example of sizes", rule.text.example);
  if (!rule.text.certificate.empty()) body += form("Certificate", rule.text.certificate);
  body += fmt::format("<p class=\"quiet\">id <code>{}</code></p>\n", escaped(rule.text.id));
  return section("forms", "In other words", body);
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string microseconds(double us) {
  const double size = std::abs(us);
  if (size >= 1e6) return fmt::format("{:.3g} s", us / 1e6);
  if (size >= 1e3) return fmt::format("{:.3g} ms", us / 1e3);
  return fmt::format("{:.3g} µs", us);
}

std::string rule_file(const RuleText& rule) { return fmt::format("rules/{}.html", file_name(rule.id)); }
std::string axiom_file(const std::string& name) { return fmt::format("axioms/{}.html", file_name(name)); }

std::string rule_page(const Site& site, const RulePageInput& input) {
  const SiteRule& rule = site.rules[input.position];
  std::string body = head(site, rule, input.position) + sides(rule, input.drawing);
  body += fmt::format("<p class=\"equation\"><code>{} <b>&rArr;</b> {}</code></p>\n", escaped(rule.text.source),
                      escaped(rule.text.target));
  const bool is_of_store = !site.store.empty();
  body += condition(rule);
  if (is_of_store) body += uses(rule) + verdicts(rule);
  body += proof(site, input);
  if (is_of_store) body += derivations(site, rule) + provenance(rule);
  body += forms(rule);
  return page({rule.text.name, "../", "rules", "assets/gallery.js", site.name}, body);
}

}  // namespace rewright::gallery
