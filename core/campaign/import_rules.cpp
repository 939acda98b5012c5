#include "campaign/import_rules.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "campaign/identity.h"
#include "campaign/proposals.h"
#include "interchange/taso.h"
#include "rule/canonical.h"
#include "rule/conditions.h"
#include "verify/rule_judge.h"

namespace rewright {
namespace {

using Json = nlohmann::ordered_json;

Result<std::vector<ImportCandidate>> read_taso_rules(const std::string& content, const std::string& file,
                                                     const Registry& registry) {
  REWRIGHT_TRY(auto read, read_taso(content, file, registry));
  std::vector<ImportCandidate> candidates;
  for (TasoRule& rule : read) {
    ImportCandidate& candidate = candidates.emplace_back(rule.index);
    candidate.reason = std::move(rule.reason);
    for (TasoInstance& instance : rule.instances)
      candidate.instances.push_back({std::move(instance.rule), std::move(instance.groups)});
  }
  return candidates;
}

Result<std::vector<ImportCandidate>> read_text_rules(const std::string& content, const std::string& file,
                                                     const Registry& registry) {
  auto rules = parse_rules(content, registry);
  if (!rules) return make_error(ErrorCode::kParse, "{}: {}", file, rules.error().message);
  std::vector<ImportCandidate> candidates;
  for (Rule& rule : *rules) candidates.push_back({candidates.size(), {{std::move(rule)}}, {}});
  return candidates;
}

Result<std::vector<ImportCandidate>> read_json_rules(const std::string& content, const std::string& file,
                                                     const Registry& registry) {
  const Json json = Json::parse(content, nullptr, false);
  if (!json.is_object() || !json.contains("rules") || !json["rules"].is_array())
    return make_error(ErrorCode::kParse, "{}: expected a JSON object with a list 'rules', as rules export writes it",
                      file);
  std::vector<ImportCandidate> candidates;
  for (const Json& entry : json["rules"]) {
    if (!entry.is_object() || !entry.contains("text") || !entry["text"].is_string())
      return make_error(ErrorCode::kParse, "{}: rule {} has no 'text'", file, candidates.size());
    auto rule = parse_rule(entry["text"].get<std::string>(), registry);
    if (!rule) return make_error(ErrorCode::kParse, "{}: rule {}: {}", file, candidates.size(), rule.error().message);
    candidates.push_back({candidates.size(), {{*std::move(rule)}}, {}});
  }
  return candidates;
}

std::string conditions_text(const std::vector<Constraint>& conditions) {
  std::string text;
  for (const Constraint& condition : conditions) text += (text.empty() ? "" : ", ") + to_string(condition);
  return text;
}

/// What the store gets: goals by id, rules by id and name.
class Books {
 public:
  explicit Books(Store& store) : store_(store) {}

  Status add(const Rule& candidate, const RuleReport& report, const std::optional<Rule>& proved) {
    if (!goal_ids_.insert(candidate.id).second) return {};
    GoalRecord goal;
    goal.position = goals_++;
    goal.id = candidate.id;
    goal.text = to_text(candidate);
    goal.name = rule_name(candidate);
    goal.example = example_text(candidate);
    goal.status = rewright::name_of(report.outcome.kind);
    REWRIGHT_CHECK(store_.add(goal));
    for (std::size_t place = 0; place < report.verdicts.size(); ++place) {
      const VerifierVerdict& said = report.verdicts[place];
      REWRIGHT_CHECK(store_.add(VerdictRecord{goal.position, static_cast<int>(place), said.verifier, said.version,
                                              said.budget, said.verdict}));
    }
    if (!proved) return store_.settle(goal);
    goal.rule = to_text(*proved);
    goal.certificate = report.outcome.certificate;
    goal.trust = rewright::name_of(trust_by(goal.certificate));
    REWRIGHT_CHECK(store_.settle(goal));
    if (!rule_ids_.insert(proved->id).second) return {};
    RuleRecord record{rules_++, goal.position, *proved, goal.rule};
    record.rule.name = unique_name(record.rule, names_);
    record.rule.trust = trust_by(goal.certificate);
    record.rule.certificate = goal.certificate;
    return store_.add(record);
  }

