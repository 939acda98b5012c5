// rewright axioms check FILE...
#include "axiom/audit.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"

#include <rewright/axiom.h>

#include <memory>
#include <thread>

namespace rewright::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::int64_t max_dim = 0;  ///< 0: the domain's own.
  bool nightly = false;
  std::size_t sample = 0;
  int threads = 0;
};

AuditOptions audit_options(const CheckOptions& options) {
  AuditOptions audit;
  audit.domain = options.nightly ? AuditDomain::kNightly : AuditDomain::kTaso;
  audit.max_dim = options.max_dim > 0 ? options.max_dim : 4;
  audit.max_sizes = options.sample > 0 ? options.sample : options.nightly ? 200 : 0;
  audit.max_typings = 0;
  audit.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  return audit;
}

Json to_json(const AuditResult& result) {
  Json counterexample = nullptr;
  if (!result.holds) counterexample = result.counterexample;
  return {{"name", result.name},
          {"combinations", result.combinations},
          {"sampled", result.sampled},
          {"error", result.error},
          {"complete", result.complete},
          {"holds", result.holds},
          {"counterexample", std::move(counterexample)}};
}

void print_result(const AuditResult& result) {
  const std::string count = with_commas(result.combinations);
  if (!result.holds) {
    print_line(fmt::format("{}: FAILS; the smallest counterexample:\n{}", result.name, result.counterexample));
    return;
  }
  if (result.combinations == 0) {
    print_line(fmt::format("{}: compared NOWHERE; no sizes of the domain meet its conditions", result.name));
    return;
  }
  std::string text = fmt::format("{}: holds on {} combinations", result.name, count);
  if (result.sampled < result.combinations) text += fmt::format(", error below {:.1e}", result.error);
  if (result.sampled == result.combinations) text += ", on samples (order or functions: no bound)";
  if (result.sampled > 0 && result.sampled < result.combinations)
    text += fmt::format(" ({} of them on samples: no bound)", with_commas(result.sampled));
  if (!result.complete) text += "; an even part of the domain";
  print_line(text);
}

Result<ExitCode> check_axioms(const Settings& settings, const CheckOptions& options) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(options.files, registry));
  AuditOptions audit_of = audit_options(options);
  ProgressLine line(settings.quiet);
  audit_of.progress = [&](std::size_t done, std::size_t total, std::uint64_t combinations) {
    line.show("audit", combinations, "combinations", static_cast<double>(done) / static_cast<double>(total));
  };
  REWRIGHT_TRY(const auto results, audit(axioms.axioms(), audit_of));
  line.clear();
  Json list = Json::array();
  std::size_t failing = 0, nowhere = 0;
  std::uint64_t combinations = 0;
  for (const AuditResult& result : results) {
    failing += !result.holds;
    nowhere += result.combinations == 0;
    combinations += result.combinations;
    if (settings.json)
      list.push_back(to_json(result));
    else
      print_result(result);
  }
  if (settings.json)
    print_json({{"axioms", std::move(list)}});
  else
    print_line(fmt::format("{} axioms, {} that fail, {} compared nowhere; {} combinations", results.size(), failing,
                           nowhere, with_commas(combinations)));
  return failing + nowhere == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_axioms(Program& program) {
  CLI::App& group = program.group("axioms", "Axioms: the equations about operators that proofs rest on");
  auto options = std::make_shared<CheckOptions>();
  CLI::App& check = program.command(
      group, "check", "Evaluates every axiom of the files at all small sizes and parameters that it speaks of",
      {"rewright axioms check axioms/linear_algebra.smt2", "rewright axioms check --max-dim 2 axioms/convolution.smt2",
       "rewright axioms check --nightly axioms/convolution.smt2"},
      [options](const Settings& settings) { return check_axioms(settings, *options); });
  check.add_option("FILE", options->files, "SMT-LIB files of axioms")->required();
  check.add_option("--max-dim", options->max_dim, "The greatest size along an axis (4)")->check(CLI::Range(1, 16));
  check.add_flag("--nightly", options->nightly,
                 "Strides to 3, kernels 1 to 5, groups to 3, dilations, every padding; a part of the sizes of each");
  check.add_option("--sample", options->sample, "At most about so many sizes for each choice of ranks and parameters")
      ->check(CLI::PositiveNumber);
  check.add_option("--threads", options->threads, "Threads (as many as there are cores)")->check(CLI::Range(1, 1024));
}

}  // namespace rewright::cli
