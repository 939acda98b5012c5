// Proofs by equality saturation and the checking of their certificates, in rules a second on one core.
//
// Rules    three: candidates of up to three operators on matrices and on images, generalised in both directions, every
//          tenth; four: of up to four operators on matrices, every hundredth. Those that the e-graph proves. They are
//          found and proved by a process of their own and read from its file, as `rewright certificates check` would:
//          among the remains of an enumeration they would lie all over the memory.
// States   warm: axioms at the ranks and parameters of these rules are there from the pass before. cold: a new prover,
//          or checker, for the whole set.
// Units    items_per_second is rules a second of CPU time; nodes, steps and bytes are means a rule.
#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "support/mutants.h"

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

struct Proved {
  std::vector<Rule> rules;
  std::vector<std::string> certificates;
  std::size_t candidates = 0;  ///< Rules that were tried.
};

void add_proved(const std::vector<Rule>& rules, std::size_t every, Proved& proved) {
  EqualityProver prover(axioms().axioms());
  SaturationLimits limits;
  limits.assume = false;
  for (std::size_t i = 0; i < rules.size(); i += every) {
    ++proved.candidates;
    const auto proof = prover.prove(rules[i], limits);
    if (!proof) continue;
    proved.rules.push_back(rules[i]);
    proved.certificates.push_back(proof->certificate);
  }
}

/// What another process proves.
Proved proved_elsewhere(const std::function<void(Proved&)>& find) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) fail("no temporary file can be made");
  axioms();
  if (const pid_t child = fork(); child == 0) {
    Proved proved;
    find(proved);
    fmt::print(file, "{} {}\n", proved.candidates, proved.rules.size());
    for (std::size_t i = 0; i < proved.rules.size(); ++i) {
      const std::string text = to_text(proved.rules[i]);
      fmt::print(file, "{} {}\n{}{}", text.size(), proved.certificates[i].size(), text, proved.certificates[i]);
    }
    _exit(std::fclose(file) == 0 ? 0 : 1);
  } else if (int status = 0; child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    fail("the process that proves ended early");
  }
  std::rewind(file);
  const auto number = [&] {
    std::size_t value = 0;
    if (std::fscanf(file, "%zu", &value) != 1) fail("the file of proofs ends early");
    return value;
  };
  const auto bytes = [&](std::size_t size) {
    std::string text(size, ' ');
    if (std::fread(text.data(), 1, size, file) != size) fail("the file of proofs ends early");
    return text;
  };
  Proved proved;
  proved.candidates = number();
  for (std::size_t left = number(); left > 0; --left) {
    const std::size_t rule_size = number(), certificate_size = number();
    std::fgetc(file);
    auto rule = parse_rule(bytes(rule_size), loaded());
    if (!rule) fail(rule.error().message);
    proved.rules.push_back(*std::move(rule));
    proved.certificates.push_back(bytes(certificate_size));
  }
  std::fclose(file);
  return proved;
}

const Proved& of_three() {
  static const Proved kProved = proved_elsewhere([](Proved& proved) {
    add_proved(rewright::testing::matrix_rules(3), 10, proved);
    add_proved(rewright::testing::image_rules(3), 10, proved);
  });
  return kProved;
}
const Proved& of_four() {
  static const Proved kProved = proved_elsewhere([](Proved& proved) {
    const auto rules = rewright::testing::enumerated_rules(
        {"ewadd", "ewmul", "matmul", "relu", "transpose", "concat", "concat[axis=1]"},
        {{"a", {2, 3}}, {"b", {3, 4}}, {"c", {4, 2}}, {"d", {2, 3}}}, 4);
    add_proved(rules, 100, proved);
  });
  return kProved;
}

void prove_all(benchmark::State& state, const Proved& proved, bool warm) {
  auto prover = std::make_unique<EqualityProver>(axioms().axioms());
  std::size_t nodes = 0, steps = 0, bytes = 0, passes = 0;
  for (auto _ : state) {
    if (!warm) prover = std::make_unique<EqualityProver>(axioms().axioms());
    for (const Rule& rule : proved.rules) {
      const auto proof = prover->prove(rule);
      if (!proof) fail(proof.error().message);
      nodes += prover->stats().nodes;
      steps += proof->steps;
      bytes += proof->certificate.size();
    }
    ++passes;
  }
  const auto rules = static_cast<double>(proved.rules.size()), all = rules * static_cast<double>(passes);
  state.SetItemsProcessed(static_cast<std::int64_t>(all));
  state.counters["rules"] = rules;
  state.counters["tried"] = static_cast<double>(proved.candidates);
  state.counters["nodes"] = static_cast<double>(nodes) / all;
  state.counters["steps"] = static_cast<double>(steps) / all;
  state.counters["bytes"] = static_cast<double>(bytes) / all;
}
void check_all(benchmark::State& state, const Proved& proved, bool warm) {
  auto checker = std::make_unique<CertificateChecker>(axioms().axioms(), loaded());
  for (auto _ : state) {
    if (!warm) checker = std::make_unique<CertificateChecker>(axioms().axioms(), loaded());
    for (std::size_t i = 0; i < proved.rules.size(); ++i) {
      if (const Status status = checker->check(proved.rules[i], proved.certificates[i]); !status)
        fail(status.error().message);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(proved.rules.size()));
}

void BM_egraph_three(benchmark::State& state) { prove_all(state, of_three(), state.range(0) != 0); }
void BM_egraph_four(benchmark::State& state) { prove_all(state, of_four(), state.range(0) != 0); }
void BM_checker_three(benchmark::State& state) { check_all(state, of_three(), state.range(0) != 0); }
void BM_checker_four(benchmark::State& state) { check_all(state, of_four(), state.range(0) != 0); }

BENCHMARK(BM_egraph_three)->ArgName("warm")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_egraph_four)->ArgName("warm")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_checker_three)->ArgName("warm")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_checker_four)->ArgName("warm")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
