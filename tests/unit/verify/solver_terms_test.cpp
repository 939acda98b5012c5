// What rules and axioms say in the solvers' language: numbers with a fraction, sizes that no input has, products of
// sizes, terms without variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;

/// What a solver says of a rule over these axioms.
Verdict ask(const std::string& verifier, const Rule& rule, const AxiomSet& axioms) {
  const auto solver = test::plugins().find<Verifier>(verifier)->clone();
  const std::vector<Goal> goals = {{rule, axioms, {}}};
  auto verdicts = solver->verify(goals);
  if (!verdicts) fail(verdicts.error().message);
  return verdicts->at(0);
}

AxiomSet axioms_of(const std::string& assertions) {
  AxiomSet axioms;
  const Status read = axioms.add(
      "(declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes0 () Sizes)(declare-fun relu (Tensor) Tensor)"
      "(declare-fun leaky_relu (Real Tensor) Tensor)(declare-fun constant_one (Sizes) Tensor)" +
          assertions,
      "some.smt2", test::plugins());
  if (!read) fail(read.error().message);
  return axioms;
}

class Solver : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] bool proves(std::string_view text) const {
    return test::ask(GetParam(), test::rule(text)).kind == VerdictKind::kProved;
  }
  [[nodiscard]] bool proves(std::string_view text, const AxiomSet& axioms) const {
    return ask(GetParam(), test::rule(text), axioms).kind == VerdictKind::kProved;
  }
};
INSTANTIATE_TEST_SUITE_P(Of, Solver, ::testing::Values("z3", "cvc5"));

TEST_P(Solver, TellsNumbersWithAFractionApart) {
  const auto rule = [](const char* first, const char* second) {
    return fmt::format(
        "(x:2, y:2) leaky_relu[alpha={}](concat(x, y)) => concat(leaky_relu[alpha={}](x), "
        "leaky_relu[alpha={}](y))",
        first, first, second);
  };
  EXPECT_TRUE(proves(rule("0.25", "0.25")));
  EXPECT_FALSE(proves(rule("0.25", "0.125")));
  const AxiomSet at_zero = axioms_of(
      "(assert (! (forall ((x Tensor)) (= (leaky_relu 0.0 x) (relu x))) :named at-zero :ranks \"x 2\" :source \"s\"))");
  EXPECT_TRUE(proves("(x:2) transpose(leaky_relu[alpha=0](x)) => transpose(relu(x))", at_zero));
  EXPECT_FALSE(proves("(x:2) transpose(leaky_relu[alpha=0.5](x)) => transpose(relu(x))", at_zero));
}

// The names that both operators would have are one.
TEST_P(Solver, TellsOperatorsApartWhoseNamesWouldBeOne) {
  EXPECT_FALSE(proves("(x:2) leaky_relu[alpha=17366](x) => leaky_relu[alpha=22945](x)"));
  EXPECT_TRUE(
      proves("(x:2) ewadd(leaky_relu[alpha=17366](x), leaky_relu[alpha=22945](x)) => "
             "ewadd(leaky_relu[alpha=22945](x), leaky_relu[alpha=17366](x))"));
}

// The outer axis is one more than the inner one.
TEST_P(Solver, TakesAParameterThatFollowsFromAnother) {
  const AxiomSet exchange = axioms_of(
      "(declare-fun concat (Int Tensor Tensor) Tensor)(assert (! (forall ((a Int) (x Tensor) (y Tensor)) (= (concat (+ "
      "a 1) (concat a x y) (concat a x y)) (concat a (concat (+ a 1) x x) (concat (+ a 1) y y)))) :named next :ranks "
      "\"x y 2..3\" :source \"s\"))");
  EXPECT_TRUE(
      proves("(x:2, y:2) concat[axis=1](concat(x, y), concat(x, y)) => concat(concat[axis=1](x, x), "
             "concat[axis=1](y, y))",
             exchange));
  EXPECT_FALSE(
      proves("(x:3, y:3) concat[axis=2](concat(x, y), concat(x, y)) => concat(concat[axis=2](x, x), "
             "concat[axis=2](y, y))",
             exchange));
}

TEST_P(Solver, TakesAConstantWithoutParameters) {
  Registry registry = test::load_plugins();
  const Status loaded = registry.load(REWRIGHT_BUILD_DIR "/tests/plugins/verify/corner.so");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto axioms = load_axioms(std::vector<std::string>{REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2",
                                                           REWRIGHT_SOURCE_DIR "/axioms/layout.smt2"},
                                  registry);
  ASSERT_TRUE(axioms) << axioms.error().message;
  const auto proved = [&](std::string_view text) {
    const auto rule = parse_rule(text, registry);
    if (!rule) fail(rule.error().message);
    return ask(GetParam(), *rule, *axioms).kind == VerdictKind::kProved;
  };
  EXPECT_TRUE(proved("(x:2) ewadd(x, corner()) => ewadd(corner(), x)"));
  EXPECT_TRUE(proved("() split[axis=1, sizes=[3, 3]](concat[axis=1](corner(), corner())) => corner(), corner()"));
  EXPECT_FALSE(proved("(x:2) ewadd(x, corner()) => ewadd(corner(), relu(x))"));
}

TEST_P(Solver, TakesSizesThatNoInputHas) {
  EXPECT_TRUE(proves("(x:2) relu(reshape[sizes=[s0, s1]](x)) => reshape[sizes=[s0, s1]](relu(x))"));
  EXPECT_TRUE(proves("(x:2) relu(reshape[sizes=[x.0*x.1]](x)) => reshape[sizes=[x.0*x.1]](relu(x))"));
  EXPECT_FALSE(proves("(x:2) reshape[sizes=[s0, s1]](x) => reshape[sizes=[s0, s1]](transpose(x))"));
}

TEST_P(Solver, TakesAConditionThatSizesDiffer) {
  EXPECT_TRUE(proves("(x:2, y:2) relu(concat(x, y)) => concat(relu(x), relu(y)) where x.0 != y.0"));
}

TEST_P(Solver, TakesTermsWithoutVariables) {
  const AxiomSet closed =
      axioms_of("(assert (! (= (relu (constant_one sizes0)) (constant_one sizes0)) :named one :source \"s\"))");
  EXPECT_TRUE(proves("() relu(relu(constant_one[sizes=[]])) => constant_one[sizes=[]]", closed));
  EXPECT_FALSE(proves("() relu(constant_one[sizes=[1]]) => constant_one[sizes=[1]]", closed));
}

TEST_P(Solver, SaysWhyARuleIsNoGoal) {
  const Rule relu = test::rule("(x:2) relu(x) => relu(x)");
  Rule flat = relu, two = relu;
  flat.target = test::rule("(x:2) reshape[sizes=[x.0*x.1]](x) => reshape[sizes=[x.0*x.1]](x)").target;
  two.target = test::rule("(x:2) relu(x), x => relu(x), x").target;
  for (const auto& [rule, reason] : {std::pair(flat, "output 0 has different ranks in source and target"),
                                     std::pair(two, "source and target have different numbers of outputs")}) {
    const Verdict verdict = test::ask(GetParam(), rule);
    EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
    EXPECT_THAT(verdict.reason, HasSubstr(reason));
  }
}

}  // namespace
}  // namespace rewright
