// What a rule costs each verifier, on rules that enumeration finds and on mutants of them.
//
// Rules    Candidates of up to three operators on matrices and up to two on images, generalised in both directions;
// every
//          tenth of the larger set. Mutants have one change in the target (support/mutants.h); those that `evaluate`
//          refutes are the false ones.
// Units    items_per_second is rules for each second of CPU time, of this process and of the solvers': one core's
// worth.
#include <rewright/axiom/axiom.h>
#include <rewright/verify/certificate.h>
#include <rewright/verify/verifier.h>

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <z3++.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "interchange/interchange.h"
#include "support/mutants.h"
#include "verify/portfolio.h"

namespace {

using namespace rewright;
using rewright::testing::loaded;

/// Those that the quickstart campaign names.
const AxiomSet& axioms() {
  static const AxiomSet kAxioms = [] {
    std::vector<std::string> files;
    for (const char* name : {"elementwise", "linear_algebra", "layout", "convolution"})
      files.push_back(fmt::format("{}/axioms/{}.smt2", REWRIGHT_SOURCE_DIR, name));
    auto set = load_axioms(files, loaded());
    if (!set) fail(set.error().message);
    return *std::move(set);
  }();
  return kAxioms;
}

/// A fresh verifier for every chunk, as the portfolio asks.
std::vector<Verdict> ask(const std::string& name, std::span<const Rule> rules, const Options& options = {},
                         std::size_t chunk = PortfolioOptions().chunk) {
  Budget budget;
  budget.work = 2'000'000;
  std::vector<Verdict> all;
  for (std::size_t at = 0; at < rules.size(); at += chunk) {
    const auto verifier = loaded().find<Verifier>(name)->clone();
    if (auto status = verifier->configure(options); !status) fail(status.error().message);
    std::vector<Goal> goals;
    for (const Rule& rule : rules.subspan(at, std::min(chunk, rules.size() - at)))
      goals.push_back({rule, axioms(), budget});
    auto verdicts = verifier->verify(goals);
    if (!verdicts) fail(verdicts.error().message);
    std::ranges::move(*verdicts, std::back_inserter(all));
  }
  return all;
}

/// Every tenth.
const std::vector<Rule>& found_rules() {
  static const std::vector<Rule> kRules = [] {
    std::vector<Rule> rules;
    for (const auto& all : {rewright::testing::image_rules(3), rewright::testing::matrix_rules(3)}) {
      for (std::size_t i = 0; i < all.size(); i += 10) rules.push_back(all[i]);
    }
    return rules;
  }();
  return kRules;
}
std::vector<Rule> of_kind(const std::vector<Rule>& rules, VerdictKind kind) {
  const auto verdicts = ask("evaluate", rules);
  std::vector<Rule> chosen;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (verdicts[i].kind == kind) chosen.push_back(rules[i]);
  }
  return chosen;
}
const std::vector<Rule>& true_rules() {
  static const std::vector<Rule> kRules = of_kind(found_rules(), VerdictKind::kUnknown);
  return kRules;
}
const std::vector<Rule>& false_rules() {
  static const std::vector<Rule> kRules =
      of_kind(rewright::testing::mutants(found_rules(), 2000, 1), VerdictKind::kRefuted);
  return kRules;
}

void count(benchmark::State& state, std::size_t rules, std::size_t decided) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rules));
  state.counters["rules"] = static_cast<double>(rules);
  state.counters["decided"] = static_cast<double>(decided);
}

/// CPU seconds of this process and of those that it has waited for: solvers have processes of their own.
double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used = {};
    ::getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  }
  return seconds;
}

void run_verifier(benchmark::State& state, const std::string& name, const std::vector<Rule>& rules,
                  const Options& options = {}, std::size_t chunk = PortfolioOptions().chunk) {
  std::size_t decided = 0;
  for (auto _ : state) {
    const double before = cpu_seconds();
    const auto verdicts = ask(name, rules, options, chunk);
    state.SetIterationTime(cpu_seconds() - before);
    decided = static_cast<std::size_t>(
        std::ranges::count_if(verdicts, [](const Verdict& v) { return v.kind != VerdictKind::kUnknown; }));
  }
  count(state, rules.size(), decided);
}

