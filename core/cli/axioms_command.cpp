// rewright axioms check FILE... [--redundant] [--collapse] [--uses STORE] | prove FILE... | suggest STORE
// rewright axioms files [-o DIR]
#include <rewright/axiom/axiom.h>

#include <filesystem>
#include <memory>
#include <set>

#include "axiom/audit.h"
#include "axiom/writer.h"
#include "base/files.h"
#include "base/sha256.h"
#include "cli/axioms.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "discover/collapse.h"
#include "discover/redundancy.h"
#include "discover/usage.h"
#include "verify/certificate_text.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::vector<std::string> files;
  std::int64_t max_dim = 0;  ///< 0: the domain's own.
  bool nightly = false;
  bool quick = false;
  std::size_t sample = 0;
  int threads = 0;
  bool redundant = false;
  bool collapse = false;
  std::size_t goals = 0;  ///< That collapse makes of two axioms; 0: as many as by default.
  std::string uses;       ///< A store.
  std::string verifier;   ///< That redundancy asks; empty: the default.
  std::string proofs;     ///< Where redundancy writes them; empty: nowhere.
  std::string record;     ///< Where the audit writes which files stood it; empty: nowhere.
};

AuditOptions audit_options(const CheckOptions& options) {
  AuditOptions audit;
  audit.domain = options.nightly ? AuditDomain::kNightly : AuditDomain::kTaso;
  audit.max_dim = options.max_dim > 0 ? options.max_dim : 4;
  audit.max_sizes = options.sample > 0 ? options.sample : options.nightly ? 200 : options.quick ? 50 : 0;
  audit.max_typings = options.quick ? 100 : 0;
  audit.wide_typings = options.nightly ? 100 : options.quick ? 12 : 30;
  audit.wide_sizes = options.nightly ? 6 : 4;
  audit.threads = threads_of(options.threads);
  return audit;
}

Json to_json(const AuditResult& result) {
  Json counterexample = nullptr;
  if (!result.holds) counterexample = result.counterexample;
  return {{"name", result.name},
          {"combinations", result.combinations},
          {"drawn", result.drawn},
          {"sampled", result.sampled},
          {"error", result.error},
          {"complete", result.complete},
          {"stopped", result.stopped},
          {"holds", result.holds},
          {"counterexample", std::move(counterexample)}};
}

void print_result(const AuditResult& result) {
  const std::string count = with_commas(result.combinations);
  const std::uint64_t compared = result.combinations + result.drawn;
  if (!result.holds) {
    print_line(fmt::format("{}: FAILS; the smallest counterexample:\n{}", result.name, result.counterexample));
    return;
  }
  if (result.stopped) {
    print_line(compared == 0 ? fmt::format("{}: NOT LOOKED AT", result.name)
                             : fmt::format("{}: STOPPED after {} combinations, at which it holds", result.name, count));
    return;
  }
  if (compared == 0) {
    print_line(fmt::format("{}: compared NOWHERE; no sizes of the domain meet its conditions", result.name));
    return;
  }
  std::string text =
      fmt::format("{}: holds on {} combinations and {} drawn", result.name, count, with_commas(result.drawn));
  if (result.sampled < result.combinations) text += fmt::format(", error below {:.1e}", result.error);
  if (result.sampled == result.combinations) text += ", on samples (order or functions: no bound)";
  if (result.sampled > 0 && result.sampled < result.combinations)
    text += fmt::format(" ({} of them on samples: no bound)", with_commas(result.sampled));
  if (!result.complete) text += "; an even part of the domain";
  print_line(text);
}

// --- which follow from the others ------------------------------------------------------------------------------------

Json to_json(const Redundancy& entry) {
  return {{"name", entry.name},
          {"lemma", entry.lemma},
          {"follows", entry.answer.follows},
          {"combinations", entry.answer.combinations},
          {"proved", entry.answer.proved},
          {"axioms", entry.answer.axioms},
          {"reason", entry.answer.reason}};
}

void print_redundancy(const Redundancy& entry) {
  const Entailment::Answer& answer = entry.answer;
  const std::string from =
      answer.axioms.empty() ? std::string("the others") : fmt::format("{}", fmt::join(answer.axioms, ", "));
  if (answer.follows) {
    const std::string by =
        answer.by.empty() ? std::string() : fmt::format(", inputs put otherwise by {}", fmt::join(answer.by, ", "));
    print_line(fmt::format("{}: follows from {} ({} of {} asked{})", entry.name, from, answer.proved,
                           counted(answer.combinations, "combination"), by));
  } else if (entry.lemma) {
    print_line(fmt::format("{}: a LEMMA THAT IS NOT PROVED from the others ({} of {}): {}", entry.name, answer.proved,
                           counted(answer.combinations, "combination"), answer.reason));
  } else if (answer.proved > 0) {
    print_line(fmt::format("{}: follows in part ({} of {} asked)", entry.name, answer.proved,
                           counted(answer.combinations, "combination")));
  }
}

