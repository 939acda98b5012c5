#include "report/gallery/gallery_site.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <unordered_map>

#include "rule/rule_interest.h"
#include "store/derivations.h"
#include "verify/certificate_text.h"

namespace rewright::gallery {
namespace {

Status each_row(SqlStatement& rows, Result<bool> more, const std::function<void(const SqlStatement&)>& visit) {
  while (true) {
    if (!more) return more.error();
    if (!*more) return {};
    visit(rows);
    more = rows.step();
  }
}

std::vector<std::string> axioms_in(const SiteRule& rule) {
  std::set<std::string> names;
  for (std::string_view rest = rule.text.certificate; !rest.empty();) {
    const auto step = read_step(take_line(rest));
    if (!step) continue;  // "certificate 1", "output 0".
    const auto equation = read_equation(step->equation);
    if (equation) names.emplace(equation->axiom);
  }
  for (const VerdictRecord& verdict : rule.verdicts) {
    if (names.empty() && verdict.verdict.kind == VerdictKind::kProved)
      names.insert(verdict.verdict.axioms.begin(), verdict.verdict.axioms.end());
  }
  return {names.begin(), names.end()};
}

Status read_verdicts(Store& store, SiteRule& rule) {
  REWRIGHT_TRY(rule.verdicts, store.verdicts(rule.text.goal));
  for (const VerdictRecord& verdict : rule.verdicts) {
    const bool certificate = !verdict.verdict.certificate.empty();
    if (verdict.verdict.kind == VerdictKind::kProved && (rule.proved_by.empty() || certificate))
      rule.proved_by = verdict.verifier;
  }
  return {};
}

// Which candidates led to each rule, and what pruners removed for their sake.
Status read_candidates(Store& store, std::vector<SiteRule>& rules) {
  Database& database = store.database();
  REWRIGHT_TRY(
      SqlStatement rows,
      database.prepare("SELECT c.position, c.id, c.operators, reversed, numbers, (SELECT count(*) FROM removals "
                       "WHERE by = c.id), (SELECT pruner FROM removals WHERE candidate = c.position) FROM "
                       "proposals JOIN candidates AS c ON c.position = candidate WHERE goal = ? ORDER BY 1"));
  REWRIGHT_TRY(SqlStatement campaigns,
               database.prepare("SELECT name FROM goal_origins JOIN campaigns ON number = campaign WHERE goal = ? "
                                "ORDER BY number"));
  for (SiteRule& rule : rules) {
    REWRIGHT_CHECK(each_row(rows, rows.query(rule.text.goal), [&](const SqlStatement& row) {
      FoundAs found;
      found.candidate = {row.integer(0), row.text(1), static_cast<int>(row.integer(2)), {}, {}};
      found.reversed = row.integer(3) != 0;
      found.numbers = row.integer(4) != 0;
      found.stands_for = row.integer(5);
      found.pruner = row.text(6);
      rule.found.push_back(std::move(found));
    }));
    REWRIGHT_CHECK(each_row(campaigns, campaigns.query(rule.text.goal),
                            [&](const SqlStatement& row) { rule.campaigns.push_back(row.text(0)); }));
  }
  return {};
}

Status read_uses(Store& store, std::vector<SiteRule>& rules) {
  std::unordered_map<std::string, SiteRule*> by_id;
  for (SiteRule& rule : rules) by_id.emplace(rule.text.id, &rule);
  REWRIGHT_TRY(const std::vector<UseRecord> uses, store.uses());
  for (const UseRecord& use : uses) {
    const auto rule = by_id.find(use.rule);
    if (rule == by_id.end()) continue;
    rule->second->uses.push_back(use);
    rule->second->gain_us += use.gain_us;
  }
  return {};
}

// What the library does without, and which of its rules that follows from.
Status read_derivations(Store& store, Site& site) {
  std::unordered_map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < site.rules.size(); ++i) by_id.emplace(site.rules[i].text.id, i);
  REWRIGHT_TRY(std::vector<DerivationRecord> records, DerivationTable::read(store));
  REWRIGHT_TRY(SqlStatement goal, store.database().prepare("SELECT rule FROM goals WHERE position = ?"));
  for (DerivationRecord& record : records) {
    REWRIGHT_CHECK(goal.query(record.goal));
    for (const std::string& rule : record.rules) {
      const auto found = by_id.find(rule);
      if (found != by_id.end()) site.rules[found->second].derives.push_back(site.derived.size());
    }
    site.derived.push_back({record.id, goal.text(0), record.pruner, record.reason, record.steps, record.forward});
  }
  return {};
}

void read_axioms(const std::vector<std::string>& files, const Registry& registry, Site& site) {
  auto axioms = load_axioms(files, registry);
  if (axioms) {
    site.axiom_set = *std::move(axioms);
  } else {
    site.axioms_missing = axioms.error().message;
  }
}

// The axiom files that the store names, as far as they are there.
std::vector<std::string> axiom_files_of(const Store& store) {
  std::vector<std::string> files;
  std::ifstream list(store.path("axioms.txt"));
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) files.push_back(line);
  }
  return files;
}