 private:
  Store& store_;
  std::set<std::string> goal_ids_, rule_ids_, names_;
  std::int64_t goals_ = 0, rules_ = 0;
};

Status check_new(Store& store) {
  REWRIGHT_TRY(const std::optional<CampaignRecord> there, store.campaign());
  if (!there) return {};
  return make_error(ErrorCode::kMismatch,
                    "the store '{}' holds a campaign or an import already ({}); choose a new folder with --store DIR",
                    store.folder(), there->name);
}

/// "operator relu" and so on, of all rules.
std::set<std::string> operators_of(const std::vector<Rule>& rules) {
  std::set<std::string> objects;
  for (const Rule& rule : rules)
    for (const Pattern* side : {&rule.source, &rule.target})
      for (const PatternNode& node : side->nodes) objects.insert("operator " + node.op->name());
  return objects;
}

Status begin(Store& store, const AxiomSet& axioms, const RuleImportOptions& options, const std::vector<Rule>& rules,
             const Registry& registry) {
  CampaignRecord record;
  REWRIGHT_TRY(record.ingredients, plugins_of(operators_of(rules), registry));
  record.name = fmt::format("import of {}", options.file);
  Json config = {{"import", options.file}, {"pruners", Json::array()}, {"axioms", axioms.digest()}};
  for (const VerifierChoice& verifier : options.verifiers) config["verifiers"].push_back(verifier.name);
  record.config = config.dump();
  record.config_hash = content_hash(record.config);
  std::string files;
  for (const std::string& file : axioms.files()) files += std::filesystem::absolute(file).string() + "\n";
  REWRIGHT_CHECK(write_file(store.path("axioms.txt"), files));
  return store.begin(record);
}

Error contradiction_error(const Store& store, const Contradiction& found, const Rule& rule) {
  const std::string file = store.path(fmt::format("contradiction-{}.txt", rule.id));
  const Status written = write_file(file, found.reproducer);
  return make_error(ErrorCode::kMismatch, "{}; {}", found.message,
                    written ? fmt::format("the reproducer is '{}'", file) : written.error().message);
}

/// Fills a report from what the portfolio said. The rule as it is proved, if it is.
Result<std::optional<Rule>> judge(const Rule& rule, const RuleReport& said, RuleImportReport& report) {
  report.text = to_text(rule);
  report.reason = said.outcome.reason;
  if (said.outcome.kind == VerdictKind::kRefuted) {
    report.verdict = ImportVerdict::kRefuted;
    report.counterexample = said.outcome.counterexample;
  }
  if (said.outcome.kind != VerdictKind::kProved) return std::optional<Rule>();
  REWRIGHT_TRY(Rule proved, with_conditions(rule, said.outcome.conditions));
  report.precondition = conditions_text(proved.precondition);
  report.verdict = proved.precondition.empty() ? ImportVerdict::kProved : ImportVerdict::kConditional;
  report.certificate = said.outcome.certificate;
  report.text = to_text(proved);
  return std::optional(std::move(proved));
}

bool is_proved(const RuleImportReport& report) {
  return report.verdict == ImportVerdict::kProved || report.verdict == ImportVerdict::kConditional;
}

/// "groups = 1" where all are 1, else the numbers themselves.
std::string groups_condition(const std::string& groups) {
  std::istringstream words(groups);
  for (std::string word; words >> word;) {
    if (word != "1" && word != "1," && word != "=>") return fmt::format("groups {}", groups);
  }
  return "groups = 1";
}

/// An entry that is wrong at other groups: where it is proved, a condition more; where nothing is known, refuted.
void judge_groups(const ImportInstance& other, const RuleReport& said, RuleImportReport& report) {
  if (said.outcome.kind != VerdictKind::kRefuted || report.verdict == ImportVerdict::kRefuted) return;
  report.counterexample = said.outcome.counterexample;
  if (!is_proved(report)) {
    report.verdict = ImportVerdict::kRefuted;
    report.text = to_text(other.rule);
    report.groups = other.groups;
    report.reason = said.outcome.reason;
    return;
  }
  const std::string condition = groups_condition(report.groups);
  if (report.precondition.starts_with("groups")) return;
  report.verdict = ImportVerdict::kConditional;
  report.precondition = condition + (report.precondition.empty() ? "" : ", " + report.precondition);
  report.reason += fmt::format("; with groups {} it is wrong: {}", other.groups, said.outcome.reason);
}

/// The instances' reports begin at `next`, which moves on.
Status import_candidate(const ImportCandidate& candidate, std::span<const RuleReport> said, std::size_t& next,
                        Books& books, std::vector<RuleImportReport>& reports) {
  const std::size_t entry = reports.size();
  reports.emplace_back().index = candidate.index;
  reports[entry].reason = candidate.reason;
  for (std::size_t i = 0; i < candidate.instances.size(); ++i) {
    const ImportInstance& instance = candidate.instances[i];
    const RuleReport& about = said[next++];
    RuleImportReport report;
    report.index = candidate.index;
    report.groups = instance.groups;
    if (const auto unmet = unmet_condition(instance.rule)) {
      report.text = to_text(instance.rule);
      report.reason =
          fmt::format("no sizes meet its condition {}, so that it is never used; it is not kept", to_string(*unmet));
      if (i > 0) reports.emplace_back();
      (i > 0 ? reports.back() : reports[entry]) = std::move(report);
      continue;
    }
    REWRIGHT_TRY(const std::optional<Rule> proved, judge(instance.rule, about, report));
    REWRIGHT_CHECK(books.add(instance.rule, about, proved));
    if (i == 0) {
      reports[entry] = std::move(report);
      continue;
    }
    judge_groups(instance, about, reports[entry]);
    if (report.verdict != ImportVerdict::kRefuted) reports.push_back(std::move(report));
  }
  return {};
}

}  // namespace

const char* name_of(ImportVerdict verdict) {
  switch (verdict) {
    case ImportVerdict::kProved: return "proved";
    case ImportVerdict::kConditional: return "conditional";
    case ImportVerdict::kRefuted: return "refuted";
    case ImportVerdict::kUnknown: break;
  }
  return "unknown";
}

Result<std::vector<ImportCandidate>> read_rules(const std::string& content, const std::string& file,
                                                std::string_view format, const Registry& registry) {
  if (format == "taso") return read_taso_rules(content, file, registry);
  if (format == "json") return read_json_rules(content, file, registry);
  return read_text_rules(content, file, registry);
}

Result<std::vector<RuleImportReport>> import_rules(const std::vector<ImportCandidate>& candidates,
                                                   const AxiomSet& axioms, Store& store, const Registry& registry,
                                                   const RuleImportOptions& options) {
  REWRIGHT_CHECK(RuleJudge(axioms, registry).check_axioms());
  REWRIGHT_CHECK(check_new(store));
  std::vector<Rule> rules;
  for (const ImportCandidate& candidate : candidates)
    for (const ImportInstance& instance : candidate.instances) rules.push_back(instance.rule);
  REWRIGHT_TRY(const PortfolioReport said, verify_all(rules, axioms, options.verifiers, registry, options.portfolio));
  if (!said.contradictions.empty()) {
    const Contradiction& found = said.contradictions.front();
    return contradiction_error(store, found, rules[found.rule]);
  }
  std::vector<RuleImportReport> reports;
  Books books(store);
  std::size_t next = 0;
  REWRIGHT_CHECK(store.database().transaction([&]() -> Status {
    REWRIGHT_CHECK(begin(store, axioms, options, rules, registry));
    for (const ImportCandidate& candidate : candidates) {
      REWRIGHT_CHECK(import_candidate(candidate, said.rules, next, books, reports));
    }
    for (const char* phase : {"enumerate", "prune", "verify", "library"}) REWRIGHT_CHECK(store.finish(phase));
    return {};
  }));
  return reports;
}

}  // namespace rewright
