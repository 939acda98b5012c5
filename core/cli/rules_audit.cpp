// rewright rules audit STORE and rewright rules derive RULES --from LIBRARY
#include <algorithm>

#include "campaign/audit_library.h"
#include "campaign/rule_source.h"
#include "cli/interrupt.h"
#include "cli/rules.h"

namespace rewright::cli {
namespace {

constexpr std::size_t kFaultsShown = 20;  // Failures that are written out; the rest is counted.

struct RulesAuditArguments {
  std::string rules;
  std::vector<std::string> libraries;
  std::size_t nodes = SaturationLimits().nodes;
  std::size_t matches = SaturationLimits().matches;
  int threads = cores();
};

DeriveOptions options_of(const RulesAuditArguments& arguments) {
  DeriveOptions options;
  options.limits.nodes = arguments.nodes;
  options.limits.matches = arguments.matches;
  options.threads = arguments.threads;
  options.stop = interrupted;
  return options;
}

void print_failures(const std::vector<DerivationFailure>& failures) {
  for (std::size_t i = 0; i < std::min(kFaultsShown, failures.size()); ++i) {
    print_line(fmt::format("{}  {}", short_id(failures[i].rule), failures[i].text));
    print_line("  " + failures[i].reason);
  }
  if (failures.size() > kFaultsShown)
    print_line(fmt::format("and {} more", with_commas(failures.size() - kFaultsShown)));
}

Json to_json(const std::vector<DerivationFailure>& failures) {
  Json list = Json::array();
  for (const DerivationFailure& failure : failures)
    list.push_back({{"id", failure.rule}, {"text", failure.text}, {"reason", failure.reason}});
  return list;
}

Result<ExitCode> audit(const Settings& settings, const RulesAuditArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const auto store, Store::open(arguments.rules, Store::Mode::kRead));
  REWRIGHT_TRY(const AuditReport report, audit_library(*store, registry, options_of(arguments)));
  if (settings.json) {
    print_json({{"dropped", report.dropped},
                {"replayed", report.replayed},
                {"derived", report.derived},
                {"forward", report.forward},
                {"failures", to_json(report.failures)}});
  } else {
    print_failures(report.failures);
    print_line(fmt::format("{} proved rules are not in the library: {} derivations replayed, {} derived again",
                           with_commas(report.dropped), with_commas(report.replayed), with_commas(report.derived)));
    print_line(fmt::format("{} of them follow by rules used from source to target alone", with_commas(report.forward)));
  }
  return report.failures.empty() ? ExitCode::kDone : ExitCode::kNegative;
}

/// Of the uses, are all in a direction that the library has?
bool is_forward(const Derivation& derivation, const std::vector<Rule>& library) {
  return std::ranges::all_of(derivation.uses, [&](const DerivationUse& use) {
    const auto rule = std::ranges::find(library, use.rule, &Rule::id);
    if (!use.backwards || rule == library.end()) return rule != library.end();
    const auto turned = converse(*rule);
    return turned && std::ranges::find(library, turned->id, &Rule::id) != library.end();
  });
}

Result<ExitCode> derive(const Settings& settings, const RulesAuditArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<Rule> rules, read_rule_source(arguments.rules, registry));
  ParameterUses uses;
  for (const Rule& rule : rules) uses.add(rule);
  std::vector<Rule> library;
  for (const std::string& source : arguments.libraries) {
    REWRIGHT_TRY(const std::vector<Rule> found, read_rule_source(source, registry, uses));
    for (const Rule& rule : found) {
      if (std::ranges::find(library, rule.id, &Rule::id) == library.end()) library.push_back(rule);
    }
  }
  REWRIGHT_TRY(const auto derivations, derive_all(rules, one_direction_each(library), registry, options_of(arguments)));
  REWRIGHT_TRY(DerivationChecker checker, DerivationChecker::over(library, registry));
  std::size_t forward = 0;
  std::vector<DerivationFailure> failures;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (std::ranges::find(library, rules[i].id, &Rule::id) != library.end()) {
      ++forward;
      continue;
    }
    const Status derived =
        derivations[i] ? checker.check(rules[i], derivations[i]->certificate)
                       : Status(make_error(ErrorCode::kNotFound, "it does not follow, as far as the search goes"));
    if (derived)
      forward += is_forward(*derivations[i], library);
    else
      failures.push_back({rules[i].id, to_text(rules[i]), derived.error().message});
  }
  const std::size_t derived = rules.size() - failures.size();
  if (settings.json) {
    print_json({{"rules", rules.size()},
                {"library", library.size()},
                {"derived", derived},
                {"forward", forward},
                {"not_derived", to_json(failures)}});
  } else {
    print_failures(failures);
    print_line(fmt::format(
        "{} of {} rules follow from the {} of the library; {} by using those from source to target "
        "alone",
        with_commas(derived), with_commas(rules.size()), with_commas(library.size()), with_commas(forward)));
  }
  return failures.empty() ? ExitCode::kDone : ExitCode::kNegative;
}

void add_limits(const Command& command, RulesAuditArguments& arguments) {
  command.add_option("--nodes", arguments.nodes, "The most nodes of one e-graph").check(whole_number(1)).type_name("N");
  command.add_option("--matches", arguments.matches, "The most matches of rules that are tried for one")
      .check(whole_number(1))
      .type_name("N");
  command.add_option("--threads", arguments.threads, "Threads; no result depends on their number")
      .type_name("N")
      .check(in_range(1, 1024));
}

}  // namespace

void add_rules_audit(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesAuditArguments>();
  const Command command = program.command(
      group, "audit", "Replays the derivation of every rule that a library does without, and derives it again",
      {"rewright rules audit quickstart.store"},
      [arguments](const Settings& settings) { return audit(settings, *arguments); });
  command.add_option("STORE", arguments->rules, "The store").required();
  add_limits(command, *arguments);
}

void add_rules_derive(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesAuditArguments>();
  const Command command = program.command(
      group, "derive", "Tells which rules follow from those of a library",
      {"rewright rules derive other.store --from quickstart.store", "rewright rules derive rules.txt --from my.store",
       "rewright rules derive rules.txt --from experiments/library/library.rules --from more.rules"},
      [arguments](const Settings& settings) { return derive(settings, *arguments); });
  command.add_option("RULES", arguments->rules, "A store, a file of rules, or one of rules with proofs").required();
  command.add_option("--from", arguments->libraries, "The library: a store or a file (repeatable)")
      .required()
      .repeatable()
      .type_name("STORE|FILE");
  add_limits(command, *arguments);
}

}  // namespace rewright::cli
