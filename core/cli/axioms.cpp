// rewright axioms check FILE...
#include "axiom/audit.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"

#include <rewright/axiom.h>

#include <memory>

namespace rewright::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  AuditOptions audit;
};

Json to_json(const AuditResult& result) {
  Json counterexample = nullptr;
  if (!result.holds) counterexample = result.counterexample;
  return {{"name", result.name},
          {"combinations", result.combinations},
          {"holds", result.holds},
          {"counterexample", std::move(counterexample)}};
}

void print_result(const AuditResult& result) {
  if (result.holds) {
    print_line(fmt::format("{}: holds on {} combinations", result.name, with_commas(result.combinations)));
  } else {
    print_line(fmt::format("{}: fails after {} combinations\n{}", result.name, with_commas(result.combinations),
                           result.counterexample));
  }
}

Result<ExitCode> check_axioms(const Settings& settings, const CheckOptions& options) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(options.files, registry));
  Json list = Json::array();
  std::size_t failing = 0;
  for (const Axiom& axiom : axioms.axioms()) {
    REWRIGHT_TRY(const AuditResult result, audit(axiom, options.audit));
    failing += !result.holds;
    if (settings.json) {
      list.push_back(to_json(result));
    } else {
      print_result(result);
    }
  }
  if (settings.json) {
    print_json({{"axioms", std::move(list)}});
  } else {
    print_line(fmt::format("{} axioms, {} that fail", axioms.axioms().size(), failing));
  }
  return failing == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_axioms(Program& program) {
  CLI::App& group = program.group("axioms", "Axioms: the equations about operators that proofs rest on");
  auto options = std::make_shared<CheckOptions>();
  CLI::App& check = program.command(
      group, "check", "Evaluates every axiom of the files at all small sizes and parameters that it speaks of",
      {"rewright axioms check axioms/linear_algebra.smt2", "rewright axioms check --max-dim 2 axioms/convolution.smt2"},
      [options](const Settings& settings) { return check_axioms(settings, *options); });
  check.add_option("FILE", options->files, "SMT-LIB files of axioms")->required();
  check.add_option("--max-dim", options->audit.max_dim, "The greatest size along an axis")->check(CLI::Range(1, 16));
}

}  // namespace rewright::cli
