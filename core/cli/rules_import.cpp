// rewright rules import FILE --store DIR
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "campaign/import_rules.h"
#include "campaign/rule_verdict.h"
#include "cli/interrupt.h"
#include "cli/own_files.h"
#include "cli/rules.h"

namespace rewright::cli {
namespace {

struct RulesImportArguments {
  std::string file;
  std::string format = "text";
  std::string store;
  std::vector<std::string> axioms;
  std::vector<std::string> verifiers;
  std::uint64_t work = 2'000'000;
  int threads = cores();
};

Json to_json(const RuleImportReport& report) {
  Json json = {{"index", report.index},
               {"verdict", name_of(report.verdict)},
               {"rule", report.text},
               {"precondition", report.precondition},
               {"reason", report.reason},
               {"counterexample", report.counterexample},
               {"certificate", report.certificate}};
  if (!report.groups.empty()) json["groups"] = report.groups;
  return json;
}

void print_report(const RuleImportReport& report) {
  const std::string groups = report.groups.empty() ? "" : fmt::format(" (groups {})", report.groups);
  print_line(fmt::format("rule {}{}: {}", report.index, groups, name_of(report.verdict)));
  if (!report.text.empty()) print_line("  " + report.text);
  const bool proved = report.verdict == ImportVerdict::kProved;
  if (report.verdict == ImportVerdict::kConditional) print_line("  where " + report.precondition);
  if (!proved) print_line("  " + report.reason);
  if (report.counterexample.empty()) return;
  std::istringstream lines(report.counterexample);
  for (std::string line; std::getline(lines, line);) print_line("    " + line);
}

/// How many rules each verdict has.
std::string verdict_table(std::span<const std::size_t> counts) {
  Table table({"verdict", "rules"});
  table.align_right({1});
  for (const ImportVerdict verdict :
       {ImportVerdict::kProved, ImportVerdict::kConditional, ImportVerdict::kRefuted, ImportVerdict::kUnknown})
    table.add({name_of(verdict), with_commas(counts[static_cast<std::size_t>(verdict)])});
  return table.to_string();
}

Result<ExitCode> import(const Settings& settings, const RulesImportArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::string content, read_file(arguments.file));
  REWRIGHT_TRY(const auto candidates, read_rules(content, arguments.file, arguments.format, registry));
  std::vector<std::string> files = arguments.axioms;
  if (files.empty()) {
    REWRIGHT_TRY(files, own_axioms());
  }
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(files, registry));
  RuleImportOptions options;
  options.file = std::filesystem::path(arguments.file).filename().string();
  for (const std::string& name : arguments.verifiers.empty() ? default_verifiers(registry) : arguments.verifiers) {
    REWRIGHT_CHECK(registry.get<Verifier>(name));  // Before there is a store.
    options.verifiers.push_back({name, {}});
  }
  options.portfolio.budget.work = arguments.work;
  options.portfolio.threads = arguments.threads;
  options.portfolio.stop = interrupted;
  REWRIGHT_TRY(const std::unique_ptr<Store> store, Store::open(arguments.store, Store::Mode::kRun));
  REWRIGHT_TRY(const auto reports, import_rules(candidates, axioms, *store, registry, options));
  Json list = Json::array();
  std::size_t counts[4] = {};
  for (const RuleImportReport& report : reports) {
    ++counts[static_cast<std::size_t>(report.verdict)];
    if (settings.json)
      list.push_back(to_json(report));
    else
      print_report(report);
  }
  if (settings.json)
    print_json({{"rules", std::move(list)}});
  else
    print(verdict_table(counts));
  const std::size_t open = counts[2] + counts[3];
  if (open > 0)
    note(fmt::format("{} of {} rules are not proved; the store '{}' holds the others", open, reports.size(),
                     arguments.store),
         settings.quiet);
  return open == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_rules_import(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesImportArguments>();
  const Command command = program.command(
      group, "import", "Reads rules from a file, verifies each, and keeps those that are proved in a new store",
      {"rewright rules import --format taso graph_subst.pb --store taso.store",
       "rewright rules import --format text rules.txt --store mine.store --verifiers evaluate z3 cvc5"},
      [arguments](const Settings& settings) { return import(settings, *arguments); });
  command.add_option("FILE", arguments->file, "The file of rules").required();
  command.add_option("--store", arguments->store, "The folder for the results; it must be new")
      .required()
      .type_name("DIR");
  command
      .add_option("--format", arguments->format,
                  "text: one rule a line; json: as rules export writes it; taso: TASO's protobuf files")
      .check(one_of({"text", "json", "taso"}));
  command.add_option("--axioms", arguments->axioms, "Axiom files (default: the program's own)").type_name("FILE");
  command.add_option("--verifiers", arguments->verifiers, "Verifiers, in their order (default: evaluate egraph z3)")
      .type_name("NAME");
  command.add_option("--work", arguments->work, "Each verifier's budget for a rule, in units of work").type_name("N");
  command.add_option("--threads", arguments->threads, "Threads; no result depends on their number")
      .type_name("N")
      .check(in_range(1, 1024));
}

}  // namespace rewright::cli
