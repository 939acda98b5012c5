// What follows from what: by which verifier, and what does not count; laws of pools; terms of one class that differ.
#include "discover/entailment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "axiom/writer.h"
#include "discover/class_values.h"
#include "discover/collapse.h"
#include "discover/equation.h"
#include "discover/law.h"
#include "discover/law_variables.h"
#include "egraph/goal.h"
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

/// Two terms in one class, whether they are equal or not.
class MergedOutputs {
 public:
  explicit MergedOutputs(std::string_view rule) {
    const Status loaded = goal_.load(read_rule(rule));
    EXPECT_TRUE(loaded) << loaded.error().message;
    view_.names = goal_.names();
    graph_.merge(first(), second(), 0);
    graph_.rebuild();
  }
  [[nodiscard]] ClassValues at(const SizeAssignment& place) const { return ClassValues(view_, place, 1); }
  [[nodiscard]] egraph::NodeId first() const { return goal_.source()[0]; }
  [[nodiscard]] egraph::NodeId second() const { return goal_.source()[1]; }

 private:
  egraph::Heads heads_;
  egraph::Sizes sizes_;
  egraph::EGraph graph_;
  egraph::RuleGraph goal_{heads_, sizes_, graph_};
  GraphView view_{heads_, sizes_, graph_, {}};
};

TEST(ClassValues, TellHowTwoTermsOfOneClassDiffer) {
  const auto difference = [](std::string_view rule, const SizeAssignment& place) {
    const MergedOutputs merged(rule);
    const ClassValues values = merged.at(place);
    EXPECT_EQ(values.differing().has_value(), !values.agree(merged.first(), merged.second()));
    return values.difference({merged.first(), merged.second()});
  };
  const auto* turned = "(x:2) relu(x), transpose(x) => relu(x), transpose(x)";
  EXPECT_EQ(difference(turned, {{SizeVar::axis("x", 0), 2}, {SizeVar::axis("x", 1), 3}}),
            "the shapes (2, 3) and (3, 2) differ");
  EXPECT_THAT(difference(turned, {{SizeVar::axis("x", 0), 2}, {SizeVar::axis("x", 1), 2}}),
              ::testing::MatchesRegex("element [0-3] of \\(2, 2\\) is -?[0-9]+ and -?[0-9]+"));
  EXPECT_EQ(difference("(x:2) relu(x), relu(relu(x)) => relu(x), relu(relu(x))",
                       {{SizeVar::axis("x", 0), 2}, {SizeVar::axis("x", 1), 2}}),
            "they do not differ");
}

TEST(ClassValues, TellWhichOfTwoTermsIsNotDefined) {
  const std::string pooled = "pool2d_max[kernel=[3, 3], padding=valid](x)";
  const SizeAssignment small = {
      {SizeVar::axis("x", 0), 1}, {SizeVar::axis("x", 1), 1}, {SizeVar::axis("x", 2), 2}, {SizeVar::axis("x", 3), 2}};
  for (const bool second : {true, false}) {
    const std::string terms = second ? fmt::format("relu(x), {}", pooled) : fmt::format("{}, relu(x)", pooled);
    const MergedOutputs merged(fmt::format("(x:4) {} => {}", terms, terms));
    const ClassValues values = merged.at(small);
    ASSERT_TRUE(values.differing());
    EXPECT_EQ(values.difference({merged.first(), merged.second()}),
              second ? "the second term is not defined" : "the first term is not defined");
  }
}

TEST(ClassValues, KnowNothingOfTensorsOfVeryManyElements) {
  const MergedOutputs merged("(x:2) relu(x), transpose(x) => relu(x), transpose(x)");
  EXPECT_EQ(merged.at({{SizeVar::axis("x", 0), 64}, {SizeVar::axis("x", 1), 64}}).pairs(), 2U)
      << "of 4096, at two points";
  const ClassValues values = merged.at({{SizeVar::axis("x", 0), 64}, {SizeVar::axis("x", 1), 65}});
  EXPECT_EQ(values.pairs(), 0U);
  EXPECT_FALSE(values.differing());
  EXPECT_TRUE(values.agree(merged.first(), merged.second()));
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

/// The law of a rule with an operator that is the identity, but of tensors of rank 3 with a size of 5.
Law law_of_nearly(std::string_view text) {
  static const Registry kRegistry = [] {
    Registry registry;
    EXPECT_TRUE(registry.load_default());
    const Status status = registry.load(REWRIGHT_BUILD_DIR "/tests/plugins/discover/nearly.so");
    EXPECT_TRUE(status) << status.error().message;
    return registry;
  }();
  const auto rule = parse_rule(text, kRegistry);
  if (!rule) fail(rule.error().message);
  auto law = generalised_law(*axiom_of(*rule, 0));
  if (!law) fail(law.error().message);
  EXPECT_EQ(law->counterexample, "");
  EXPECT_GT(law->combinations, 0U);
  return *std::move(law);
}

TEST(Law, HasNoRankAtWhichLargerSizesRefuteIt) {
  const Law law = law_of_nearly("(x:2) nearly(x) => x");
  EXPECT_THAT(law.axiom.ranks, ::testing::ElementsAre(AxiomRanks{0}, AxiomRanks{1}, AxiomRanks{2}, AxiomRanks{4}));
}

TEST(Law, IsTheEquationItselfWhereLargerSizesRefuteWhatIsMoreGeneral) {
  const Law law = law_of_nearly("(x:3) nearly(relu(x)) => relu(x)");
  const auto text = to_smt(law.axiom);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("(= (nearly (relu x)) (relu x))")) << "nearly(x) = x is refuted at a size of 5";
  EXPECT_THAT(law.axiom.ranks, ::testing::ElementsAre(AxiomRanks{3}));
}

TEST(Law, NumbersItsVariablesWhereAllNamesAreTaken) {
  Axiom axiom;
  EXPECT_EQ(fresh_name(axiom, {"x", "y"}), "x");
  for (const char* next : {"x", "y", "x1", "x2"}) {
    EXPECT_EQ(fresh_name(axiom, {"x", "y"}), next);
    axiom.variables.push_back({next, AxiomSort::kTensor});
  }
}

}  // namespace
}  // namespace rewright
