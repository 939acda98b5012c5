// rewright axioms prove FILE... [--only NAME...] [--certify] [--show] [--record OUT] [--no-refute]
// [--threads N]
#include <rewright/axiom/axiom.h>

#include <algorithm>
#include <memory>
#include <set>

#include "axiom/audit.h"
#include "base/files.h"
#include "cli/axioms.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/theorem_page.h"
#include "theorem/theorem_prover.h"
#include "verify/rule_judge.h"

namespace rewright::cli {
namespace {

struct ProveOptions {
  std::vector<std::string> files;
  std::vector<std::string> names;  ///< Of the axioms to prove; none: all.
  bool certify = false;
  bool no_refute = false;
  bool show = false;
  int threads = 0;
  std::string record;  ///< Where theorems are written; empty: nowhere.
  std::string report;  ///< A page; empty: none.
};

/// What became of an axiom.
struct ProvedAxiom {
  theorem::AxiomProof proof;
  std::string counterexample;  ///< Where it is false.

  [[nodiscard]] const char* verdict() const {
    return proof.proved ? "proved" : counterexample.empty() ? "open" : "false";
  }
  /// Laws of the reals that the proof uses beyond those of rings and of any function.
  [[nodiscard]] std::vector<std::string> laws() const {
    std::vector<std::string> laws;
    if (proof.proved && proof.laws.order) laws.emplace_back("order");
    if (proof.proved && proof.laws.functions) laws.emplace_back("functions");
    return laws;
  }
};

Json json_of_proof(const ProvedAxiom& axiom) {
  return {{"name", axiom.proof.name},
          {"verdict", axiom.verdict()},
          {"combinations", axiom.proof.instances},
          {"certified", axiom.proof.is_certified()},
          {"laws", axiom.laws()},
          {"why", axiom.counterexample.empty() ? axiom.proof.reason : axiom.counterexample},
          {"seconds", axiom.proof.seconds}};
}

void print_proof(const ProvedAxiom& axiom, bool certify) {
  const theorem::AxiomProof& proof = axiom.proof;
  if (proof.proved) {
    const auto laws = axiom.laws();
    print_line(fmt::format("{}: proved for all sizes, at {}{}{} ({:.2f} s)", proof.name,
                           counted(proof.instances, "combination") + " of ranks and parameters",
                           proof.vacuous > 0 ? fmt::format(", {} of them met by no sizes", proof.vacuous) : "",
                           laws.empty() ? "" : fmt::format("; laws of {}", fmt::join(laws, ", ")), proof.seconds));
    if (certify && !proof.is_certified()) print_line(fmt::format("  without a certificate: {}", proof.uncertified));
  } else if (!axiom.counterexample.empty()) {
    print_line(fmt::format("{}: FALSE; a counterexample:\n{}", proof.name, axiom.counterexample));
  } else {
    print_line(fmt::format("{}: open; {} ({:.2f} s)", proof.name, proof.reason, proof.seconds));
  }
}

constexpr std::size_t kMostCases = 12;  ///< Of a proof that is shown.

std::string page_of(const AxiomSet& axioms, const std::vector<ProvedAxiom>& results, bool certify) {
  std::vector<ShownTheorem> theorems;
  for (std::size_t a = 0; a < results.size(); ++a) {
    ShownTheorem& theorem = theorems.emplace_back();
    theorem.axiom = &axioms.axioms()[a];
    theorem.proof = results[a].proof;
    theorem.counterexample = results[a].counterexample;
    theorem.is_certified_asked = certify;
    if (results[a].proof.proved) theorem.reading = theorem::read_proof(*theorem.axiom, kMostCases);
  }
  return theorems_html(theorems);
}

/// What both sides are at an index, case by case.
void print_reading(const Axiom& axiom) {
  const auto reading = theorem::read_proof(axiom, kMostCases);
  if (!reading) return;
  print_line(fmt::format("  at {}, at the index [{}]:", reading->at, fmt::join(reading->proof.index, ", ")));
  for (const theorem::ProofCase& one : reading->proof.told) {
    if (!one.where.empty()) print_line(fmt::format("  where {}:", fmt::join(one.where, ", ")));
    print_line(fmt::format("    left   {}\n    right  {}", one.left, one.right));
  }
}

/// SHA-256 of what each theorem says, its name and the laws of the reals that its proof uses, by digest; then the
/// operators.
Status record(const AxiomSet& axioms, const std::vector<ProvedAxiom>& results, const Registry& registry,
              const std::string& path) {
  std::set<std::string> lines;
  for (std::size_t a = 0; a < results.size(); ++a) {
    if (!results[a].proof.is_certified()) continue;
    REWRIGHT_TRY(const std::string digest, axiom_digest(axioms.axioms()[a]));
    const auto laws = results[a].laws();
    lines.insert(fmt::format("{}  {}{}\n", digest, results[a].proof.name,
                             laws.empty() ? "" : fmt::format(", by {}", fmt::join(laws, " and "))));
  }
  return write_file(path, fmt::format("{}{}", fmt::join(lines, ""), operator_lines(registry)));
}

Result<ExitCode> prove_axioms(const Settings& settings, const ProveOptions& options) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(AxiomSet axioms, load_axioms(options.files, registry));
  for (const std::string& name : options.names) {
    if (std::ranges::find(axioms.axioms(), name, &Axiom::name) == axioms.axioms().end())
      return make_error(ErrorCode::kUsage, "--only {}: the files have no axiom of this name", name);
  }
  if (!options.names.empty()) {
    axioms = axioms.filtered(
        [&](const Axiom& axiom) { return std::ranges::find(options.names, axiom.name) != options.names.end(); });
  }
  ProgressLine line(settings.quiet);
  theorem::AxiomProofOptions proving;
  proving.threads = threads_of(options.threads);
  proving.stop = interrupted;
  proving.certify = options.certify || !options.record.empty();
  proving.progress = [&](std::size_t done, std::size_t total) {
    line.show("proofs", done, "axioms", static_cast<double>(done) / static_cast<double>(total));
  };
  REWRIGHT_TRY(auto proofs, theorem::prove(axioms.axioms(), proving));
  line.clear();
  std::vector<ProvedAxiom> results;
  std::size_t proved = 0, refuted = 0, certified = 0;
  double seconds = 0;
  for (std::size_t a = 0; a < proofs.size(); ++a) {
    ProvedAxiom& result = results.emplace_back(ProvedAxiom{std::move(proofs[a]), {}});
    if (!result.proof.proved && !options.no_refute && !interrupted()) {
      AuditOptions audit_of;
      audit_of.max_sizes = 50;
      audit_of.max_typings = 100;
      audit_of.stop = interrupted;
      audit_of.threads = threads_of(options.threads);
      REWRIGHT_TRY(const AuditResult audited, audit(axioms.axioms()[a], audit_of));
      if (!audited.holds) result.counterexample = audited.counterexample;
    }
    proved += result.proof.proved;
    certified += result.proof.is_certified();
    refuted += !result.counterexample.empty();
    seconds += result.proof.seconds;
    if (!settings.json) print_proof(result, proving.certify);
    if (!settings.json && options.show && result.proof.proved) print_reading(axioms.axioms()[a]);
  }
  const std::size_t open = results.size() - proved - refuted;
  if (settings.json) {
    Json list = Json::array();
    for (const ProvedAxiom& result : results) list.push_back(json_of_proof(result));
    print_json({{"proved", proved},
                {"certified", certified},
                {"open", open},
                {"false", refuted},
                {"seconds", seconds},
                {"axioms", std::move(list)}});
  } else {
    print_line(fmt::format(
        "{}: {} proved for all sizes{}, {} open, {} false; {:.1f} s of proving", counted(results.size(), "axiom"),
        proved, proving.certify ? fmt::format(" ({} with certificates)", certified) : "", open, refuted, seconds));
  }
  if (!options.report.empty()) REWRIGHT_CHECK(write_file(options.report, page_of(axioms, results, proving.certify)));
  if (interrupted()) return ExitCode::kStopped;
  if (!options.record.empty()) REWRIGHT_CHECK(record(axioms, results, registry, options.record));
  return open + refuted == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

}  // namespace

void add_axioms_prove(Program& program, const Command& group) {
  auto options = std::make_shared<ProveOptions>();
  const Command prove = program.command(
      group, "prove",
      "Proves every axiom of the files for all sizes and values from the operators' definitions, at each choice of "
      "ranks and parameters that 'axioms check' tries; evaluates what stays open",
      {"rewright axioms prove axioms/*.smt2",
       "rewright axioms prove --show --only matmul-associates axioms/linear_algebra.smt2",
       "rewright axioms prove --certify --report proofs.html axioms/linear_algebra.smt2"},
      [options](const Settings& settings) { return prove_axioms(settings, *options); });
  prove.add_option("FILE", options->files, "SMT-LIB files of axioms").required();
  prove.add_option("--only", options->names, "The axioms of these names alone").repeatable();
  prove.add_flag("--certify", options->certify,
                 "Each proof is made again with a certificate, which the independent checker replays");
  prove
      .add_option(
          "--record", options->record,
          "Writes the theorems to this file: with --certify, SHA-256 of what each says, its name, the laws used")
      .type_name("OUT");
  prove.add_flag("--no-refute", options->no_refute, "What stays open is not evaluated in search of a counterexample");
  prove.add_flag(
      "--show", options->show,
      "What both sides of an axiom are at one index, from the definitions, at the first ranks and parameters");
  prove.add_option("--report", options->report, "A page of the proofs, step by step, as a person would write them")
      .type_name("FILE");
  prove.add_option("--threads", options->threads, "Threads (as many as there are cores)").check(in_range(1, 1024));
}

}  // namespace rewright::cli
