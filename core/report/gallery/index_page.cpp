#include <algorithm>

#include "report/gallery/html.h"
#include "report/gallery/pages.h"

namespace rewright::gallery {
namespace {

std::string option(std::string_view value, std::string_view label) {
  return fmt::format("<option value=\"{}\">{}</option>", escaped(value), escaped(label));
}

template <class Values>
std::string choice(std::string_view id, std::string_view label, std::string_view any, const Values& values) {
  std::string options = option("", any);
  for (const auto& [value, text] : values) options += option(value, text);
  return fmt::format("<label>{} <select id=\"{}\">{}</select></label>\n", label, id, options);
}

using Choices = std::vector<std::pair<std::string, std::string>>;

Choices sizes(const Site& site) {
  Choices choices;
  for (const auto& [size, count] : site.statistics.by_size)
    choices.emplace_back(fmt::format("{}", size), fmt::format("{} ({})", size, grouped(count)));
  return choices;
}

Choices verifiers(const Site& site) {
  Choices choices;
  for (const VerifierStatistics& verifier : site.statistics.verifiers) {
    if (verifier.proved > 0) choices.emplace_back(verifier.verifier, verifier.verifier);
  }
  return choices;
}

std::string operator_boxes(const Site& site) {
  std::string boxes;
  for (const std::string& name : site.operators)
    boxes += fmt::format("<label class=\"chip\"><input type=\"checkbox\" name=\"op\" value=\"{0}\"> {0}</label>",
                         escaped(name));
  return boxes;
}

// Positions of the elements of `some` in `all`, which is sorted, as a JSON list.
template <class All>
std::string positions(const std::vector<std::string>& some, const All& all) {
  std::string list;
  for (const std::string& name : some) {
    const auto at = std::ranges::lower_bound(all, name) - all.begin();
    list += fmt::format("{}{}", list.empty() ? "" : ",", at);
  }
  return fmt::format("[{}]", list);
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    if (!list.empty()) list += ',';
    list += json_string(text);
  }
  return fmt::format("[{}]", list);
}

std::vector<std::string> axiom_names(const Site& site) {
  std::vector<std::string> names;
  for (const auto& [name, axiom] : site.axioms) names.push_back(name);
  return names;
}

}  // namespace

std::string index_page(const Site& site) {
  const RuleStatistics& stats = site.statistics;
  const auto unproved = stats.by_trust.find(name_of(Trust::kNone));
  const bool is_proved = unproved == stats.by_trust.end(), is_of_store = !site.store.empty();
  std::string body = fmt::format(
      "<h1>{} {}rules</h1>\n<p class=\"lede\">Each replaces its left side by its right side in a tensor program, "
      "wherever the left side is defined and the condition holds. {} of them hold without a condition{}.{}</p>\n",
      grouped(stats.rules), is_proved ? "proved " : "", grouped(stats.rules - stats.conditional),
      is_of_store ? fmt::format("; {} were of use in a model", grouped(stats.used)) : "",
      is_proved ? "" : fmt::format(" {} are not proved.", grouped(unproved->second)));
  body +=
      "<form id=\"filters\" role=\"search\">\n<input id=\"q\" type=\"search\" placeholder=\"Search: matmul relu(x), "
      "3f9a0c21 ...  (press /)\" aria-label=\"Search names, terms and ids\" autocomplete=\"off\" "
      "spellcheck=\"false\">\n<div class=\"choices\">\n";
  body += choice("size", "Operators", "any number", sizes(site));
  body += choice("trust", "Proof", "any",
                 Choices{{"theorem", "from definitions, replayed"},
                         {"certificate", "from axioms, replayed"},
                         {"solver", "a solver's word"},
                         {"none", "none"}});
  if (is_of_store) body += choice("verifier", "Proved by", "any", verifiers(site));
  body += choice("condition", "Condition", "any", Choices{{"none", "none"}, {"some", "on sizes"}});
  if (is_of_store)
    body += choice("gain", "Gain", "any", Choices{{"used", "used in a model"}, {"positive", "made a model cheaper"}});
  Choices orders{{"size", "size"}, {"name", "name"}};
  if (is_of_store) orders.insert(orders.begin(), {"gain", "gain"});
  body += choice("order", "Order", "most interesting first", orders);
  body += fmt::format("</div>\n<fieldset><legend>with all of these operators</legend>{}</fieldset>\n</form>\n",
                      operator_boxes(site));
  body +=
      "<p id=\"count\" role=\"status\" aria-live=\"polite\"></p>\n<ol id=\"list\" class=\"cards\"></ol>\n"
      "<nav id=\"pager\" aria-label=\"Pages of rules\"></nav>\n<noscript><p>Search and drawings need a script of this "
      "site; without it there are <a href=\"rules.txt\">all rules as text</a>, the <a href=\"axioms.html\">axioms</a> "
      "with the rules that need them, and the <a href=\"summary.html\">summary</a>.</p></noscript>\n";
  return page({fmt::format("{}: {} rules", site.name, grouped(stats.rules)), "", "rules",
               "data/rules.js assets/gallery.js", site.name},
              body);
}

std::string index_data(const Site& site) {
  const std::vector<std::string> axioms = axiom_names(site);
  std::string text = fmt::format(
      "window.REWRIGHT={{operators:{},axioms:{},columns:[\"id\",\"name\",\"source\","
      "\"target\",\"condition\",\"operators\",\"size\",\"trust\",\"verifier\",\"gain\","
      "\"uses\",\"axioms\",\"inputs\"],rules:[\n",
      json_list(site.operators), json_list(axioms));
  for (const SiteRule& rule : site.rules)
    text += fmt::format("[{},{},{},{},{},{},{},{},{},{:.6g},{},{},{}],\n", json_string(rule.text.id),
                        json_string(rule.text.name), json_string(rule.text.source), json_string(rule.text.target),
                        json_string(rule.text.precondition), positions(operators_of(rule.text), site.operators),
                        size_of(rule.text), json_string(rule.text.trust), json_string(rule.proved_by), rule.gain_us,
                        rule.uses.size(), positions(rule.axioms, axioms), json_string(rule.text.inputs));
  return text + "]};\n";
}

}  // namespace rewright::gallery