/// The proofs of those that follow, as `certificates check` reads them.
std::string proofs_text(const std::vector<Redundancy>& entries, const AxiomSet& axioms, const std::string& path) {
  CertificateFile head;
  const fs::path folder = fs::absolute(path).parent_path();
  for (const std::string& file : axioms.files())
    head.axioms.push_back(fs::absolute(file).lexically_normal().lexically_relative(folder).string());
  std::string text = to_text(head);
  for (const Redundancy& entry : entries) {
    if (!entry.answer.follows || entry.answer.proofs.empty()) continue;
    CertificateFile proofs;
    for (const Entailment::Proof& proof : entry.answer.proofs) {
      if (!proof.certificate.empty()) proofs.entries.push_back({proof.rule, proof.certificate, 0});
    }
    text += fmt::format("\n# {} follows from {}{}", entry.name, fmt::join(entry.answer.axioms, ", "), "\n") +
            to_text(proofs);
  }
  return text;
}

Result<ExitCode> check_redundancy(const Settings& settings, const CheckOptions& options, const Registry& registry,
                                  const AxiomSet& axioms) {
  REWRIGHT_TRY(const Entailment entailment, entailment_of(registry, options.verifier, options.threads));
  ProgressLine line(settings.quiet);
  REWRIGHT_TRY(const auto entries, find_redundant(axioms, entailment, [&](std::size_t done, std::size_t total) {
                 line.show("redundancy", done, "axioms", static_cast<double>(done) / static_cast<double>(total));
               }));
  line.clear();
  if (!options.proofs.empty()) REWRIGHT_CHECK(write_file(options.proofs, proofs_text(entries, axioms, options.proofs)));
  std::size_t follow = 0, unproved = 0;
  Json list = Json::array();
  for (const Redundancy& entry : entries) {
    follow += entry.answer.follows;
    unproved += entry.lemma && !entry.answer.follows;
    if (settings.json)
      list.push_back(to_json(entry));
    else
      print_redundancy(entry);
  }
  if (settings.json)
    print_json({{"verifier", entailment.verifier()}, {"axioms", std::move(list)}});
  else
    print_line(fmt::format("{}; following from the other {}, by {}: {}; lemmas not proved: {}",
                           counted(entries.size(), "axiom"), entries.size() - follow, entailment.verifier(), follow,
                           unproved));
  return unproved == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

// --- what they make equal together
// -------------------------------------------------------------------------------------

void print_collapse(const Collapse& collapse) {
  std::string chain = collapse.chain.substr(0, collapse.chain.find_last_not_of('\n') + 1);
  for (std::size_t at = chain.find('\n'); at != std::string::npos; at = chain.find('\n', at + 1))
    chain.insert(at + 1, "  ");
  print_line(fmt::format("{} is to BLAME: it makes equal what differs at {}\n  {}\n  {}\nin {}\n  {}", collapse.axiom,
                         collapse.values, collapse.left, collapse.right, collapse.goal, chain));
}

Result<ExitCode> check_collapse(const Settings& settings, const CheckOptions& options, const AxiomSet& axioms) {
  CollapseOptions asked;
  if (options.goals > 0) asked.composed = options.goals;
  asked.threads = threads_of(options.threads);
  ProgressLine line(settings.quiet);
  asked.progress = [&](std::size_t done, std::size_t total) {
    line.show("collapse", done, "goals", static_cast<double>(done) / static_cast<double>(total));
  };
  REWRIGHT_TRY(const CollapseReport report, check_collapse(axioms.axioms(), axioms.axioms(), asked));
  line.clear();
  Json list = Json::array();
  for (const Collapse& collapse : report.found) {
    list.push_back({{"axiom", collapse.axiom},
                    {"goal", collapse.goal},
                    {"left", collapse.left},
                    {"right", collapse.right},
                    {"values", collapse.values},
                    {"chain", collapse.chain}});
    if (!settings.json) print_collapse(collapse);
  }
  if (settings.json)
    print_json({{"goals", report.goals},
                {"terms", report.nodes},
                {"compared", report.pairs},
                {"nowhere", report.nowhere},
                {"axioms", std::move(list)}});
  else
    print_line(fmt::format(
        "{}, {}; {} of terms that the axioms make equal; {} to blame{}", counted(report.goals, "goal"),
        counted(report.nodes, "term"), counted(report.pairs, "comparison"), counted(report.found.size(), "axiom"),
        report.nowhere > 0 ? fmt::format("; {} at no small sizes", counted(report.nowhere, "goal")) : ""));
  return report.found.empty() ? ExitCode::kDone : ExitCode::kNegative;
}

// --- which rules use them --------------------------------------------------------------------------------------------

Result<ExitCode> check_uses(const Settings& settings, const CheckOptions& options, const AxiomSet& axioms) {
  REWRIGHT_TRY(const auto store, Store::open(options.uses, Store::Mode::kRead));
  REWRIGHT_TRY(const Usage usage, usage_of(*store));
  Json list = Json::array();
  Table table({"axiom", "rules"});
  table.align_right({1});
  std::size_t unused = 0;
  for (const Axiom& axiom : axioms.axioms()) {
    const auto found = usage.rules_of.find(axiom.name);
    const std::size_t count = found == usage.rules_of.end() ? 0 : found->second.size();
    unused += count == 0;
    table.add({axiom.name, with_commas(count)});
    list.push_back({{"name", axiom.name}, {"rules", count}});
  }
  if (settings.json) {
    print_json({{"rules", usage.rules}, {"silent", usage.silent}, {"axioms", std::move(list)}});
    return ExitCode::kDone;
  }
  print(table.to_string());
  print_line(fmt::format("{}; axioms that none uses: {}", counted(usage.rules, "rule"), unused));
  if (usage.silent > 0)
    print_line(
        fmt::format("proved by a verifier that does not name the axioms it used: {}", counted(usage.silent, "rule")));
  return ExitCode::kDone;
}

// --- the audit -------------------------------------------------------------------------------------------------------

/// SHA-256 and name of each file, a line each, then the operators.
Status record(std::span<const std::string> files, const Registry& registry, const std::string& path) {
  std::string text;
  for (const std::string& file : files) {
    REWRIGHT_TRY(const std::string hash, file_sha256(file));
    text += hash + "  " + fs::path(file).filename().string() + "\n";
  }
  return write_file(path, text + operator_lines(registry));
}

Result<ExitCode> check_axioms(const Settings& settings, const CheckOptions& options) {
  const bool whole = !options.redundant && !options.collapse && options.uses.empty();
  if (whole) heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const AxiomSet axioms, load_axioms(options.files, registry));
  if (!options.proofs.empty() && !options.redundant)
    return make_error(ErrorCode::kUsage, "--proofs {} goes with --redundant, which finds them", options.proofs);
  if (options.redundant) return check_redundancy(settings, options, registry, axioms);
  if (options.collapse) return check_collapse(settings, options, axioms);
  if (!options.uses.empty()) return check_uses(settings, options, axioms);
  AuditOptions audit_of = audit_options(options);
  audit_of.stop = interrupted;
  ProgressLine line(settings.quiet);
  audit_of.progress = [&](std::size_t done, std::size_t total, std::uint64_t combinations) {
    line.show("audit", combinations, "combinations", static_cast<double>(done) / static_cast<double>(total));
  };
  REWRIGHT_TRY(const auto results, audit(axioms.axioms(), audit_of));
  line.clear();
  Json list = Json::array();
  std::size_t failing = 0, nowhere = 0, stopped = 0;
  std::uint64_t combinations = 0, drawn = 0;
  for (const AuditResult& result : results) {
    failing += !result.holds;
    stopped += result.stopped && result.holds;
    nowhere += result.combinations + result.drawn == 0 && !result.stopped;
    combinations += result.combinations;
    drawn += result.drawn;
    if (settings.json)
      list.push_back(to_json(result));
    else
      print_result(result);
  }
  if (settings.json)
    print_json({{"axioms", std::move(list)}});
  else
    print_line(fmt::format("{}, {} failing, {} compared nowhere{}; {} and {} drawn", counted(results.size(), "axiom"),
                           failing, nowhere, stopped > 0 ? fmt::format(", {} not to the end", stopped) : "",
                           counted(combinations, "combination"), with_commas(drawn)));
  if (failing + nowhere > 0) return ExitCode::kNegative;
  if (stopped == 0 && !options.record.empty()) REWRIGHT_CHECK(record(axioms.files(), registry, options.record));
  return stopped > 0 ? ExitCode::kStopped : ExitCode::kDone;
}

