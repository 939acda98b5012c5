// Proofs by equality saturation: what is proved, under which conditions, within which limits; every proof is replayed.
#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/mutants.h"
#include "support/random.h"
#include "support/rewriter.h"
#include "support/true_rules.h"
#include "unit/verify/rules.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

EqualityProver prover() { return EqualityProver(test::axioms().axioms()); }

/// Those that the quickstart campaign names.
const AxiomSet& quickstart_axioms() {
  static const AxiomSet kAxioms = [] {
    std::vector<std::string> files;
    for (const char* name : {"elementwise", "linear_algebra", "layout", "convolution"})
      files.push_back(fmt::format("{}/axioms/{}.smt2", REWRIGHT_SOURCE_DIR, name));
    auto set = load_axioms(files, test::plugins());
    if (!set) fail(set.error().message);
    return *std::move(set);
  }();
  return kAxioms;
}

void expect_replayed(Rule rule, const EqualityProof& proof) {
  rule.precondition.insert(rule.precondition.end(), proof.conditions.begin(), proof.conditions.end());
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  const Status status = checker.check(rule, proof.certificate);
  EXPECT_TRUE(status) << to_text(rule) << "\n" << proof.certificate << status.error().message;
}

TEST(EqualityProver, ProvesEveryTrueRuleWithoutConditions) {
  auto egraph = prover();
  for (const auto& text : test::true_rules()) {
    const Rule rule = test::rule(text);
    const auto proof = egraph.prove(rule);
    ASSERT_TRUE(proof) << text << "\n" << proof.error().message;
    EXPECT_TRUE(proof->conditions.empty()) << text;
    expect_replayed(rule, *proof);
  }
}
TEST(EqualityProver, MayBeMoved) {
  EqualityProver first = prover(), moved(std::move(first));
  first = std::move(moved);
  EXPECT_TRUE(first.prove(test::rule("(x:2) transpose(transpose(x)) => x")));
}
TEST(EqualityProver, ProvesNoWrongRule) {
  auto egraph = prover();
  SaturationLimits limits;
  limits.assume = false;
  for (const auto& text : test::wrong_rules()) EXPECT_FALSE(egraph.prove(test::rule(text), limits)) << text;
}
TEST(EqualityProver, SaysWhyARuleIsNoGoal) {
  const auto refusal = [](const Rule& rule) {
    const auto proof = prover().prove(rule);
    return proof ? "proved" : proof.error().message;
  };
  const Rule relu = test::rule("(x:2) relu(x) => relu(x)");
  Rule flat = relu, two = relu, nowhere = relu;
  flat.target = test::rule("(x:2) reshape[sizes=[x.0*x.1]](x) => reshape[sizes=[x.0*x.1]](x)").target;
  EXPECT_EQ(refusal(flat), "output 0 has different ranks in source and target");
  two.target = test::rule("(x:2) relu(x), x => relu(x), x").target;
  EXPECT_EQ(refusal(two), "source and target have different numbers of outputs");
  nowhere.precondition = {*Constraint::parse("x.0 = 1"), *Constraint::parse("x.0 = 2")};
  EXPECT_EQ(refusal(nowhere), "no sizes meet the conditions under which both sides are defined");
  Rule undefined = relu;
  undefined.target = test::rule("(x:3) softmax[axis=2](x) => softmax[axis=2](x)").target;
  EXPECT_EQ(refusal(undefined), "softmax is defined nowhere");
}
TEST(EqualityProver, ProvesEachOutputByItself) {
  const auto proof = prover().prove(test::rule("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y"));
  ASSERT_TRUE(proof);
  EXPECT_THAT(proof->axioms, ElementsAre("split-first-of-concat", "split-second-of-concat"));
  EXPECT_THAT(proof->certificate, HasSubstr("output 1\n. > split-second-of-concat@"));
  EXPECT_FALSE(prover().prove(test::rule("(x:2, y:2) concat(x, y), x => concat(x, y), y")));
}
TEST(EqualityProver, TakesMultiplesOfSizesForWhatTheyAre) {
  const Rule rule = test::rule("(x:2, y:2) split[sizes=[2*x.0, y.0]](concat(concat(x, x), y)) => concat(x, x), y");
  const auto proof = prover().prove(rule);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_TRUE(proof->conditions.empty());
  expect_replayed(rule, *proof);
  // The middle of x begins at 2 n, and at n.
  EXPECT_FALSE(
      prover().prove(test::rule("(x:2) let a, b, c = split[sizes=[2*n, m, n]](x) in b => let a, b, c = "
                                "split[sizes=[n, m, 2*n]](x) in b")));
}
TEST(EqualityProver, NeedsNoStepWhereBothSidesAreOneTerm) {
  const auto proof = prover().prove(test::rule("(x:2, y:2) matmul(x, y) => matmul(x, y)"));
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->certificate, "certificate 1\noutput 0\n");
}

