// rewright axioms suggest STORE: axioms for what nothing proves.
#include <rewright/axiom/axiom.h>

#include <memory>
#include <optional>

#include "axiom/writer.h"
#include "cli/axioms.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "discover/suggest.h"
#include "store/store.h"

namespace rewright::cli {
namespace {

struct SuggestArguments {
  std::string store;
  std::vector<std::string> files;
  std::string without;
  std::string verifier;
  int threads = 0;
};

std::string suggestions_text(const std::vector<Suggestion>& suggestions) {
  std::vector<Axiom> axioms;
  for (const Suggestion& suggestion : suggestions) axioms.push_back(suggestion.axiom);
  const auto text = to_smt(axioms);
  return text ? *text : "; " + text.error().message + "\n";
}

Json to_json(const Suggestion& suggestion) {
  const auto text = to_smt(suggestion.axiom);
  return {{"name", suggestion.axiom.name},
          {"smt", text ? *text : ""},
          {"combinations", suggestion.combinations},
          {"goals", suggestion.goals},
          {"from", suggestion.from}};
}

/// The axiom that --without names; null where it names none.
Result<const Axiom*> taken_away(const AxiomSet& all, const std::string& without) {
  if (without.empty()) return static_cast<const Axiom*>(nullptr);
  for (const Axiom& axiom : all.axioms()) {
    if (axiom.name == without) return &axiom;
  }
  return make_error(ErrorCode::kNotFound, "--without: there is no axiom '{}' in the files", without);
}

void print_suggestions(const Suggestions& found, const SuggestArguments& arguments,
                       const std::optional<Entailment::Answer>& back) {
  if (!found.axioms.empty()) {
    print(suggestions_text(found.axioms));
    for (const Suggestion& suggestion : found.axioms)
      print_line(fmt::format("; {} was made of {} ({})", suggestion.axiom.name, suggestion.from,
                             counted(suggestion.goals, "goal")));
  }
  for (const std::string& refuted : found.refuted) {
    std::string text = "; FALSE: " + refuted;
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3))
      text.insert(at + 1, ";   ");
    print_line(text);
  }
  for (const std::string& goal : found.unsettled) print_line("; still open: " + goal);
  if (found.stopped) {
    print_line(
        fmt::format("; stopped early: {} open at first; {} so far, some of them needless perhaps; what follows from "
                    "them was not asked",
                    counted(found.open, "goal"), counted(found.axioms.size(), "axiom")));
    return;
  }
  print_line(fmt::format("; {} open at first; {} suggested; goals that follow: {}, still open: {}; false equations: {}",
                         counted(found.open, "goal"), counted(found.axioms.size(), "axiom"), found.follow,
                         found.unsettled.size(), found.refuted.size()));
  if (back)
    print_line(fmt::format("; {} {} ({} of {})", arguments.without,
                           back->follows ? "FOLLOWS from the suggestions" : "does not follow from the suggestions",
                           back->proved, counted(back->combinations, "combination")));
}

Result<ExitCode> suggest(const Settings& settings, const SuggestArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const auto store, Store::open(arguments.store, Store::Mode::kRead));
  REWRIGHT_TRY(const AxiomSet all, load_axioms(arguments.files, registry));
  REWRIGHT_TRY(const Axiom* without, taken_away(all, arguments.without));
  const AxiomSet left = all.filtered([&](const Axiom& axiom) { return axiom.name != arguments.without; });
  REWRIGHT_TRY(const Entailment entailment, entailment_of(registry, arguments.verifier, arguments.threads));
  ProgressLine line(settings.quiet);
  SuggestOptions options;
  options.ask_all = without != nullptr;
  options.law.threads = threads_of(arguments.threads);
  options.law.registry = &registry;
  options.law.stop = interrupted;
  options.progress = [&](const std::string& what, std::size_t done, std::size_t total) {
    line.show("suggest", done, what, total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  };
  REWRIGHT_TRY(const Suggestions found, suggest_axioms(*store, left, registry, entailment, options));
  std::optional<Entailment::Answer> back;
  if (without != nullptr && !found.stopped) {
    REWRIGHT_TRY(const AxiomSet now, with_suggestions(left, found.axioms, registry));
    REWRIGHT_TRY(back, entailment.follows(*without, now));
  }
  line.clear();
  if (settings.json) {
    Json list = Json::array();
    for (const Suggestion& suggestion : found.axioms) list.push_back(to_json(suggestion));
    Json json = {{"axioms", std::move(list)}, {"open", found.open},           {"follow", found.follow},
                 {"refuted", found.refuted},  {"unsettled", found.unsettled}, {"stopped", found.stopped}};
    if (back) json["given_back"] = back->follows;
    print_json(json);
  } else {
    print_suggestions(found, arguments, back);
  }
  if (found.stopped) return ExitCode::kStopped;
  const bool settled = found.unsettled.empty() && (!back || back->follows);
  return settled ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_axioms_suggest(Program& program, const Command& group) {
  auto suggest_arguments = std::make_shared<SuggestArguments>();
  const Command suggest_command = program.command(
      group, "suggest", "Suggests axioms for the goals of a store that nothing refutes and nothing proves",
      {"rewright axioms suggest quickstart.store --axioms axioms/*.smt2",
       "rewright axioms suggest quickstart.store --axioms axioms/*.smt2 --without matmul-associates"},
      [suggest_arguments](const Settings& settings) { return suggest(settings, *suggest_arguments); });
  suggest_command.add_option("STORE", suggest_arguments->store, "The campaign's store").required();
  suggest_command.add_option("--axioms", suggest_arguments->files, "The axiom files that are there").required();
  suggest_command.add_option(
      "--without", suggest_arguments->without,
      "As if this axiom were not there: what is proved is asked again; says whether it comes back");
  suggest_command.add_option("--verifier", suggest_arguments->verifier, "The verifier to ask (egraph, else the first)");
  suggest_command.add_option("--threads", suggest_arguments->threads, "Threads (as many as there are cores)")
      .check(in_range(1, 1024));
}

}  // namespace rewright::cli
