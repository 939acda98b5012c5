// Rules that enumeration finds and mutants of them, before all verifiers: no two may contradict each other, and what is
// false must be found so.
#include "support/mutants.h"

#include <gtest/gtest.h>

#include <map>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

/// Candidates of up to two operators, every third, and mutants of all.
const std::vector<Rule>& found() {
  static const std::vector<Rule> kRules = [] {
    std::vector<Rule> rules;
    for (const auto& all : {rewright::testing::image_rules(2), rewright::testing::matrix_rules(2)})
      for (std::size_t i = 0; i < all.size(); i += 3) rules.push_back(all[i]);
    return rules;
  }();
  return kRules;
}
const std::vector<Rule>& mutants() {
  static const std::vector<Rule> kRules = rewright::testing::mutants(found(), 250, 11);
  return kRules;
}

/// The axioms over the operators of these rules: another registry has others.
const AxiomSet& axioms() {
  static const AxiomSet kAxioms = [] {
    std::vector<std::string> files(test::axioms().files().begin(), test::axioms().files().end());
    auto set = load_axioms(files, rewright::testing::loaded());
    if (!set) fail(set.error().message);
    return *std::move(set);
  }();
  return kAxioms;
}

PortfolioReport judge(const std::vector<Rule>& rules, const std::vector<std::string>& names,
                      std::uint64_t work = 40'000) {
  std::vector<VerifierChoice> choices;
  // False goals cost Z3 its whole budget.
  const Options small = {{"max_instances", std::int64_t{1000}}, {"default_work", std::int64_t{0}}};
  for (const std::string& name : names) choices.push_back({name, name == "z3" ? small : Options()});
  PortfolioOptions options;
  options.cross_check = true;
  options.budget.work = work;
  auto report = verify_all(rules, axioms(), choices, rewright::testing::loaded(), options);
  if (!report) fail(report.error().message);
  return *std::move(report);
}

const Verdict& said(const RuleReport& report, const std::string& verifier) {
  for (const VerifierVerdict& one : report.verdicts) {
    if (one.verifier == verifier) return one.verdict;
  }
  fail("no verdict of " + verifier);
}

TEST(Mutants, AreManyAndDistinct) { EXPECT_GE(mutants().size(), 200u); }

TEST(Mutants, SetNoVerifierAgainstAnother) {
  const std::vector<Rule> some(mutants().begin(), mutants().begin() + 60);
  const PortfolioReport report = judge(some, {"evaluate", "egraph", "z3"});
  for (const Contradiction& found : report.contradictions) ADD_FAILURE() << found.message << "\n" << found.reproducer;
}

/// A mutant that nobody refutes is true after all: most are proved.
TEST(Mutants, AreRefutedUnlessTheyAreTrue) {
  const PortfolioReport report = judge(mutants(), {"evaluate", "egraph"});
  EXPECT_GT(report.refuted, mutants().size() / 2);
  std::string open;
  for (std::size_t i = 0; i < mutants().size(); ++i) {
    if (report.rules[i].outcome.kind == VerdictKind::kUnknown) open += to_text(mutants()[i]) + "\n";
  }
  EXPECT_LE(report.unknown, mutants().size() / 20) << open;
}

TEST(Mutants, HaveCounterexamplesThatShowTheDifference) {
  const PortfolioReport report = judge(mutants(), {"evaluate"});
  for (const RuleReport& rule : report.rules) {
    if (rule.outcome.kind != VerdictKind::kRefuted) continue;
    const bool shapes_differ = rule.outcome.reason.find("has shape") != std::string::npos;
    const bool shown = rule.outcome.counterexample.find("source output") != std::string::npos ||
                       rule.outcome.counterexample.find("residues") != std::string::npos;
    EXPECT_TRUE(shapes_differ || shown) << rule.outcome.reason;
  }
}

/// What one solver proves, another does not refute, and evaluation at other points does not either.
TEST(Backends, AgreeOnWhatEnumerationFinds) {
  std::vector<Rule> equal;  // False goals cost solvers their whole budget.
  const PortfolioReport first = judge(found(), {"evaluate"});
  for (std::size_t i = 0; i < found().size(); ++i) {
    if (first.rules[i].outcome.kind != VerdictKind::kRefuted) equal.push_back(found()[i]);
  }
  const PortfolioReport report = judge(equal, {"evaluate", "egraph", "z3", "cvc5"}, 400'000);
  for (const Contradiction& found : report.contradictions) ADD_FAILURE() << found.message << "\n" << found.reproducer;
  std::map<std::string, std::size_t> proofs;
  for (const RuleReport& rule : report.rules) {
    for (const char* prover : {"egraph", "z3", "cvc5"})
      proofs[prover] += said(rule, prover).kind == VerdictKind::kProved;
  }
  for (const char* prover : {"egraph", "z3", "cvc5"}) EXPECT_GE(proofs[prover], equal.size() * 9 / 10) << prover;
}

/// Proved where the parts keep their sizes, false where they do not.
TEST(Backends, ThatProveUnderAConditionDoNotContradictARefutationOutsideIt) {
  std::vector<Rule> rules = {*parse_rule(
      "(b:2, c:2) split[sizes=[s0, s1]](concat(b, c)) => let v0, v1 = split[sizes=[s1, s0]](concat(c, b)) in "
      "v1, v0",
      rewright::testing::loaded())};
  rules[0].example = {{2, 3}, {3, 3}};
  rules[0].example_sizes = {{SizeVar::read("s0"), 2}, {SizeVar::read("s1"), 3}};
  const PortfolioReport report = judge(rules, {"evaluate", "egraph"});
  EXPECT_TRUE(report.contradictions.empty());
  EXPECT_EQ(said(report.rules[0], "evaluate").kind, VerdictKind::kRefuted);
  ASSERT_EQ(report.rules[0].outcome.kind, VerdictKind::kProved);
  EXPECT_FALSE(report.rules[0].outcome.conditions.empty());
}

TEST(EvaluateVerifier, RefutesTheSameWithOtherSeeds) {
  const auto verdicts_of = [](std::int64_t seed) {
    const auto verifier = rewright::testing::loaded().find<Verifier>("evaluate")->clone();
    if (auto status = verifier->configure({{"seed", seed}}); !status) fail(status.error().message);
    std::vector<Goal> goals;
    for (const Rule& rule : mutants()) goals.push_back({rule, axioms(), {}});
    std::vector<VerdictKind> kinds;
    const auto verdicts = verifier->verify(goals);
    if (!verdicts) fail(verdicts.error().message);
    for (const Verdict& verdict : *verdicts) kinds.push_back(verdict.kind);
    return kinds;
  };
  EXPECT_EQ(verdicts_of(1), verdicts_of(2));
}

}  // namespace
}  // namespace rewright
