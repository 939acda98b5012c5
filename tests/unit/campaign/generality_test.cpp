// More general forms of rules: what becomes an input, which inputs become several, and nothing that is not proved.
#include "campaign/generality.h"

#include <rewright/egraph/prover.h>

#include <gtest/gtest.h>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

std::string general_form(const std::string& text) {
  EqualityProver prover(test::axioms().axioms());
  SaturationLimits limits;
  limits.assume = false;
  const auto general =
      more_general(test::rule(text), [&](const Rule& rule) { return prover.prove(rule, limits).has_value(); });
  return general ? to_text(*general) : "";
}

TEST(MoreGeneral, GivesEachPlaceAnInputOfItsOwn) {
  EXPECT_EQ(general_form("(v:4, w:4) matmul(matmul(v, w), v) => matmul(v, matmul(w, v))"),
            "(x0:4, x1:4, x2:4) matmul(matmul(x0, x1), x2) => matmul(x0, matmul(x1, x2))");
}
TEST(MoreGeneral, MakesAnInputOfASubtermOfBothSides) {
  EXPECT_EQ(general_form("(x:4, y:4) concat(concat(x, relu(x)), y) => concat(x, concat(relu(x), y))"),
            "(x0:4, x1:4, x2:4) concat(concat(x0, x1), x2) => concat(x0, concat(x1, x2))");
}
TEST(MoreGeneral, KeepsTogetherWhatMustBeEqual) {
  EXPECT_EQ(general_form("(x:2) relu(ewmul(x, x)) => ewmul(x, x)"), "");
  EXPECT_EQ(general_form("(x:2) let a = relu(x) in ewmul(a, a) => ewmul(x, relu(x))"), "");
  EXPECT_EQ(general_form("(x:2, s:0) smul(ewadd(x, x), s) => smul(x, ewadd(s, s))"), "");
}
TEST(MoreGeneral, AddsTheConditionThatTheGeneralFormNeeds) {
  EXPECT_EQ(general_form("(x:4, y:4) concat(concat[axis=1](x, y), concat[axis=1](x, x)) => "
                         "concat[axis=1](concat(x, x), concat(y, x))"),
            "(x0:4, x1:4, x2:4, x3:4) concat(concat[axis=1](x0, x1), concat[axis=1](x2, x3)) => "
            "concat[axis=1](concat(x0, x2), concat(x1, x3)) where x0.1 = x2.1");
}
TEST(MoreGeneral, LeavesInputsAloneWhoseSizesARuleNames) {
  EXPECT_EQ(general_form("(x:2) split[sizes=[x.0, x.0]](concat(x, x)) => x, x"), "");
}
TEST(MoreGeneral, ProposesNothingThatDoesNotHold) {
  const auto none = more_general(test::rule("(v:4, w:4) matmul(matmul(v, w), v) => matmul(v, matmul(w, v))"),
                                 [](const Rule&) { return false; });
  EXPECT_FALSE(none);
}
TEST(MoreGeneral, HasTheRuleAsAnInstance) {
  EqualityProver prover(test::axioms().axioms());
  std::size_t found = 0;
  for (const std::string& text : test::true_rules()) {
    const Rule rule = test::rule(text);
    const auto general = more_general(rule, [&](const Rule& form) { return prover.prove(form).has_value(); });
    if (!general) continue;
    ++found;
    RuleDeriver deriver(test::plugins());
    ASSERT_TRUE(deriver.add(*general));
    EXPECT_TRUE(deriver.instance(rule)) << text << "\n" << to_text(*general);
  }
  EXPECT_GE(found, 2u);
}

}  // namespace
}  // namespace rewright