void put_in_order(Site& site) {
  std::vector<RuleInterest> interests;
  for (const SiteRule& rule : site.rules) interests.push_back(interest_of(rule.rule, rule.gain_us));
  std::vector<SiteRule> sorted;
  for (const std::size_t position : interesting_first(interests)) sorted.push_back(std::move(site.rules[position]));
  site.rules = std::move(sorted);
}

void list_operators(Site& site) {
  std::set<std::string> operators;
  for (const SiteRule& rule : site.rules) {
    for (std::string& name : operators_of(rule.text)) operators.insert(std::move(name));
  }
  site.operators.assign(operators.begin(), operators.end());
}

RuleText text_of(const Rule& rule) {
  RuleText text = split_rule_text(to_text(rule));
  text.id = rule.id;
  text.name = rule.name;
  text.trust = name_of(rule.trust);
  text.example = example_text(rule);
  text.certificate = rule.certificate;
  return text;
}

void link_axioms(Site& site) {
  std::unordered_map<std::string, const Axiom*> known;
  for (const Axiom& axiom : site.axiom_set.axioms()) known.emplace(axiom.name, &axiom);
  for (std::size_t i = 0; i < site.rules.size(); ++i) {
    for (const std::string& name : site.rules[i].axioms) {
      SiteAxiom& axiom = site.axioms[name];
      axiom.name = name;
      axiom.rules.push_back(i);
      const auto found = known.find(name);
      if (found != known.end()) axiom.axiom = found->second;
    }
  }
}

}  // namespace

std::vector<std::string> operators_of(const RuleText& rule) {
  std::set<std::string> names;
  for (const std::string* side : {&rule.source, &rule.target}) {
    for (std::string& name : operators_in(*side)) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

Result<Site> read_site(Store& store, const Registry& registry) {
  Site site;
  site.store = store.folder();
  REWRIGHT_TRY(const auto campaign, store.campaign());
  site.name = campaign ? campaign->name : store.folder();
  REWRIGHT_TRY(site.statistics, statistics(store));
  REWRIGHT_TRY(std::vector<RuleText> texts, store.rule_texts());
  REWRIGHT_TRY(std::vector<Rule> rules, store.unjudged_rules(registry));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    SiteRule& rule = site.rules.emplace_back();
    rule.text = std::move(texts[i]);
    rule.rule = std::move(rules[i]);
    REWRIGHT_CHECK(read_verdicts(store, rule));
    rule.axioms = axioms_in(rule);
  }
  list_operators(site);
  REWRIGHT_CHECK(read_candidates(store, site.rules));
  REWRIGHT_CHECK(read_uses(store, site.rules));
  put_in_order(site);
  REWRIGHT_CHECK(read_derivations(store, site));
  read_axioms(axiom_files_of(store), registry, site);
  link_axioms(site);
  return site;
}

Site site_of(const GalleryRules& rules, const Registry& registry) {
  Site site;
  site.name = rules.name;
  std::vector<RuleText> texts;
  for (const Rule& rule : rules.rules) {
    SiteRule& shown = site.rules.emplace_back();
    shown.text = text_of(rule);
    shown.rule = rule;
    shown.axioms = axioms_in(shown);
    texts.push_back(shown.text);
  }
  site.statistics = statistics_of(texts);
  list_operators(site);
  put_in_order(site);
  read_axioms(rules.axiom_files, registry, site);
  link_axioms(site);
  return site;
}

}  // namespace rewright::gallery
