// rewright rules export --format F SOURCE
#include <cstdio>

#include "campaign/rule_source.h"
#include "cli/rules.h"
#include "interchange/interchange.h"
#include "interchange/taso.h"
#include "onnx/import.h"
#include "report/dot.h"

namespace rewright::cli {
namespace {

struct RulesExportArguments {
  std::string source;
  std::vector<std::string> models;
  std::string format = "text";
};

Result<std::vector<Rule>> read(const RulesExportArguments& arguments, const Registry& registry) {
  ParameterUses uses;
  for (const std::string& model : arguments.models) {
    REWRIGHT_TRY(const ImportedModel imported, import_model_file(model, registry));
    uses.add(imported.graph);
  }
  return read_rule_source(arguments.source, registry, uses);
}

// Every rule a drawing of its own; `dot` and its relatives read several from one file.
void print_drawings(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) print(to_dot(rule));
}

// What the other format cannot say is counted and named on standard error.
void print_taso(const std::vector<Rule>& rules, bool quiet) {
  const TasoFile file = write_taso(rules);
  std::fwrite(file.bytes.data(), 1, file.bytes.size(), stdout);
  std::size_t left_out = 0;
  for (const auto& [what, count] : file.left_out) left_out += count;
  note(fmt::format("{} written; {} left out, for what TASO's format cannot say", counted(file.written, "rule"),
                   left_out),
       quiet);
  for (const auto& [what, count] : file.left_out) note(fmt::format("  {} for {}", count, what), quiet);
}

void print_texts(const std::vector<RuleText>& rules, bool json) {
  if (json) return print_json(to_json(rules));
  for (const RuleText& rule : rules) print_line(rule.text);
}

Result<ExitCode> export_rules(const Settings& settings, const RulesExportArguments& arguments) {
  const bool json = settings.json || arguments.format == "json";
  const bool as_text = json || arguments.format == "text";
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const std::vector<Rule> rules, read(arguments, registry));
  if (as_text) {
    std::vector<RuleText> texts;
    for (const Rule& rule : rules) texts.push_back(text_of(rule));
    print_texts(texts, json);
  } else if (arguments.format == "dot") {
    print_drawings(rules);
  } else if (arguments.format == "taso") {
    print_taso(rules, settings.quiet);
  } else {
    print(arguments.format == "egg" ? to_egg(rules) : to_smt2(rules));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_rules_export(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesExportArguments>();
  const Command command =
      program.command(group, "export", "Writes all rules to standard output",
                      {"rewright rules export --format text quickstart.store > rules.txt",
                       "rewright rules export --format taso quickstart.store > rules.pb",
                       "rewright rules export --format dot quickstart.store | dot -Tsvg -O",
                       "rewright rules export experiments/library/library.rules --for model.onnx"},
                      [arguments](const Settings& settings) { return export_rules(settings, *arguments); });
  command.add_option("SOURCE", arguments->source, "The store, or a file of rules, whose proofs are replayed")
      .required();
  command.add_option("--for", arguments->models,
                     "Of families in a file also the members with the parameters of these ONNX models");
  command
      .add_option("--format", arguments->format,
                  "text: one rule a line; json: one object; dot: drawings for Graphviz; taso: TASO's protobuf files; "
                  "egg: rewrites as egg writes patterns; smt2: goals in the axioms' vocabulary")
      .check(one_of({"text", "json", "dot", "taso", "egg", "smt2"}));
}

}  // namespace rewright::cli
