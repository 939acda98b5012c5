// The portfolio: order, outcomes, contradictions, broken verifiers, independence of the number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The plugins of this tree and some that lie.
const Registry& with_liars() {
  static const Registry kRegistry = [] {
    Registry registry = test::load_plugins();
    if (auto status = registry.load(REWRIGHT_BUILD_DIR "/tests/plugins/verify/liars.so"); !status)
      fail(status.error().message);
    return registry;
  }();
  return kRegistry;
}

std::vector<Rule> rules(const std::vector<std::string>& texts) {
  std::vector<Rule> parsed;
  for (const auto& text : texts) parsed.push_back(test::rule(text));
  return parsed;
}
std::vector<VerifierChoice> choices(std::initializer_list<std::string> names) {
  std::vector<VerifierChoice> chosen;
  for (const auto& name : names) chosen.push_back({name, {}});
  return chosen;
}

const std::string kTrue = "(x:2, y:2) ewadd(x, y) => ewadd(y, x)";
const std::string kWrong = "(x:2, y:2) matmul(x, y) => matmul(y, x)";

TEST(Portfolio, AsksInTheOrderGivenAndStopsAtADecision) {
  const auto report = verify_all(rules({kTrue, kWrong}), test::axioms(), choices({"evaluate", "z3"}), test::plugins());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->rules[0].decided_by, "z3");
  EXPECT_EQ(report->rules[0].verdicts.at(0).verifier, "evaluate");
  EXPECT_EQ(report->rules[0].verdicts.at(1).version, "1.3.0");
  EXPECT_EQ(report->rules[1].decided_by, "evaluate");
  EXPECT_EQ(report->rules[1].verdicts.size(), 1u);
  EXPECT_THAT((std::vector{report->proved, report->refuted, report->unknown}), ElementsAre(1, 1, 0));
}

TEST(Portfolio, AsksAVerifierAgainWithOtherOptionsAboutWhatIsLeft) {
  const std::string rare =
      "(v:4) let p = pool2d_max[kernel=[3, 3]](matmul(v, v)) in conv2d(p, p) => "
      "let p = pool2d_max[kernel=[3, 3]](matmul(v, v)) in conv2d[activation=relu](p, p)";
  const std::vector<VerifierChoice> chosen = {
      {"evaluate", {}}, {"egraph", {}}, {"evaluate", {{"points", std::int64_t{128}}}}};
  const auto report = verify_all(rules({kTrue, kWrong, rare}), test::axioms(), chosen, test::plugins());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT((std::vector{report->proved, report->refuted, report->unknown}), ElementsAre(1, 2, 0));
  EXPECT_EQ(report->rules[0].verdicts.size(), 2u);
  EXPECT_EQ(report->rules[1].decided_by, "evaluate");
  EXPECT_EQ(report->rules[2].decided_by, "evaluate");
  EXPECT_EQ(report->rules[2].verdicts.at(0).verdict.kind, VerdictKind::kUnknown) << "it fails at few inputs only";
  EXPECT_EQ(report->rules[2].verdicts.at(2).verdict.kind, VerdictKind::kRefuted);
}

TEST(Portfolio, KeepsARefutedRuleWithTheConditionUnderWhichItIsTrue) {
  const std::string swapped =
      "(a:2, b:2) let p, q = split[sizes=[s0, s1]](concat(a, b)) in q, p => split[sizes=[s1, s0]](concat(b, a))";
  std::vector<Rule> asked = rules({swapped, swapped});
  asked[0].example = asked[1].example = {Shape({1, 3}), Shape({2, 3})};
  asked[0].example_sizes = {{SizeVar::read("s0"), 1}, {SizeVar::read("s1"), 2}};
  asked[1].example_sizes = {{SizeVar::read("s0"), 2}, {SizeVar::read("s1"), 1}};
  const auto report = verify_all(asked, test::axioms(), choices({"evaluate", "egraph"}), test::plugins());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->contradictions.empty());
  const RuleReport& kept = report->rules[0];
  ASSERT_EQ(kept.outcome.kind, VerdictKind::kProved) << kept.outcome.reason;
  EXPECT_EQ(kept.verdicts.at(0).verdict.kind, VerdictKind::kRefuted);
  EXPECT_EQ(kept.decided_by, "egraph");
  ASSERT_EQ(kept.outcome.conditions.size(), 1u);
  EXPECT_EQ(to_string(kept.outcome.conditions[0]), "a.0 = s0");
  EXPECT_EQ(report->rules[1].outcome.kind, VerdictKind::kRefuted) << "false at this example, so no condition is sought";
}

TEST(Portfolio, GivesEveryReasonWhereNobodyDecides) {
  const std::string degenerate = "(x:4, w:4) conv2d(x, w) => conv2d[strides=[1, 2]](x, w)";
  const auto report = verify_all(rules({degenerate}), test::axioms(), choices({"evaluate", "z3"}), test::plugins());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rules[0].outcome.kind, VerdictKind::kUnknown);
  EXPECT_THAT(report->rules[0].outcome.reason, testing::AllOf(HasSubstr("evaluate: equal at"), HasSubstr("z3: ")));
}

