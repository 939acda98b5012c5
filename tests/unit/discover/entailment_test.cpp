// What follows from what: by which verifier, and what does not count; laws of pools; terms of one class that differ.
#include "discover/entailment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "axiom/writer.h"
#include "discover/collapse.h"
#include "discover/equation.h"
#include "discover/law.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using testing::loaded;
using testing::read_rule;

/// A registry with one verifier of this tree.
Registry only(const std::string& verifier) {
  Registry registry;
  for (const LoadedPlugin& plugin : loaded().plugins()) {
    if (std::ranges::find(plugin.provides, "verifier " + verifier) == plugin.provides.end()) continue;
    const Status status = registry.load(plugin.file);
    EXPECT_TRUE(status) << status.error().message;
  }
  EXPECT_NE(registry.find<Verifier>(verifier), nullptr) << verifier;
  return registry;
}

TEST(Entailment, AsksTheEGraphOrElseWhatCanProve) {
  const auto chosen = [](const Registry& registry) {
    const auto name = default_prover(registry);
    return name ? *name : name.error().message;
  };
  EXPECT_EQ(chosen(loaded()), "egraph");
  EXPECT_EQ(chosen(only("z3")), "z3");
  const auto* none = "no verifier that can prove is loaded; 'rewright plugins list' names all";
  EXPECT_EQ(chosen(only("evaluate")), none) << "it only refutes";
  EXPECT_EQ(chosen(Registry()), none);
}

AxiomSet axioms_of(const std::string& assertions) {
  AxiomSet axioms;
  const Status status = axioms.add(
      "(declare-sort Tensor 0)(declare-fun relu (Tensor) Tensor)(declare-fun exp (Tensor) Tensor)"
      "(declare-fun sigmoid (Tensor) Tensor)" +
          assertions,
      "test.smt2", loaded());
  EXPECT_TRUE(status) << status.error().message;
  return axioms;
}

TEST(Entailment, CountsNoProofUnderFurtherConditions) {
  Registry registry;
  ASSERT_TRUE(registry.load_default());
  const Status status = registry.load(REWRIGHT_BUILD_DIR "/tests/plugins/discover/conditional.so");
  ASSERT_TRUE(status) << status.error().message;
  const AxiomSet axioms = axioms_of(
      "(assert (! (forall ((x Tensor)) (= (relu (relu x)) (relu x))) :named twice :ranks \"x 2\" :source \"s\"))");
  const auto answer = Entailment(registry, "conditional", 1).follows(axioms.axioms()[0], AxiomSet());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->combinations, 1u);
  EXPECT_FALSE(answer->follows);
  EXPECT_EQ(answer->proved, 0u);
  EXPECT_EQ(answer->reason, "proved under further conditions only");
}

TEST(Collapse, ShowsValuesOfFunctions) {
  const AxiomSet axioms = axioms_of(
      "(assert (! (forall ((x Tensor)) (= (exp x) (sigmoid x))) :named wrong :ranks \"x 1\" :source \"s\"))"
      "(assert (! (forall ((x Tensor)) (= (relu (exp x)) (exp x))) :named right :ranks \"x 1\" :source \"s\"))");
  const auto report = check_collapse(axioms.axioms(), axioms.axioms());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->found.size(), 1u);
  EXPECT_EQ(report->found[0].axiom, "wrong");
  EXPECT_THAT(report->found[0].values,
              ::testing::MatchesRegex("x.0 = 1: element 0 of \\(1\\) is 0\\.0183156[0-9]* and 0\\.0179862[0-9]*"))
      << "exp(-4) and sigmoid(-4)";
}

/// The law that a rule is made into, as SMT-LIB.
std::string law_of(std::string_view text) {
  const auto law = generalised_law(*axiom_of(read_rule(text), 0));
  if (!law) return law.error().message;
  const auto smt = to_smt(law->axiom);
  return smt ? *smt : smt.error().message;
}

TEST(Law, LeavesTheKernelOfAPoolFreeWhereEveryOneDoes) {
  EXPECT_THAT(law_of("(x:4) relu(pool2d_max[kernel=[3, 3]](x)) => pool2d_max[kernel=[3, 3]](relu(x))"),
              HasSubstr("(= (relu (pool2d_max (sizes2 n m) s p q x)) (pool2d_max (sizes2 n m) s p q (relu x)))"));
  EXPECT_THAT(law_of("(x:4) pool2d_max[kernel=[1, 1]](x) => x"), HasSubstr("(= (pool2d_max (sizes2 1 1) "))
      << "a larger window takes its neighbours in";
}

}  // namespace
}  // namespace rewright