/// Into a folder, where none of them may be there yet.
Result<std::vector<std::string>> copied(const std::vector<std::string>& files, const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::vector<std::string> copies;
  for (const std::string& file : files) {
    const std::string copy = copies.emplace_back((folder / fs::path(file).filename()).string());
    if (fs::exists(copy, failed))
      return make_error(ErrorCode::kUsage, "'{}' is there already; name a new folder with -o", copy);
    REWRIGHT_TRY(const std::string text, read_file(file));
    REWRIGHT_CHECK(write_file(copy, text));
  }
  return copies;
}

Result<ExitCode> list_files(const Settings& settings, const std::string& folder) {
  REWRIGHT_TRY(std::vector<std::string> files, own_axioms());
  if (!folder.empty()) {
    REWRIGHT_TRY(files, copied(files, folder));
  }
  if (settings.json) {
    print_json({{"files", files}});
  } else {
    for (const std::string& file : files) print_line(file);
  }
  return ExitCode::kDone;
}

}  // namespace

int threads_of(int wanted) { return wanted > 0 ? wanted : cores(); }

std::string operator_lines(const Registry& registry) {
  std::set<std::string> lines;
  for (const LoadedPlugin& plugin : registry.plugins())
    for (const std::string& object : plugin.provides)
      if (object.starts_with("operator ")) lines.insert(object + " " + plugin.version + "\n");
  return fmt::format("{}", fmt::join(lines, ""));
}

