// rewright rules list | show ID | export, on a store; import, into one
#include "campaign/files.h"
#include "campaign/import_rules.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "report/dot.h"
#include "rule/interchange.h"
#include "rule/store.h"
#include "rule/taso.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <thread>

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
  if (!rule->certificate.empty()) print(rule->certificate);
  return ExitCode::kDone;
}

// Every rule a drawing of its own; `dot` and its relatives read several from one file.
Status print_drawings(const Settings& settings, Store& store) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<Rule> rules, store.rules(registry));
  for (const Rule& rule : rules) print(to_dot(rule));
  return {};
}

// What the other format cannot say is counted and named on standard error.
Status print_taso(const Settings& settings, Store& store) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<Rule> rules, store.rules(registry));
  const TasoFile file = write_taso(rules);
  std::fwrite(file.bytes.data(), 1, file.bytes.size(), stdout);
  std::size_t left_out = 0;
  for (const auto& [what, count] : file.left_out) left_out += count;
  note(fmt::format("{} rules written; {} left out, for what TASO's format cannot say", file.written, left_out),
       settings.quiet);
  for (const auto& [what, count] : file.left_out) note(fmt::format("  {} for {}", count, what), settings.quiet);
  return {};
}

Status print_terms(const Settings& settings, Store& store, const std::string& format) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<Rule> rules, store.rules(registry));
  print(format == "egg" ? to_egg(rules) : to_smt2(rules));
  return {};
}

Result<ExitCode> export_rules(const Settings& settings, const Arguments& arguments) {
  REWRIGHT_TRY(const OpenStore open, open_store(arguments.store));
  if (settings.json || arguments.format == "json") {
    print_json(to_json(open.rules));
  } else if (arguments.format == "dot") {
    REWRIGHT_CHECK(print_drawings(settings, *open.store));
  } else if (arguments.format == "taso") {
    REWRIGHT_CHECK(print_taso(settings, *open.store));
  } else if (arguments.format == "egg" || arguments.format == "smt2") {
    REWRIGHT_CHECK(print_terms(settings, *open.store, arguments.format));
  } else {
    for (const RuleText& rule : open.rules) print_line(rule.text);
  }
  return ExitCode::kDone;
}

// --- import ----------------------------------------------------------------------------------------------------------

struct ImportArguments {
  std::string file;
  std::string format = "text";
  std::string store;
  std::vector<std::string> axioms;
  std::vector<std::string> verifiers;
  std::uint64_t work = 2'000'000;
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
};

/// The axiom files that came with the program: installed, or of the source tree.
Result<std::vector<std::string>> default_axioms() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& folder :
       {program.parent_path().parent_path() / REWRIGHT_DATA_DIR "/axioms", fs::path(REWRIGHT_AXIOMS)}) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".smt2" && name != "rejected.smt2" && name != "taso.smt2")
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    if (!files.empty()) return files;
  }
  return make_error(ErrorCode::kNotFound,
                    "the program's own axiom files were not found; name some with --axioms FILE...");
}

/// Those that are loaded, of the usual order: refute first, then proofs with certificates, then a solver.
std::vector<std::string> default_verifiers(const Registry& registry) {
  std::vector<std::string> names;
  for (const char* name : {"evaluate", "egraph", "z3"}) {
    if (registry.find<Verifier>(name) != nullptr) names.emplace_back(name);
  }
  return names;
}

Json to_json(const RuleImportReport& report) {
  return {{"index", report.index},
          {"verdict", name_of(report.verdict)},
          {"rule", report.text},
          {"precondition", report.precondition},
          {"reason", report.reason},
          {"counterexample", report.counterexample},
          {"certificate", report.certificate}};
}

void print_report(const RuleImportReport& report) {
  print_line(fmt::format("rule {}: {}", report.index, name_of(report.verdict)));
  if (!report.text.empty()) print_line("  " + report.text);
  const bool proved = report.verdict == ImportVerdict::kProved;
  if (report.verdict == ImportVerdict::kConditional) print_line("  where " + report.precondition);
  if (!proved) print_line("  " + report.reason);
  if (report.counterexample.empty()) return;
  std::istringstream lines(report.counterexample);
  for (std::string line; std::getline(lines, line);) print_line("    " + line);
}

Result<ExitCode> import(const Settings& settings, const ImportArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::string content, read_file(arguments.file));
  REWRIGHT_TRY(const auto candidates, read_rules(content, arguments.file, arguments.format, registry));
  std::vector<std::string> files = arguments.axioms;
  if (files.empty()) {
    REWRIGHT_TRY(files, default_axioms());
  }
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(files, registry));
  RuleImportOptions options;
  options.file = std::filesystem::path(arguments.file).filename().string();
  for (const std::string& name : arguments.verifiers.empty() ? default_verifiers(registry) : arguments.verifiers)
    options.verifiers.push_back({name, {}});
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
    print_line(fmt::format("{} entries: {} proved, {} proved under a condition, {} refuted, {} unknown", reports.size(),
                           counts[0], counts[1], counts[2], counts[3]));
  return counts[2] == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

void add_import(Program& program, CLI::App& group) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App& command = program.command(
      group, "import", "Reads rules from a file, verifies each anew, and keeps those that are proved in a new store",
      {"rewright rules import --format taso graph_subst.pb --store taso.store",
       "rewright rules import --format text rules.txt --store mine.store --verifiers evaluate z3 cvc5"},
      [arguments](const Settings& settings) { return import(settings, *arguments); });
  command.add_option("FILE", arguments->file, "The file of rules")->required();
  command.add_option("--store", arguments->store, "The folder for the results; it must be new")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--format", arguments->format,
                  "text: one rule a line; json: as rules export writes it; taso: TASO's protobuf files")
      ->check(CLI::IsMember({"text", "json", "taso"}));
  command.add_option("--axioms", arguments->axioms, "Axiom files (default: the program's own)")->type_name("FILE");
  command.add_option("--verifiers", arguments->verifiers, "Verifiers, in their order (default: evaluate egraph z3)")
      ->type_name("NAME");
  command.add_option("--work", arguments->work, "Each verifier's budget for a rule, in units of work")->type_name("N");
  command.add_option("--threads", arguments->threads, "Threads; no result depends on their number")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
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
                       "rewright rules export --format taso quickstart.store > rules.pb",
                       "rewright rules export --format dot quickstart.store | dot -Tsvg -O"},
                      [arguments](const Settings& settings) { return export_rules(settings, *arguments); });
  export_command.add_option("STORE", arguments->store, "The store")->required();
  export_command
      .add_option("--format", arguments->format,
                  "text: one rule a line; json: one object; dot: drawings for Graphviz; taso: TASO's protobuf files; "
                  "egg: rewrites as egg writes patterns; smt2: goals in the axioms' vocabulary")
      ->check(CLI::IsMember({"text", "json", "dot", "taso", "egg", "smt2"}));
  add_import(program, group);
}

}  // namespace rewright::cli
