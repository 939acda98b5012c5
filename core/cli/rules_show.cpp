// rewright rules show STORE ID
#include "cli/rules.h"

namespace rewright::cli {
namespace {

struct RulesShowArguments {
  std::string store;
  std::string id;
};

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

void print_verdict(const VerdictRecord& record) {
  const Json json = to_json(record);
  print_line(fmt::format("  {} {}: {}: {}", record.verifier, record.version, json["verdict"].get<std::string>(),
                         record.verdict.reason));
  if (!record.verdict.axioms.empty()) {
    print_line(fmt::format("    axioms: {}", fmt::join(record.verdict.axioms, ", ")));
  }
}

Result<ExitCode> show(const Settings& settings, const RulesShowArguments& arguments) {
  REWRIGHT_TRY(const OpenStore open, open_store(arguments.store));
  REWRIGHT_TRY(const RuleText* rule, find_rule(open.rules, arguments.id));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<VerdictRecord> verdicts, open.store->verdicts(rule->goal));
  REWRIGHT_TRY(const std::vector<ProposalRecord> proposals, open.store->proposals());
  std::vector<std::int64_t> candidates;
  for (const ProposalRecord& proposal : proposals) {
    if (proposal.goal == rule->goal) candidates.push_back(proposal.candidate);
  }
  if (settings.json) {
    Json json = cli::to_json(*rule);
    json["class"] = class_of(*rule, registry);
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
  print_line(fmt::format("  class    {}", class_of(*rule, registry)));
  print_line(fmt::format("  found as candidate {}", fmt::join(candidates, ", ")));
  print_line("verdicts");
  for (const VerdictRecord& verdict : verdicts) print_verdict(verdict);
  if (!rule->certificate.empty()) print(rule->certificate);
  return ExitCode::kDone;
}

}  // namespace

void add_rules_show(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesShowArguments>();
  const Command command = program.command(
      group, "show", "Shows one rule: both sides, condition, verdicts, where it was found",
      {"rewright rules show quickstart.store 3f9a0c21", "rewright rules show quickstart.store matmul-matmul --json"},
      [arguments](const Settings& settings) { return show(settings, *arguments); });
  command.add_option("STORE", arguments->store, "The store").required();
  command.add_option("ID", arguments->id, "The rule's id, its first digits, or its name").required();
}

}  // namespace rewright::cli
