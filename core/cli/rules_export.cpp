// rewright rules export --format F STORE
#include <cstdio>

#include "cli/rules.h"
#include "report/dot.h"
#include "rule/interchange.h"
#include "rule/taso.h"

namespace rewright::cli {
namespace {

struct Arguments {
  std::string store;
  std::string format = "text";
};

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

}  // namespace

void add_rules_export(Program& program, CLI::App& group) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      program.command(group, "export", "Writes all rules to standard output",
                      {"rewright rules export --format text quickstart.store > rules.txt",
                       "rewright rules export --format taso quickstart.store > rules.pb",
                       "rewright rules export --format dot quickstart.store | dot -Tsvg -O"},
                      [arguments](const Settings& settings) { return export_rules(settings, *arguments); });
  command.add_option("STORE", arguments->store, "The store")->required();
  command
      .add_option("--format", arguments->format,
                  "text: one rule a line; json: one object; dot: drawings for Graphviz; taso: TASO's protobuf files; "
                  "egg: rewrites as egg writes patterns; smt2: goals in the axioms' vocabulary")
      ->check(CLI::IsMember({"text", "json", "dot", "taso", "egg", "smt2"}));
}

}  // namespace rewright::cli
