// rewright rules list STORE|FILE
#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "campaign/rule_source.h"
#include "cli/rules.h"
#include "rule/rule_class.h"
#include "rule/rule_interest.h"

namespace rewright::cli {
namespace {

struct RulesListArguments {
  std::string source;
  std::string order = "interest";
  std::size_t first = 0;  ///< So many; 0: all.
};

struct ListedRule {
  RuleText text;
  std::optional<Rule> rule;  ///< None: an operator is not loaded.
  double gain_us = 0;
};

Result<std::vector<ListedRule>> rules_of_store(const std::string& folder, const Registry& registry) {
  REWRIGHT_TRY(OpenStore open, open_store(folder));
  REWRIGHT_TRY(const std::vector<UseRecord> uses, open.store->uses());
  std::map<std::string, double> gains;
  for (const UseRecord& use : uses) gains[use.rule] += use.gain_us;
  std::vector<ListedRule> rules(open.rules.size());
  tbb::parallel_for(std::size_t{0}, rules.size(), [&](std::size_t i) {
    rules[i].text = std::move(open.rules[i]);
    if (auto rule = unjudged_rule(rules[i].text, registry)) rules[i].rule = *std::move(rule);
    const auto gain = gains.find(rules[i].text.id);
    if (gain != gains.end()) rules[i].gain_us = gain->second;
  });
  return rules;
}

Result<std::vector<ListedRule>> rules_of_file(const std::string& path, const Registry& registry) {
  REWRIGHT_TRY(const std::vector<Rule> read, read_rule_source(path, registry));
  std::vector<ListedRule> rules;
  for (const Rule& rule : read) rules.push_back({text_of(rule), rule});
  return rules;
}

std::vector<ListedRule> in_order(std::vector<ListedRule> rules, const RulesListArguments& arguments) {
  if (arguments.order == "interest") {
    std::vector<RuleInterest> interests(rules.size());
    tbb::parallel_for(std::size_t{0}, rules.size(), [&](std::size_t i) {
      if (rules[i].rule) interests[i] = interest_of(*rules[i].rule, rules[i].gain_us);
      interests[i].is_degenerate |= !rules[i].rule;
    });
    std::vector<ListedRule> sorted;
    for (const std::size_t position : interesting_first(interests)) sorted.push_back(std::move(rules[position]));
    rules = std::move(sorted);
  }
  if (arguments.first > 0 && arguments.first < rules.size()) rules.resize(arguments.first);
  return rules;
}

Result<ExitCode> list(const Settings& settings, const RulesListArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  const bool is_file = std::filesystem::is_regular_file(arguments.source);
  REWRIGHT_TRY(std::vector<ListedRule> all,
               is_file ? rules_of_file(arguments.source, registry) : rules_of_store(arguments.source, registry));
  const std::vector<ListedRule> rules = in_order(std::move(all), arguments);
  std::vector<std::string> classes(rules.size());
  tbb::parallel_for(std::size_t{0}, rules.size(), [&](std::size_t i) {
    classes[i] = rules[i].rule ? std::string(name_of(classify(*rules[i].rule))) : "unknown";
  });
  if (settings.json) {
    Json list = Json::array();
    for (std::size_t i = 0; i < rules.size(); ++i) {
      list.push_back(to_json(rules[i].text));
      list.back()["class"] = classes[i];
    }
    print_json({{"rules", std::move(list)}});
    return ExitCode::kDone;
  }
  Table table({"id", "trust", "class", "name", "rule"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const RuleText& rule = rules[i].text;
    table.add({short_id(rule.id), rule.trust, classes[i], rule.name, equation(rule)});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_rules_list(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesListArguments>();
  const Command command = program.command(
      group, "list", "Lists rules, the most interesting first: id, trust, class, name, source => target, condition",
      {"rewright rules list quickstart.store", "rewright rules list quickstart.store --first 10",
       "rewright rules list experiments/library/library.rules --json"},
      [arguments](const Settings& settings) { return list(settings, *arguments); });
  command.add_option("STORE|FILE", arguments->source, "A store, or a file of rules, with proofs or without").required();
  command
      .add_option("--order", arguments->order,
                  "interest: by gain in models, by what a rule saves, general and small ones first, degenerate ones "
                  "last; library: as they lie")
      .check(one_of({"interest", "library"}))
      .show_default();
  command.add_option("--first", arguments->first, "So many rules (default: all)")
      .check(in_range(1, 1'000'000'000))
      .type_name("N");
}

}  // namespace rewright::cli