Result<Entailment> entailment_of(const Registry& registry, const std::string& verifier, int threads) {
  std::string name = verifier;
  if (name.empty()) {
    REWRIGHT_TRY(name, default_prover(registry));
  }
  return Entailment(registry, name, threads_of(threads));
}

void add_axioms(Program& program) {
  const Command group = program.group("axioms", "Axioms: the equations about operators that proofs rest on");
  auto options = std::make_shared<CheckOptions>();
  const Command check = program.command(
      group, "check", "Evaluates every axiom of the files at all small sizes and parameters that it speaks of",
      {"rewright axioms check axioms/linear_algebra.smt2", "rewright axioms check --max-dim 2 axioms/convolution.smt2",
       "rewright axioms check --nightly axioms/convolution.smt2",
       "rewright axioms check --redundant --proofs lemmas.proofs axioms/linear_algebra.smt2"},
      [options](const Settings& settings) { return check_axioms(settings, *options); });
  check.add_option("FILE", options->files, "SMT-LIB files of axioms").required();
  check
      .add_option("--max-dim", options->max_dim,
                  "The greatest size along an axis where all are tried (4); others are drawn to 8")
      .check(in_range(1, 16));
  const Argument nightly = check.add_flag("--nightly", options->nightly,
                                          "Strides to 3, kernels 1 to 5, groups to 3, dilations, every padding; a part "
                                          "of the sizes of each; more are drawn");
  check.add_flag("--quick", options->quick, "A part of the parameters and of the sizes of each; fewer are drawn")
      .excludes(nightly);
  check
      .add_option("--record", options->record,
                  "Where all axioms hold: writes the files' SHA-256 and the operators' versions to this one")
      .type_name("OUT");
  check.add_option("--sample", options->sample, "At most about so many sizes for each choice of ranks and parameters")
      .check(whole_number(1));
  check.add_flag("--redundant", options->redundant, "Instead: which axioms follow from the others");
  check.add_option("--proofs", options->proofs,
                   "With --redundant: writes the proofs, for 'rewright certificates check', to this file");
  check.add_flag("--collapse", options->collapse,
                 "Instead: terms that the axioms make equal together are evaluated; names the axiom to blame");
  check.add_option("--goals", options->goals, "Goals that --collapse makes of two axioms each (2000)")
      .check(whole_number(1));
  check.add_option("--uses", options->uses, "Instead: how many rules of this store each axiom is used by");
  check.add_option("--verifier", options->verifier, "The verifier that --redundant asks (egraph, else the first)");
  check.add_option("--threads", options->threads, "Threads (as many as there are cores)").check(in_range(1, 1024));

  add_axioms_prove(program, group);
  add_axioms_suggest(program, group);

  auto folder = std::make_shared<std::string>();
  const Command files =
      program.command(group, "files", "Lists the axiom files that came with the program, or copies them",
                      {"rewright axioms files", "rewright axioms files -o axioms"},
                      [folder](const Settings& settings) { return list_files(settings, *folder); });
  files.add_option("-o,--output", *folder, "Copies them to this folder, and lists the copies").type_name("DIR");
}

}  // namespace rewright::cli
