#include <algorithm>

#include "report/gallery/html.h"
#include "report/gallery/pages.h"
#include "report/gallery/plots.h"

namespace rewright::gallery {
namespace {

template <class Map>
Counts counts_of(const Map& map) {
  Counts counts;
  for (const auto& [what, count] : map) counts.emplace_back(fmt::format("{}", what), count);
  return counts;
}

Counts greatest_first(Counts counts, std::size_t most) {
  std::ranges::stable_sort(counts, std::greater{}, &Counts::value_type::second);
  if (counts.size() > most) counts.resize(most);
  return counts;
}

std::string tiles(const Site& site) {
  const RuleStatistics& stats = site.statistics;
  const auto tile = [](std::uint64_t number, std::string_view what) {
    return fmt::format("<li><b>{}</b><span>{}</span></li>\n", grouped(number), what);
  };
  std::uint64_t without_proof = 0;
  for (const char* trust : {"solver", "none"}) {
    const auto found = stats.by_trust.find(trust);
    if (found != stats.by_trust.end()) without_proof += found->second;
  }
  return "<ul class=\"tiles\">\n" + tile(stats.rules, "rules") +
         tile(stats.rules - without_proof, "with a replayed proof") +
         tile(stats.rules - stats.conditional, "without a condition") + tile(site.axioms.size(), "axioms needed") +
         (site.store.empty() ? "" : tile(stats.used, "of use in a model")) + "</ul>\n";
}

std::string times(const RuleStatistics& stats) {
  std::string html, rows;
  for (const VerifierStatistics& verifier : stats.verifiers) {
    const bool timed = !verifier.seconds.empty();
    const auto time = [&](double seconds) { return timed ? microseconds(seconds * 1e6) : std::string("&ndash;"); };
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td "
        "class=\"figure\">{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td></tr>\n",
        escaped(verifier.verifier), grouped(verifier.proved), grouped(verifier.refuted), grouped(verifier.unknown),
        time(verifier.total_seconds()), time(verifier.seconds_within(0.5)), time(verifier.seconds_within(0.99)));
    html += time_histogram(fmt::format("Time of {} for one rule: how many rules took how long", verifier.verifier),
                           verifier.seconds);
  }
  return fmt::format(
             "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>verifier</th><th "
             "class=\"figure\">proved</th><th "
             "class=\"figure\">refuted</th><th class=\"figure\">unknown</th><th class=\"figure\">time in all</th><th "
             "class=\"figure\">median</th><th class=\"figure\">99 % "
             "within</th></tr></thead>\n<tbody>\n{}</tbody></table>"
             "</div>\n",
             rows) +
         html;
}

std::string models(const Site& site) {
  struct Model {
    std::string name, search, cost;
    double before = 0, after = 0;
    std::size_t rules = 0;
  };
  std::map<std::string, Model> models;
  for (const SiteRule& rule : site.rules) {
    for (const UseRecord& use : rule.uses) {
      Model& model = models[use.model + '\n' + use.model_hash + '\n' + use.search + '\n' + use.cost];
      model = {use.model, use.search, use.cost, use.model_before_us, use.model_after_us, model.rules + 1};
    }
  }
  if (models.empty()) return {};
  std::string rows;
  for (const auto& [key, model] : models)
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td "
        "class=\"figure\">{}</td></tr>\n",
        escaped(model.name), escaped(model.search), escaped(model.cost), model.rules, microseconds(model.before),
        microseconds(model.after));
  return "<h2>Models</h2>\n<p>What <code>rewright optimize</code> made of models with these rules. <a "
         "href=\"index.html#gain=used&amp;order=gain\">The rules that were used</a>, by gain.</p>\n<div "
         "class=\"scroll\" tabindex=\"0\">"
         "<table><thead><tr><th>model</th><th>search</th><th>cost model</th><th class=\"figure\">rules used</th><th "
         "class=\"figure\">before</th><th class=\"figure\">after</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace

std::string summary_page(const Site& site) {
  const RuleStatistics& stats = site.statistics;
  Counts axioms;
  for (const auto& [name, axiom] : site.axioms) axioms.emplace_back(name, axiom.rules.size());
  std::string body =
      fmt::format("<h1>{}</h1>\n<p class=\"lede\">What the library consists of{}.</p>\n", escaped(site.name),
                  site.store.empty() ? "" : ", what was left out on the way to it, and what it took to prove it") +
      tiles(site);
  if (!stats.funnel.empty())
    body += "<h2>From graphs to rules</h2>\n" +
            bar_chart("What is left after each phase (lengths go with the logarithm)", stats.funnel, true);
  body += "<h2>The rules</h2>\n<div class=\"plots\">\n" +
          bar_chart("Rules by operators on the larger side", counts_of(stats.by_size)) +
          bar_chart("Rules by operator", greatest_first(counts_of(stats.by_operator), 20)) +
          bar_chart("The axioms that most rules need", greatest_first(axioms, 20)) + "</div>\n";
  body += models(site);
  if (!stats.verifiers.empty()) body += "<h2>Proving them</h2>\n" + times(stats);
  return page({fmt::format("{}: summary", site.name), "", "summary", "", site.name}, body);
}

}  // namespace rewright::gallery