TEST(Portfolio, CatchesAVerifierThatProvesTooMuch) {
  PortfolioOptions options;
  options.cross_check = true;
  const auto report =
      verify_all(rules({kTrue, kWrong}), test::axioms(), choices({"believes-all", "evaluate"}), with_liars(), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->contradictions.size(), 1u);
  const Contradiction& found = report->contradictions[0];
  EXPECT_EQ(found.rule, 1u);
  EXPECT_THAT(found.message, HasSubstr("verifiers believes-all and evaluate contradict each other"));
  EXPECT_THAT(found.reproducer, testing::AllOf(HasSubstr("matmul(x, y) => matmul(y, x)"), HasSubstr("axioms "),
                                               HasSubstr("verifier believes-all"), HasSubstr("source output 0 = ")));
  EXPECT_EQ(report->rules[1].outcome.kind, VerdictKind::kUnknown) << "a rule in dispute enters no library";
}

TEST(Portfolio, CatchesAVerifierThatRefutesTooMuch) {
  PortfolioOptions options;
  options.cross_check = true;
  const auto report = verify_all(rules({kTrue}), test::axioms(), choices({"doubts-all", "z3"}), with_liars(), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->contradictions.size(), 1u);
  EXPECT_EQ(report->proved, 0u);
}

TEST(Portfolio, RefusesAnswersThatAVerifierSaysItCannotGive) {
  const auto report = verify_all(rules({kTrue}), test::axioms(), choices({"oversteps"}), with_liars());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kPlugin);
  EXPECT_THAT(report.error().message, HasSubstr("verifier oversteps answered proved"));
}

TEST(Portfolio, RefusesAWrongNumberOfAnswers) {
  const auto report = verify_all(rules({kTrue, kWrong}), test::axioms(), choices({"forgets-one"}), with_liars());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("gave 1 verdicts for 2 goals"));
}

// Over both rules together it crashes, so each is asked by itself.
TEST(Portfolio, RefusesNoAnswerToARuleAskedByItself) {
  const auto report =
      verify_all(rules({kTrue, kWrong}), test::axioms(), choices({"forgets-a-single-one"}), with_liars());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kPlugin);
  EXPECT_THAT(report.error().message, HasSubstr("verifier forgets-a-single-one gave 0 verdicts for one goal"));
}

TEST(Portfolio, NamesAVerifierThatIsNotLoaded) {
  EXPECT_THAT(verify_all(rules({kTrue}), test::axioms(), choices({"oracle"}), test::plugins()).error().message,
              HasSubstr("oracle"));
}

TEST(Portfolio, StopsWhenAsked) {
  PortfolioOptions options;
  options.stop = [] { return true; };
  const auto report = verify_all(rules({kTrue}), test::axioms(), choices({"evaluate"}), test::plugins(), options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kBudget);
}

/// Solvers that die at every question, and one that hangs: the rest of the portfolio decides.
TEST(Portfolio, GoesOnWhereASolverDiesOrHangs) {
  std::vector<VerifierChoice> chosen = {{"evaluate", {}},
                                        {"z3", {{"program", std::string("/bin/false")}}},
                                        {"cvc5", {{"program", std::string("/bin/false")}}}};
  const auto dead = verify_all(rules({kTrue, kWrong}), test::axioms(), chosen, test::plugins());
  ASSERT_TRUE(dead) << dead.error().message;
  EXPECT_THAT((std::vector{dead->proved, dead->refuted, dead->unknown}), ElementsAre(0, 1, 1));
  EXPECT_THAT(dead->rules[0].outcome.reason,
              testing::AllOf(HasSubstr("z3: the solver died"), HasSubstr("cvc5: the solver died")));

  chosen[1] = {"z3", {{"program", std::string("/bin/cat")}, {"answer_seconds", std::int64_t{1}}}};
  chosen[2].options.clear();
  const auto decided = verify_all(rules({kTrue}), test::axioms(), chosen, test::plugins());
  ASSERT_TRUE(decided) << decided.error().message;
  EXPECT_EQ(decided->rules[0].verdicts.at(1).verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(decided->rules[0].decided_by, "cvc5");
}

std::vector<std::string> summary(const PortfolioReport& report) {
  std::vector<std::string> lines;
  for (const RuleReport& rule : report.rules) {
    std::string line = rule.decided_by;
    for (const VerifierVerdict& said : rule.verdicts)
      line += fmt::format("|{}:{}:{}:{}", said.verifier, name_of(said.verdict.kind), said.verdict.reason,
                          said.verdict.counterexample);
    lines.push_back(line);
  }
  return lines;
}

TEST(Portfolio, SaysTheSameOnAnyNumberOfThreads) {
  auto texts = test::true_rules();
  texts.insert(texts.end(), test::wrong_rules().begin(), test::wrong_rules().end());
  PortfolioOptions options;
  options.chunk = 4;
  const auto all = rules(texts);
  const auto one = verify_all(all, test::axioms(), choices({"evaluate", "z3"}), test::plugins(), options);
  options.threads = 4;
  std::vector<std::size_t> progress;
  options.progress = [&](std::size_t, std::size_t done, std::size_t) { progress.push_back(done); };
  const auto four = verify_all(all, test::axioms(), choices({"evaluate", "z3"}), test::plugins(), options);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(summary(*one), summary(*four));
  EXPECT_EQ(one->proved, test::true_rules().size());
  EXPECT_EQ(one->refuted, test::wrong_rules().size());
  EXPECT_GT(progress.size(), 4u);
}

}  // namespace
}  // namespace rewright
