// What the verifiers say of rules that are known to be true or wrong, and what happens to a solver that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

using testing::HasSubstr;

TEST(Z3Verifier, ProvesEveryTrueRule) {
  for (const auto& text : test::true_rules()) {
    const Verdict verdict = test::ask("z3", test::rule(text));
    EXPECT_EQ(verdict.kind, VerdictKind::kProved) << text << "\n" << verdict.reason;
  }
}
TEST(Z3Verifier, ProvesNoWrongRule) {
  for (const auto& text : test::wrong_rules())
    EXPECT_EQ(test::ask("z3", test::rule(text)).kind, VerdictKind::kUnknown) << text;
}
TEST(EvaluateVerifier, RefutesEveryWrongRuleWithACounterexample) {
  for (const auto& text : test::wrong_rules()) {
    const Verdict verdict = test::ask("evaluate", test::rule(text));
    EXPECT_EQ(verdict.kind, VerdictKind::kRefuted) << text << "\n" << verdict.reason;
    EXPECT_THAT(verdict.counterexample, HasSubstr(" = (")) << text;
    EXPECT_THAT(verdict.counterexample, HasSubstr("target output 0 = ")) << text;
  }
}
TEST(EvaluateVerifier, RefutesNoTrueRule) {
  for (const auto& text : test::true_rules()) {
    const Verdict verdict = test::ask("evaluate", test::rule(text));
    EXPECT_EQ(verdict.kind, VerdictKind::kUnknown) << text << "\n" << verdict.reason;
    EXPECT_THAT(verdict.reason, HasSubstr("equal at")) << text;
  }
}
TEST(EvaluateVerifier, TellsSquareFromUnequalShapes) {
  const Verdict verdict = test::ask("evaluate", test::rule("(x:2) transpose(x) => x"));
  EXPECT_EQ(verdict.kind, VerdictKind::kRefuted);
}

TEST(Verifiers, NameTheOptionThatTheyDoNotKnow) {
  for (const char* name : {"z3", "evaluate"}) {
    const auto verifier = test::plugins().find<Verifier>(name)->clone();
    const Status status = verifier->configure({{"tries", std::int64_t{3}}});
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr("option 'tries'"));
  }
}

const char* const kSimple = "(x:2, y:2) ewadd(x, y) => ewadd(y, x)";
const char* const kUnprovable =
    "(x:2, y:2, z:2, w:2) ewmul(ewadd(ewadd(x, y), ewadd(z, w)), ewadd(x, ewadd(y, z))) => "
    "ewmul(ewadd(x, y), ewadd(z, w))";

/// No child process is left behind, neither running nor as a zombie.
void expect_no_children() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Z3Process, ThatCannotBeStartedIsAnError) {
  const auto verifier = test::plugins().find<Verifier>("z3")->clone();
  ASSERT_TRUE(verifier->configure({{"program", std::string("/nowhere/z3-worker")}}));
  const Rule rule = test::rule(kSimple);
  const std::vector<Goal> goals = {{rule, test::axioms(), {}}};
  const auto verdicts = verifier->verify(goals);
  ASSERT_FALSE(verdicts);
  EXPECT_THAT(verdicts.error().message, HasSubstr("/nowhere/z3-worker cannot be started"));
  expect_no_children();
}
TEST(Z3Process, ThatDiesLeavesTheRuleUnknown) {
  const Verdict verdict = test::ask("z3", test::rule(kSimple), {{"program", std::string("/bin/false")}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("the solver died"));
  expect_no_children();
}
TEST(Z3Process, ThatHangsIsEnded) {
  const Verdict verdict = test::ask("z3", test::rule(kSimple),
                                    {{"program", std::string("/bin/sleep")}, {"answer_seconds", std::int64_t{1}}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("within 1 s and was ended"));
  expect_no_children();
}
TEST(Z3Process, ThatEatsMemoryIsEndedAndTheNextRuleIsProved) {
  const auto verifier = test::plugins().find<Verifier>("z3")->clone();
  ASSERT_TRUE(verifier->configure({{"max_instances", std::int64_t{1'000'000'000}}}));
  Budget budget;
  budget.work = 4'000'000'000;
  budget.memory_bytes = std::uint64_t{160} << 20;
  const Rule hungry = test::rule(kUnprovable), simple = test::rule(kSimple);
  const std::vector<Goal> goals = {{hungry, test::axioms(), budget}, {simple, test::axioms(), budget}};
  const auto verdicts = verifier->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_EQ((*verdicts)[0].kind, VerdictKind::kUnknown);
  EXPECT_EQ((*verdicts)[1].kind, VerdictKind::kProved) << (*verdicts)[1].reason;
  expect_no_children();
}
TEST(Z3Budget, IsEachRulesOwn) {
  const auto verifier = test::plugins().find<Verifier>("z3")->clone();
  Budget budget;
  budget.work = 20'000;
  const Rule hard = test::rule(kUnprovable), simple = test::rule(kSimple);
  std::vector<Goal> goals = {{hard, test::axioms(), budget}};
  for (int i = 0; i < 40; ++i) goals.push_back({simple, test::axioms(), budget});
  const auto verdicts = verifier->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_EQ((*verdicts)[0].kind, VerdictKind::kUnknown);
  for (std::size_t i = 1; i < verdicts->size(); ++i) EXPECT_EQ((*verdicts)[i].kind, VerdictKind::kProved) << i;
}
TEST(Z3Budget, IsSpentInWork) {
  Budget budget;
  budget.work = 300'000;
  const Verdict first = test::ask("z3", test::rule(kUnprovable), {}, budget);
  EXPECT_EQ(first.kind, VerdictKind::kUnknown);
  EXPECT_THAT(first.reason, HasSubstr("the budget of Z3 was spent"));
  EXPECT_EQ(test::ask("z3", test::rule(kUnprovable), {}, budget).reason, first.reason);
}

}  // namespace
}  // namespace rewright
