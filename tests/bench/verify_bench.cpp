// What a rule costs each verifier, on rules that enumeration finds and on mutants of them.
//
// Rules    Candidates of up to three operators on matrices and up to two on images, generalised in both directions;
// every
//          tenth of the larger set. Mutants have one change in the target (support/mutants.h); those that `evaluate`
//          refutes are the false ones.
// Units    items_per_second is rules a second, on one core.
#include <rewright/axiom.h>
#include <rewright/verifier.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>

#include "support/mutants.h"
#include "verify/portfolio.h"

namespace {

using namespace rewright;
using rewright::testing::loaded;

const AxiomSet& axioms() {
  static const AxiomSet kAxioms = [] {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(REWRIGHT_SOURCE_DIR "/axioms")) {
      if (entry.path().extension() == ".smt2" && entry.path().filename() != "rejected.smt2")
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
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

void run_verifier(benchmark::State& state, const std::string& name, const std::vector<Rule>& rules,
                  const Options& options = {}, std::size_t chunk = PortfolioOptions().chunk) {
  std::size_t decided = 0;
  for (auto _ : state) {
    const auto verdicts = ask(name, rules, options, chunk);
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

void BM_cvc5(benchmark::State& state) { run_verifier(state, "cvc5", proved_rules()); }

BENCHMARK(BM_evaluate_false)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_evaluate_true)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_z3_incremental)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_z3_chunks)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_egraph)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_egraph_chunks)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_cvc5)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