TEST(EqualityProver, WritesListsOfNumbersBesideSizes) {
  const Rule rule = test::rule(
      "(x:2) relu(relu(slice[axes=[0, 1], starts=[1, 0], sizes=[x.1, 2], steps=[1, 3]](x))) => "
      "relu(slice[axes=[0, 1], starts=[1, 0], sizes=[x.1, 2], steps=[1, 3]](x))");
  const auto proof = prover().prove(rule);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_THAT(proof->certificate, HasSubstr("x=slice[axes=[0, 1], starts=[1, 0], sizes=[x.1, 2], steps=[1, 3]](x)\n"));
  expect_replayed(rule, *proof);
}

// The cuts must meet: with a split elsewhere the parts are others.
TEST(EqualityProver, FindsTheConditionUnderWhichARuleHolds) {
  Rule rule = test::rule(
      "(x:2, y:2) let p, q = split[sizes=[s0, s1]](concat(x, y)) in q, p => split[sizes=[s1, s0]](concat(y, x))");
  rule.example = {Shape{2, 3}, Shape{4, 3}};
  rule.example_sizes = {{SizeVar::read("s0"), 2}, {SizeVar::read("s1"), 4}};
  const auto proof = prover().prove(rule);
  ASSERT_TRUE(proof) << proof.error().message;
  ASSERT_EQ(proof->conditions.size(), 1u);
  EXPECT_EQ(proof->conditions[0].holds(bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes))), true);
  expect_replayed(rule, *proof);
  CertificateChecker checker(test::axioms().axioms(), test::plugins());
  EXPECT_FALSE(checker.check(rule, proof->certificate)) << "the proof needs its condition";

  SaturationLimits limits;
  limits.assume = false;
  EXPECT_FALSE(prover().prove(rule, limits));
  rule.example_sizes = {{SizeVar::read("s0"), 3}, {SizeVar::read("s1"), 3}};
  EXPECT_FALSE(prover().prove(rule)) << "the condition must hold where the rule was seen to hold";
}

TEST(EqualityProver, FindsSeveralConditions) {
  Rule rule = test::rule(
      "(x:2, y:2, z:2, w:2) let p, q = split[sizes=[s0, s1]](concat(x, y)) in let u, v = split[sizes=[s2, "
      "s3]](concat(z, w)) in q, p, v, u => let d, e = split[sizes=[s1, s0]](concat(y, x)) in let f, g = "
      "split[sizes=[s3, s2]](concat(w, z)) in d, e, f, g");
  rule.example = {Shape{2, 3}, Shape{4, 3}, Shape{1, 5}, Shape{3, 5}};
  rule.example_sizes = {
      {SizeVar::read("s0"), 2}, {SizeVar::read("s1"), 4}, {SizeVar::read("s2"), 1}, {SizeVar::read("s3"), 3}};
  const auto proof = prover().prove(rule);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->conditions.size(), 2u) << "one for each split, and none that is not needed";
  expect_replayed(rule, *proof);
}

// The sigmoid is looked at first when nothing is known of what is below it, and again when that has changed, twice.
TEST(EqualityProver, LooksAgainWhereSomethingBelowHasChanged) {
  AxiomSet axioms;
  const Status read = axioms.add(R"((declare-sort Tensor 0)(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun sigmoid (Tensor) Tensor)(declare-fun exp (Tensor) Tensor)(declare-fun tanh (Tensor) Tensor)
(declare-fun neg (Tensor) Tensor)(declare-fun abs (Tensor) Tensor)
(assert (! (forall ((x Tensor)) (= (exp x) (tanh x))) :named one :ranks "x 2" :source "none: it is wrong"))
(assert (! (forall ((x Tensor)) (= (tanh x) (neg x))) :named two :ranks "x 2" :source "none: it is wrong"))
(assert (! (forall ((x Tensor) (y Tensor)) (= (sigmoid (neg (ewadd x y))) (abs x)))
  :named three :ranks "x y 2" :source "none: it is wrong")))",
                                 "wrong.smt2", test::plugins());
  ASSERT_TRUE(read) << read.error().message;
  const auto proof =
      EqualityProver(axioms.axioms()).prove(test::rule("(x:2, y:2) sigmoid(exp(ewadd(x, y))) => abs(x)"));
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_THAT(proof->axioms, ElementsAre("one", "three", "two"));
}

