// rewright rules list | show ID | export, on a store
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "report/dot.h"
#include "rule/store.h"

#include <algorithm>
#include <memory>

namespace rewright::cli {
namespace {

constexpr std::size_t kShortId = 8;

struct Arguments {
  std::string store;
  std::string id;
  std::string format = "text";
};

Json to_json(const RuleText& rule) {
  return {{"id", rule.id},         {"name", rule.name},     {"inputs", rule.inputs},
          {"source", rule.source}, {"target", rule.target}, {"precondition", rule.precondition},
          {"trust", rule.trust},   {"text", rule.text}};
}

Json to_json(const VerdictRecord& record) {
  static constexpr const char* kKinds[] = {"proved", "refuted", "unknown"};
  return {{"verifier", record.verifier},
          {"version", record.version},
          {"verdict", kKinds[static_cast<std::size_t>(record.verdict.kind)]},
          {"reason", record.verdict.reason},
          {"counterexample", record.verdict.counterexample},
          {"axioms", record.verdict.axioms},
          {"work", record.budget.work},
          {"memory_bytes", record.budget.memory_bytes}};
}

Json to_json(const std::vector<RuleText>& rules) {
  Json list = Json::array();
  for (const RuleText& rule : rules) list.push_back(to_json(rule));
  return {{"rules", std::move(list)}};
}

struct OpenStore {
  std::unique_ptr<Store> store;
  std::vector<RuleText> rules;
};

Result<OpenStore> open_store(const std::string& folder) {
  OpenStore open;
  REWRIGHT_TRY(open.store, Store::open(folder, Store::Mode::kRead));
  REWRIGHT_TRY(open.rules, open.store->rule_texts());
  return open;
}

Result<ExitCode> list(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const OpenStore open, open_store(arguments.store));
  if (settings.json) {
    print_json(to_json(open.rules));
    return ExitCode::kDone;
  }
  Table table({"id", "trust", "name", "rule"});
  for (const RuleText& rule : open.rules) {
    const std::string where = rule.precondition.empty() ? "" : " where " + rule.precondition;
    table.add({rule.id.substr(0, kShortId), rule.trust, rule.name,
               fmt::format("{} => {}{}", rule.source, rule.target, where)});
  }
  print(table.to_string());
  return ExitCode::kDone;
}

// By id, by the beginning of an id, or by name.
Result<const RuleText*> find_rule(const std::vector<RuleText>& rules, const std::string& wanted) {
  std::vector<const RuleText*> found;
  for (const RuleText& rule : rules) {
    if (rule.id == wanted || rule.name == wanted) return &rule;
    if (wanted.size() >= 4 && rule.id.starts_with(wanted)) found.push_back(&rule);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return make_error(ErrorCode::kNotFound,
                      "no rule has the id or name '{}'; rewright rules list shows all {} (an id may "
                      "be cut to 4 digits or more)",
                      wanted, rules.size());
  }
  return make_error(ErrorCode::kUsage, "'{}' is the beginning of {} ids; give more digits", wanted, found.size());
}

void print_verdict(const VerdictRecord& record) {
  const Json json = to_json(record);
  print_line(fmt::format("  {} {}: {}: {}", record.verifier, record.version, json["verdict"].get<std::string>(),
                         record.verdict.reason));
  if (!record.verdict.axioms.empty()) {
    print_line(fmt::format("    axioms: {}", fmt::join(record.verdict.axioms, ", ")));
  }
}

Result<ExitCode> show(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const OpenStore open, open_store(arguments.store));
  REWRIGHT_TRY(const RuleText* rule, find_rule(open.rules, arguments.id));
  REWRIGHT_TRY(const std::vector<VerdictRecord> verdicts, open.store->verdicts(rule->goal));
  REWRIGHT_TRY(const std::vector<ProposalRecord> proposals, open.store->proposals());
  std::vector<std::int64_t> candidates;
  for (const ProposalRecord& proposal : proposals) {
    if (proposal.goal == rule->goal) candidates.push_back(proposal.candidate);
  }
  if (settings.json) {
    Json json = to_json(*rule);
    json["example"] = Json::parse(rule->example, nullptr, false);
    json["certificate"] = rule->certificate;
    json["verdicts"] = Json::array();
    for (const VerdictRecord& verdict : verdicts) json["verdicts"].push_back(to_json(verdict));
    json["candidates"] = candidates;
    print_json({{"rules", Json::array({json})}});
    return ExitCode::kDone;
  }
  print_line(fmt::format("{}  {}", rule->id, rule->name));
  print_line(fmt::format("  inputs   {} (name:rank)", rule->inputs));
  print_line(fmt::format("  source   {}", rule->source));
  print_line(fmt::format("  target   {}", rule->target));
  if (!rule->precondition.empty()) print_line(fmt::format("  where    {}", rule->precondition));
  print_line(fmt::format("  example  {}", rule->example));
  print_line(fmt::format("  trust    {}", rule->trust));
  print_line(fmt::format("  found as candidate {}", fmt::join(candidates, ", ")));
  print_line("verdicts");
  for (const VerdictRecord& verdict : verdicts) print_verdict(verdict);
  return ExitCode::kDone;
}

// Every rule a drawing of its own; `dot` and its relatives read several from one file.
Status print_drawings(const Settings& settings, Store& store) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<Rule> rules, store.rules(registry));
  for (const Rule& rule : rules) print(to_dot(rule));
  return {};
}

Result<ExitCode> export_rules(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const OpenStore open, open_store(arguments.store));
  if (settings.json || arguments.format == "json") {
    print_json(to_json(open.rules));
  } else if (arguments.format == "dot") {
    REWRIGHT_CHECK(print_drawings(settings, *open.store));
  } else {
    for (const RuleText& rule : open.rules) print_line(rule.text);
  }
  return ExitCode::kDone;
}

}  // namespace

void add_rules(Program& program) {
  CLI::App& group = program.group("rules", "Rules: the library that a campaign has found and proved");
  auto arguments = std::make_shared<Arguments>();
  CLI::App& list_command =
      program.command(group, "list", "Lists the rules of a store: id, trust, name, source => target, condition",
                      {"rewright rules list quickstart.store", "rewright rules list quickstart.store --json"},
                      [arguments](const Settings& settings) { return list(settings, *arguments); });
  list_command.add_option("STORE", arguments->store, "The store")->required();

  CLI::App& show_command = program.command(
      group, "show", "Shows one rule: both sides, condition, verdicts, where it was found",
      {"rewright rules show quickstart.store 3f9a0c21", "rewright rules show quickstart.store matmul-matmul --json"},
      [arguments](const Settings& settings) { return show(settings, *arguments); });
  show_command.add_option("STORE", arguments->store, "The store")->required();
  show_command.add_option("ID", arguments->id, "The rule's id, its first digits, or its name")->required();

  CLI::App& export_command =
      program.command(group, "export", "Writes all rules to standard output",
                      {"rewright rules export --format text quickstart.store > rules.txt",
                       "rewright rules export --format dot quickstart.store | dot -Tsvg -O"},
                      [arguments](const Settings& settings) { return export_rules(settings, *arguments); });
  export_command.add_option("STORE", arguments->store, "The store")->required();
  export_command
      .add_option("--format", arguments->format, "text: one rule a line; json: one object; dot: drawings for Graphviz")
      ->check(CLI::IsMember({"text", "json", "dot"}));
}

}  // namespace rewright::cli