void BM_evaluate_false(benchmark::State& state) { run_verifier(state, "evaluate", false_rules()); }
void BM_evaluate_true(benchmark::State& state) { run_verifier(state, "evaluate", true_rules()); }
const Options kEMatching = {{"default_work", std::int64_t{0}}};
/// Those that e-matching proves: the others cost their whole budget.
const std::vector<Rule>& proved_rules() {
  static const std::vector<Rule> kRules = [] {
    const auto verdicts = ask("z3", true_rules(), kEMatching);
    std::vector<Rule> chosen;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].kind == VerdictKind::kProved) chosen.push_back(true_rules()[i]);
    }
    return chosen;
  }();
  return kRules;
}
/// One process for all rules; then one for each chunk of the portfolio's.
void BM_z3_incremental(benchmark::State& state) { run_verifier(state, "z3", proved_rules(), kEMatching, 1'000'000); }
void BM_z3_chunks(benchmark::State& state) { run_verifier(state, "z3", proved_rules(), kEMatching); }

void BM_egraph(benchmark::State& state) { run_verifier(state, "egraph", proved_rules(), {}, 1'000'000); }
void BM_egraph_chunks(benchmark::State& state) { run_verifier(state, "egraph", proved_rules()); }

/// TASO's way: a fresh default Z3 solver for every goal, over axioms without shapes, a second at most. Axioms and goal
/// are made into Z3's terms outside the time that counts. Every 60th rule.
void BM_taso(benchmark::State& state) {
  std::string axiom_text;
  for (const char* name : {"elementwise", "linear_algebra", "layout", "convolution"}) {
    std::ifstream file(fmt::format("{}/axioms/{}.smt2", REWRIGHT_SOURCE_DIR, name));
    for (std::string line; std::getline(file, line);) {
      // The files declare what they share; a declaration is made once, and the logic is Z3's choice.
      const bool declares = line.starts_with("(declare-") || line.starts_with("(define-");
      if (line.starts_with("(set-") || (declares && axiom_text.find(line) != std::string::npos)) continue;
      axiom_text += line + "\n";
    }
  }
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < proved_rules().size(); i += 60) rules.push_back(proved_rules()[i]);
  std::size_t proved = 0;
  double seconds = 0;
  for (auto _ : state) {
    proved = 0;
    seconds = 0;
    for (const Rule& rule : rules) {
      std::string goal, line;
      std::istringstream lines(to_smt2(std::span(&rule, 1)));
      while (std::getline(lines, line)) {
        const bool command =
            line.starts_with("(set-") || line.starts_with("(check") || line == "(push)" || line == "(pop)";
        const bool known = line.starts_with("(declare-") &&
                           axiom_text.find(line.substr(0, line.find(" ("))) != std::string::npos &&
                           line.find(" () ") == std::string::npos;
        if (!command && !known) goal += line + "\n";
      }
      z3::context context;
      const z3::expr_vector all = context.parse_string((axiom_text + goal).c_str());
      const double start = cpu_seconds();
      z3::solver solver(context);
      z3::params limit(context);
      limit.set("timeout", 1000U);
      solver.set(limit);
      for (const z3::expr& formula : all) solver.add(formula);
      proved += solver.check() == z3::unsat;
      seconds += cpu_seconds() - start;
    }
    state.SetIterationTime(seconds);
  }
  count(state, rules.size(), proved);
}

/// A new checker for the certificates of all rules that the e-graph proves.
void BM_checker(benchmark::State& state) {
  std::vector<const Rule*> rules;
  std::vector<std::string> certificates;
  const auto verdicts = ask("egraph", proved_rules());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].certificate.empty() || !verdicts[i].conditions.empty()) continue;
    rules.push_back(&proved_rules()[i]);
    certificates.push_back(verdicts[i].certificate);
  }
  std::size_t accepted = 0;
  for (auto _ : state) {
    const double before = cpu_seconds();
    CertificateChecker checker(axioms().axioms(), loaded());
    accepted = 0;
    for (std::size_t i = 0; i < rules.size(); ++i) accepted += checker.check(*rules[i], certificates[i]).has_value();
    state.SetIterationTime(cpu_seconds() - before);
  }
  count(state, rules.size(), accepted);
}

/// All in one chunk; the verifier takes as many processes as it wants.
void BM_cvc5(benchmark::State& state) { run_verifier(state, "cvc5", proved_rules(), {}, 1'000'000); }

BENCHMARK(BM_evaluate_false)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_evaluate_true)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_z3_incremental)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_z3_chunks)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_egraph)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_egraph_chunks)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_cvc5)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);
BENCHMARK(BM_checker)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(BM_taso)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