// Both sides are a sum of 2^40 equal terms: each would be rewritten by a step of its own.
TEST(EqualityProver, GivesUpAChainThatNobodyCouldRead) {
  AxiomSet axioms;
  const Status read = axioms.add(R"((declare-sort Tensor 0)(declare-fun relu (Tensor) Tensor)
(assert (! (forall ((x Tensor)) (= (relu (relu x)) (relu x))) :named twice :ranks "x 2" :source "s")))",
                                 "one.smt2", test::plugins());
  ASSERT_TRUE(read) << read.error().message;
  std::string sums;
  for (int i = 0; i < 40; ++i) sums += fmt::format(" in let t{} = ewadd(t{}, t{})", i + 1, i, i);
  EqualityProver prover(axioms.axioms());
  const auto proof = prover.prove(
      test::rule(fmt::format("(x:2) let t0 = relu(relu(x)){0} in t40 => let t0 = relu(x){0} in t40", sums)));
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().code, ErrorCode::kBudget);
  EXPECT_THAT(proof.error().message, HasSubstr("output 0 has a proof of more than 4000 steps"));
  const auto next = prover.prove(test::rule("(x:2) relu(relu(relu(x))) => relu(x)"));
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->steps, 2u) << "nothing of the chain before is left";
}

TEST(EqualityProver, StopsAtItsLimits) {
  const Rule rule = test::rule(
      "(x:2, y:2, z:2, w:2) ewmul(ewadd(ewadd(x, y), ewadd(z, w)), ewadd(x, ewadd(y, z))) => "
      "ewmul(ewadd(x, y), ewadd(z, w))");
  SaturationLimits limits;
  limits.nodes = 200;
  auto egraph = prover();
  const auto by_nodes = egraph.prove(rule, limits);
  ASSERT_FALSE(by_nodes);
  EXPECT_EQ(by_nodes.error().code, ErrorCode::kBudget);
  EXPECT_LE(egraph.stats().nodes, 230u);
  limits = {};
  limits.matches = 50;
  const auto by_matches = egraph.prove(rule, limits);
  ASSERT_FALSE(by_matches);
  EXPECT_EQ(by_matches.error().code, ErrorCode::kBudget);
}
TEST(EqualityProver, SaysThatNothingIsLeftToApply) {
  const auto result = EqualityProver(quickstart_axioms().axioms()).prove(test::rule("(x:2) relu(x) => x"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
}
TEST(EqualityProver, GivesTheSameProofWhateverItProvedBefore) {
  auto used = prover();
  std::vector<std::string> first, again;
  for (const auto& text : test::true_rules()) first.push_back(used.prove(test::rule(text))->certificate);
  const auto& rules = test::true_rules();
  for (std::size_t i = rules.size(); i-- > 0;) {
    EXPECT_EQ(used.prove(test::rule(rules[i]))->certificate, first[i]);
    EXPECT_EQ(prover().prove(test::rule(rules[i]))->certificate, first[i]);
  }
}
TEST(EqualityProver, RefusesSidesThatDoNotFit) {
  Rule rule = test::rule("(x:2, y:2) x => x");
  rule.target.outputs.push_back(rule.target.outputs[0]);
  const auto result = prover().prove(rule);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
}

// --- on what enumeration finds ---------------------------------------------------------------------------------------

/// The same rules over the operators that the axioms speak of: each registry has its own.
std::vector<Rule> read_again(const std::vector<Rule>& rules) {
  std::vector<Rule> again;
  for (const Rule& rule : rules) again.push_back(test::rule(to_text(rule)));
  return again;
}
// What is left of the rules and mutants after evaluation has refuted what it can. Z3 may give up within its budget.
TEST(EqualityProverProperty, ProvesWhatZ3Proves) {
  std::vector<Rule> found = rewright::testing::matrix_rules(2);
  for (const auto& all : {rewright::testing::image_rules(2), rewright::testing::mutants(found, 60, 3)})
    found.insert(found.end(), all.begin(), all.end());
  std::vector<Rule> rules = read_again(found);
  std::erase_if(rules, [](const Rule& rule) { return test::ask("evaluate", rule).kind == VerdictKind::kRefuted; });
  EqualityProver egraph(quickstart_axioms().axioms());
  SaturationLimits limits;
  limits.assume = false;
  const auto z3 = test::plugins().find<Verifier>("z3")->clone();
  Budget budget;
  budget.work = 200'000;
  std::vector<Goal> goals;
  for (const Rule& rule : rules) goals.push_back({rule, quickstart_axioms(), budget});
  const auto verdicts = z3->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  std::size_t proved = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto proof = egraph.prove(rules[i], limits);
    proved += proof.has_value();
    EXPECT_TRUE(proof || (*verdicts)[i].kind != VerdictKind::kProved) << to_text(rules[i]);
    if (proof) expect_replayed(rules[i], *proof);
  }
  EXPECT_GT(proved, 200u);
}
// Graphs of unequal sizes, rewritten up to four times at random places by rules that are known to be true: source and
// result make a rule that must be proved, with a certificate that the checker accepts.
TEST(EqualityProverProperty, ProvesWhatRandomRewritesLeadTo) {
  const char* const kGraphs[] = {
      "x = input (2, 3)\ny = input (3, 4)\nz = input (3, 4)\nw = input (4, 5)\ns = ewadd(y, z)\nm = matmul(x, s)\n"
      "n = matmul(m, w)\nr = relu(n)\noutput r\n",
      "x = input (2, 3)\ny = input (4, 3)\nw = input (3, 5)\nv = input (3, 2)\nc = concat(x, y)\nr = relu(c)\n"
      "m = matmul(r, w)\nn = matmul(r, v)\noutput m, n\n",
      "x = input (2, 3)\ny = input (2, 3)\nz = input (2, 3)\na = ewmul(x, z)\nb = ewmul(y, z)\nc = ewadd(a, b)\n"
      "t = transpose(c)\nu = transpose(t)\noutput u\n",
      "x = input (1, 2, 5, 4)\nv = input (3, 2, 3, 3)\nw = input (3, 2, 3, 3)\np = conv2d(x, v)\nq = conv2d(x, w)\n"
      "s = ewadd(p, q)\nr = relu(s)\noutput r\n",
  };
  const Rewriter rewriter(rewright::testing::true_rules());
  EqualityProver egraph(test::axioms().axioms());
  rewright::testing::Random random(41);
  std::size_t proved = 0, steps = 0;
  for (int round = 0; round < 120; ++round) {
    const Graph start = rewright::testing::read_graph(random.pick(kGraphs));
    Graph graph = start;
    for (std::int64_t left = random.between(1, 4); left > 0; --left) {
      const auto matches = rewriter.matches(graph);
      if (matches.empty()) break;
      if (auto next = rewriter.apply(graph, random.pick(matches))) graph = *std::move(next);
    }
    const auto made = generalise(start, graph);
    if (!made) continue;
    const Rule rule = test::rule(to_text(*made));
    const auto proof = egraph.prove(rule);
    ASSERT_TRUE(proof) << to_text(rule) << "\n" << proof.error().message;
    EXPECT_TRUE(proof->conditions.empty()) << to_text(rule);
    expect_replayed(rule, *proof);
    ++proved;
    steps += proof->steps;
  }
  EXPECT_GT(proved, 80u);
  EXPECT_GT(steps, 2 * proved);
}
TEST(EqualityProverProperty, ProvesNoMutantThatEvaluationRefutes) {
  auto egraph = prover();
  std::size_t refuted = 0;
  for (const Rule& mutant : read_again(rewright::testing::mutants(rewright::testing::matrix_rules(2), 200, 11))) {
    const auto proof = egraph.prove(mutant);
    if (test::ask("evaluate", mutant).kind != VerdictKind::kRefuted) continue;
    ++refuted;
    EXPECT_FALSE(proof && proof->conditions.empty()) << to_text(mutant);
    if (proof) expect_replayed(mutant, *proof);
  }
  EXPECT_GT(refuted, 60u);
}

}  // namespace
}  // namespace rewright
