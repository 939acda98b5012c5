// What the verifiers say of rules that are known to be true or wrong, and what happens to a solver that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "unit/verify/no_more_files.h"
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
  Budget budget;
  budget.work = 400'000;
  for (const auto& text : test::wrong_rules())
    EXPECT_EQ(test::ask("z3", test::rule(text), {}, budget).kind, VerdictKind::kUnknown) << text;
}
TEST(Cvc5Verifier, ProvesTrueRules) {
  const auto verifier = test::plugins().find<Verifier>("cvc5")->clone();
  Budget budget;
  budget.work = 4'000'000;
  std::vector<Rule> rules;
  for (const auto& text : test::true_rules()) rules.push_back(test::rule(text));
  std::vector<Goal> goals;
  for (const Rule& rule : rules) goals.push_back({rule, test::axioms(), budget});
  const auto verdicts = verifier->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  std::size_t proved = 0;
  for (const Verdict& verdict : *verdicts) proved += verdict.kind == VerdictKind::kProved;
  EXPECT_GE(proved + 3, rules.size()) << "all but a few, which need terms that patterns do not reach";
}
TEST(Cvc5Verifier, ProvesNoWrongRule) {
  Budget budget;
  budget.work = 400'000;
  for (const auto& text : test::wrong_rules()) {
    const Verdict verdict = test::ask("cvc5", test::rule(text), {}, budget);
    EXPECT_EQ(verdict.kind, VerdictKind::kUnknown) << text;
    EXPECT_THAT(verdict.reason, HasSubstr("cvc5 ended without a proof")) << text;
  }
}
/// First sizes are names without a meaning, then numbers.
TEST(EMatching, AddsSizesWhereTheirNamesDoNotDo) {
  const Rule rule = test::rule("(x:2, y:2) split[sizes=[y.0, x.0 + y.0]](concat(y, concat(y, x))) => y, concat(y, x)");
  EXPECT_EQ(test::ask("z3", rule, {{"default_work", std::int64_t{0}}}).kind, VerdictKind::kProved);
  EXPECT_EQ(test::ask("cvc5", rule).kind, VerdictKind::kProved);
}
/// One instance is too few for e-matching; the default solver has no such limit.
TEST(DefaultSolver, ProvesWhatEMatchingLeavesOpen) {
  const Rule rule = test::rule("(x:2, y:2, z:2) ewadd(ewadd(x, y), z) => ewadd(x, ewadd(y, z))");
  const Options one = {{"max_instances", std::int64_t{1}}},
                alone = {{"max_instances", std::int64_t{1}}, {"default_work", std::int64_t{0}}};
  EXPECT_EQ(test::ask("z3", rule, alone).kind, VerdictKind::kUnknown);
  const Verdict proved = test::ask("z3", rule, one);
  EXPECT_EQ(proved.kind, VerdictKind::kProved) << proved.reason;
  EXPECT_THAT(proved.reason, HasSubstr("Z3's default solver derives each output's equation from the axioms"));
}
/// A solver is told of a goal's operators once, of its inputs when there are more of them.
TEST(EMatching, IsToldOfMoreInputsUnderOperatorsThatItKnows) {
  const Rule two = test::rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)");
  const Rule three = test::rule("(x:2, y:2, z:2) ewadd(ewadd(x, y), z) => ewadd(x, ewadd(y, z))");
  Budget budget;
  budget.work = 4'000'000;
  const std::vector<Goal> goals = {{two, test::axioms(), budget}, {three, test::axioms(), budget}};
  const auto verifier = test::plugins().find<Verifier>("z3")->clone();
  ASSERT_TRUE(verifier->configure({{"default_work", std::int64_t{0}}}));
  const auto verdicts = verifier->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  for (const Verdict& verdict : *verdicts) EXPECT_EQ(verdict.kind, VerdictKind::kProved) << verdict.reason;
}
/// Goals with like operators are asked one after the other, and processes take over from each other in between.
TEST(Cvc5Verifier, AnswersInTheOrderOfItsGoals) {
  std::vector<Rule> rules;
  for (const auto* texts : {&test::true_rules(), &test::wrong_rules(), &test::true_rules()}) {
    // A wrong rule costs its whole budget.
    for (std::size_t i = 0; i < (texts == &test::wrong_rules() ? 1 : texts->size()); i += 4)
      rules.push_back(test::rule((*texts)[i]));
  }
  const std::size_t third = (test::true_rules().size() + 3) / 4, wrong = 1;
  Budget budget;
  budget.work = 4'000'000;
  std::vector<Goal> goals;
  for (const Rule& rule : rules) goals.push_back({rule, test::axioms(), budget});
  const auto verdicts = test::plugins().find<Verifier>("cvc5")->clone()->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  ASSERT_EQ(verdicts->size(), 2 * third + wrong);
  std::size_t proved = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool is_wrong = i >= third && i < third + wrong;
    if (is_wrong) {
      EXPECT_EQ((*verdicts)[i].kind, VerdictKind::kUnknown) << to_text(rules[i]);
    }
    proved += (*verdicts)[i].kind == VerdictKind::kProved;
  }
  EXPECT_GE(proved + 4, 2 * third);
}
TEST(Cvc5Process, ThatIsNowhereIsAnErrorThatSaysWhatToDo) {
  const auto verifier = test::plugins().find<Verifier>("cvc5")->clone();
  ASSERT_TRUE(verifier->configure({{"program", std::string("no-such-solver")}}));
  const Rule rule = test::rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)");
  const std::vector<Goal> goals = {{rule, test::axioms(), {}}};
  const auto verdicts = verifier->verify(goals);
  ASSERT_FALSE(verdicts);
  EXPECT_THAT(verdicts.error().message, HasSubstr("no-such-solver is nowhere in PATH"));
  ASSERT_TRUE(verifier->configure({{"program", std::string("/nowhere/cvc5")}}));
  const auto by_path = verifier->verify(goals);
  ASSERT_FALSE(by_path);
  EXPECT_THAT(by_path.error().message,
              HasSubstr("the solver program /nowhere/cvc5 cannot be started: No such file or directory"));
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
// A side without a value beside one that has one; what overflows is no such side.
TEST(EvaluateVerifier, RefutesWhereOneSideHasNoValue) {
  for (const char* text : {"(x:1) exp(log(x)) => x", "(x:1) neg(x) => neg(exp(log(x)))",
                           "(x:1) ewmul(sqrt(x), sqrt(x)) => x", "(x:1) power[exponent=-1](power[exponent=-1](x)) => x",
                           "(x:1) relu(power[exponent=-1](power[exponent=-1](x))) => relu(x)"}) {
    const Verdict verdict = test::ask("evaluate", test::rule(text));
    EXPECT_EQ(verdict.kind, VerdictKind::kRefuted) << text << ": " << verdict.reason;
  }
  for (const char* text :
       {"(x:1) log(exp(x)) => x", "(x:1) log(exp(exp(exp(x)))) => exp(exp(x))",
        "(x:1) power[exponent=-1](power[exponent=3](x)) => power[exponent=-3](x)",
        "(x:1) power[exponent=60](power[exponent=2](x)) => power[exponent=2](power[exponent=60](x))"}) {
    const Verdict verdict = test::ask("evaluate", test::rule(text));
    EXPECT_EQ(verdict.kind, VerdictKind::kUnknown) << text << ": " << verdict.reason;
  }
}
/// What is said of a rule whose source has another's target.
Verdict evaluated(const Rule& source, const Rule& target) {
  Rule wrong = source;
  wrong.target = target.source;
  return test::ask("evaluate", wrong);
}
TEST(EvaluateVerifier, RefutesSidesOfDifferentOutputs) {
  const Rule one = test::rule("(x:2) relu(x) => relu(x)"), two = test::rule("(x:2) relu(x), x => relu(x), x");
  const Rule turned = test::rule("(x:2) transpose(x) => transpose(x)");
  const Verdict count = evaluated(one, two), shape = evaluated(one, turned);
  EXPECT_EQ(count.kind, VerdictKind::kRefuted);
  EXPECT_EQ(count.reason, "the source has 1 outputs and the target 2");
  EXPECT_EQ(shape.kind, VerdictKind::kRefuted);
  EXPECT_THAT(shape.reason, testing::MatchesRegex("output 0 has shape .* in the source and .* in the target, at x .*"));
  EXPECT_THAT(shape.counterexample, testing::StartsWith("x ("));
}
/// Conditions with products, quotients and inequalities are those of the rule: it is looked at where they hold alone.
TEST(EvaluateVerifier, LooksWhereTheConditionsHold) {
  for (const char* condition : {"x.0*x.1 = 12", "floor((x.0 + 1) / 2) = 3, x.1 != 2", "x.0 != x.1, 3 | x.0"}) {
    const std::string holds = fmt::format("(x:2) relu(relu(x)) => relu(x) where {}", condition);
    const Verdict open = test::ask("evaluate", test::rule(holds));
    EXPECT_EQ(open.kind, VerdictKind::kUnknown) << condition;
    EXPECT_THAT(open.reason, HasSubstr("equal at")) << condition;
    const std::string wrong = fmt::format("(x:2) relu(x) => relu(relu(ewadd(x, x))) where {}", condition);
    EXPECT_EQ(test::ask("evaluate", test::rule(wrong)).kind, VerdictKind::kRefuted) << condition;
  }
}
TEST(EvaluateVerifier, SearchesForSizesThatDrawsDoNotMeet) {
  // No example, and one pair of sizes in a hundred that meets the condition.
  Rule narrow = test::rule("(x:2, y:2) relu(ewadd(x, y)) => relu(ewadd(y, x)) where x.0*x.0 = 25, x.1*x.1 = 49");
  narrow.example.clear();
  const Verdict verdict = test::ask("evaluate", narrow, {{"max_dim", std::int64_t{40}}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.reason, "equal at 1 shapes");
}
TEST(EvaluateVerifier, SaysWhereNoSizesMeetTheConditions) {
  Rule none = test::rule("(x:2) relu(relu(x)) => relu(x) where x.0*x.0 = 1369");
  none.example.clear();
  EXPECT_THAT(test::ask("evaluate", none).reason, HasSubstr("no shapes with sizes up to"));
}
// 10^12 times x.0 to the 25th is a number at 1 alone: larger sizes are passed over, and nothing else happens.
TEST(EvaluateVerifier, PassesOverSizesAtWhichAConditionIsNoNumber) {
  SymbolicDim power = SymbolicDim::variable(SizeVar::read("x.0"));
  for (int i = 0; i < 24; ++i) power = power * SymbolicDim::variable(SizeVar::read("x.0"));
  for (const SymbolicDim& size : {1'000'000'000'000 * power, power * power}) {
    Rule rule = test::rule("(x:1) relu(x) => x");
    rule.precondition = {{Constraint::Kind::kAtLeast, size, 1}};
    rule.example.clear();
    const Verdict wrong = test::ask("evaluate", rule);
    EXPECT_EQ(wrong.kind, VerdictKind::kRefuted) << wrong.reason;
    EXPECT_THAT(wrong.reason, HasSubstr("x (1)")) << to_string(size);
  }
}
TEST(EvaluateVerifier, MeetsNoConditionOnASizeThatNothingHas) {
  Rule rule = test::rule("(x:1) relu(x) => x");
  rule.precondition = {{Constraint::Kind::kAtLeast, SymbolicDim::variable(SizeVar::read("y.0")), 1}};
  const Verdict open = test::ask("evaluate", rule);
  EXPECT_EQ(open.kind, VerdictKind::kUnknown);
  EXPECT_THAT(open.reason, HasSubstr("no shapes with sizes up to"));
}
/// x^61 and x^63 are equal at -1, 0 and 1, and beyond them one has no exact value here.
TEST(EvaluateVerifier, RefutesOverThePrimeFieldWhatExactNumbersDoNotShow) {
  const Verdict verdict = test::ask("evaluate", test::rule("(x:2) power[exponent=61](x) => power[exponent=63](x)"));
  EXPECT_EQ(verdict.kind, VerdictKind::kRefuted);
  EXPECT_THAT(verdict.reason, HasSubstr("output 0 differs at element 0 over the prime field, at x ("));
  EXPECT_THAT(verdict.counterexample, HasSubstr("; residues "));
}
TEST(Verifiers, SayWhatTheyAre) {
  const Verifier& evaluate = *test::plugins().find<Verifier>("evaluate");
  EXPECT_THAT(evaluate.summary(), HasSubstr("Refutes"));
  EXPECT_FALSE(evaluate.proves());
  EXPECT_TRUE(evaluate.refutes());
  for (const char* name : {"egraph", "z3", "cvc5"}) {
    const Verifier& prover = *test::plugins().find<Verifier>(name);
    EXPECT_THAT(prover.summary(), HasSubstr("Proves")) << name;
    EXPECT_TRUE(prover.proves()) << name;
    EXPECT_FALSE(prover.refutes()) << name;
  }
}

TEST(EvaluateVerifier, TellsSquareFromUnequalShapes) {
  const Verdict verdict = test::ask("evaluate", test::rule("(x:2) transpose(x) => x"));
  EXPECT_EQ(verdict.kind, VerdictKind::kRefuted);
}

TEST(Verifiers, NameTheOptionThatTheyDoNotKnow) {
  for (const char* name : {"z3", "cvc5", "evaluate", "egraph"}) {
    const auto verifier = test::plugins().find<Verifier>(name)->clone();
    const Status status = verifier->configure({{"tries", std::int64_t{3}}});
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr("option 'tries'"));
  }
  const auto evaluate = test::plugins().find<Verifier>("evaluate")->clone();
  for (const std::int64_t points : {0, 1'001}) {
    const Status status = evaluate->configure({{"points", points}});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "verifier evaluate: the option points must be an integer from 1 to 1000");
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
/// What becomes of a rule whose solver's program is another one.
class MisbehavingSolver : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, MisbehavingSolver, testing::Values("z3", "cvc5"));

/// In a folder of this process, gone with it: tests run side by side.
std::string own_place(const std::string& name) {
  static const struct Folder {
    const std::string path = fmt::format("{}rewright-verifiers-{}/", testing::TempDir(), ::getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  return folder.path + name;
}
/// An executable script there.
std::string script(const std::string& name, const std::string& text) {
  const std::string path = own_place(name);
  std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST_P(MisbehavingSolver, ThatGetsNoSocketIsAnError) {
  const auto verifier = test::plugins().find<Verifier>(GetParam())->clone();
  const Rule rule = test::rule(kSimple);
  const std::vector<Goal> goals = {{rule, test::axioms(), {}}};
  {
    const test::NoMoreFiles limit;
    const auto verdicts = verifier->verify(goals);
    ASSERT_FALSE(verdicts);
    EXPECT_THAT(verdicts.error().message, testing::MatchesRegex("no socket for .*: Too many open files"));
  }
  const auto verdicts = verifier->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_EQ(verdicts->at(0).kind, VerdictKind::kProved) << verdicts->at(0).reason;
}
TEST_P(MisbehavingSolver, ThatDiesLeavesTheRuleUnknown) {
  const Verdict verdict = test::ask(GetParam(), test::rule(kSimple), {{"program", std::string("/bin/false")}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("the solver died"));
  expect_no_children();
}
TEST_P(MisbehavingSolver, ThatHangsIsEnded) {
  const Verdict verdict =
      test::ask(GetParam(), test::rule(kSimple),
                {{"program", script("hangs", "exec sleep 1000")}, {"answer_seconds", std::int64_t{1}}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("within 1 s and was ended"));
  expect_no_children();
}
TEST_P(MisbehavingSolver, ThatTalksNonsenseProvesNothing) {
  const std::string program = script("babbles", "while read line; do echo 'unsat? who knows'; done");
  const Verdict verdict =
      test::ask(GetParam(), test::rule(kSimple), {{"program", program}, {"answer_seconds", std::int64_t{1}}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown) << verdict.reason;
  expect_no_children();
}
TEST(Cvc5Process, ThatAnswersOtherwiseIsQuoted) {
  const std::string program =
      script("errs",
             "while read -r line; do case \"$line\" in *rewright-end-of-answer*) echo '(error \"no luck\")'; "
             "echo rewright-end-of-answer;; esac; done");
  const Verdict verdict =
      test::ask("cvc5", test::rule(kSimple), {{"program", program}, {"answer_seconds", std::int64_t{10}}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_THAT(verdict.reason, HasSubstr("cvc5 answered: (error \"no luck\")"));
  expect_no_children();
}
TEST(Z3Process, ThatAnswersOtherwiseIsQuoted) {
  // "unknown" and a reason, in a frame of 16 bytes, whatever it is asked.
  const std::string program = script("shrugs",
                                     "while dd bs=65536 count=1 of=/dev/null 2>/dev/null; do "
                                     "printf '\\020\\000\\000\\000\\000\\000\\000\\000unknown\\nno idea\\n' >&0; done");
  const Verdict verdict =
      test::ask("z3", test::rule(kSimple), {{"program", program}, {"answer_seconds", std::int64_t{10}}});
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.reason, "Z3 answered: unknown\nno idea; the default solver answered: unknown\nno idea");
  expect_no_children();
}
TEST(Cvc5Process, ThatEatsMemoryIsEndedAndTheNextRuleIsAskedAnew) {
  // The first process that runs eats memory until its limit ends it; those after it are the real solver.
  const std::string seen = own_place("eaten");
  std::filesystem::remove(seen);
  const std::string program =
      script("eats", "if [ -e " + seen + " ]; then exec cvc5 \"$@\"; fi; touch " + seen +
                         "; exec python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 24))'");
  const auto verifier = test::plugins().find<Verifier>("cvc5")->clone();
  ASSERT_TRUE(verifier->configure({{"program", program}}));
  Budget budget;
  budget.memory_bytes = std::uint64_t{512} << 20;
  const Rule rule = test::rule(kSimple);
  const std::vector<Goal> goals = {{rule, test::axioms(), budget}, {rule, test::axioms(), budget}};
  const auto verdicts = verifier->verify(goals);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_EQ((*verdicts)[0].kind, VerdictKind::kUnknown);
  EXPECT_THAT((*verdicts)[0].reason, HasSubstr("its memory was limited to 512 MiB"));
  EXPECT_EQ((*verdicts)[1].kind, VerdictKind::kProved) << (*verdicts)[1].reason;
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
// Goals go to the solver many in a message: each gets its own verdict, also where the solver dies of one of them.
TEST(Z3Process, AnswersManyGoalsInTheirOrder) {
  const auto verifier = test::plugins().find<Verifier>("z3")->clone();
  ASSERT_TRUE(verifier->configure({{"default_work", std::int64_t{0}}, {"max_instances", std::int64_t{1'000'000'000}}}));
  const Rule simple = test::rule(kSimple), wrong = test::rule("(x:2, y:2) matmul(x, y) => matmul(y, x)");
  const Rule hungry = test::rule(kUnprovable);
  Budget budget;
  budget.work = 4'000'000'000;
  budget.memory_bytes = std::uint64_t{160} << 20;
  for (const bool dies : {false, true}) {
    std::vector<Goal> goals;
    for (std::size_t i = 0; i < 70; ++i)
      goals.push_back({dies && i == 40 ? hungry : i % 7 == 3 ? wrong : simple, test::axioms(), budget});
    const auto verdicts = verifier->verify(goals);
    ASSERT_TRUE(verdicts) << verdicts.error().message;
    ASSERT_EQ(verdicts->size(), goals.size());
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const bool open = (dies && i == 40) || i % 7 == 3;
      EXPECT_EQ((*verdicts)[i].kind, open ? VerdictKind::kUnknown : VerdictKind::kProved) << i;
    }
  }
  expect_no_children();
}

// --- which axioms a solver is told -----------------------------------------------------------------------------------

/// link-0: relu = sigmoid, link-1: sigmoid = tanh, ...; and one that leads away from relu to where nothing leads on.
const std::vector<std::string> kChain = {"relu", "sigmoid", "tanh", "exp", "erf", "sqrt", "neg"};
AxiomSet chain_of_axioms() {
  std::string text = "(declare-sort Tensor 0)(declare-fun abs (Tensor) Tensor)";
  for (const std::string& name : kChain) text += fmt::format("(declare-fun {} (Tensor) Tensor)", name);
  const auto state = [&](const std::string& name, const std::string& left, const std::string& right) {
    text +=
        fmt::format("(assert (! (forall ((x Tensor)) (= ({} x) ({} x))) :named {} :ranks \"x 1\" :source \"none\"))",
                    left, right, name);
  };
  for (std::size_t i = 0; i + 1 < kChain.size(); ++i) state(fmt::format("link-{}", i), kChain[i], kChain[i + 1]);
  state("leads-away", "relu", "abs");
  AxiomSet axioms;
  if (const Status status = axioms.add(text, "chain.smt2", test::plugins()); !status) fail(status.error().message);
  return axioms;
}

/// The solver itself, with what each of its processes is told written to LOG0, LOG1, ...
std::string overheard(const std::string& program, const std::string& log) {
  return script("overheard",
                "exec python3 -c '\n"
                "import glob, select, socket, subprocess, sys\n"
                "program, log = sys.argv[1:3]\n"
                "outer = socket.socket(fileno=0)\n"
                "inner, end = socket.socketpair()\n"
                "subprocess.Popen([program] + sys.argv[3:], stdin=end, stdout=end)\n"
                "end.close()\n"
                "told = open(log + str(len(glob.glob(log + \"*\"))), \"wb\", 0)\n"
                "while True:\n"
                "  for side in select.select([outer, inner], [], [])[0]:\n"
                "    said = side.recv(1 << 16)\n"
                "    if not said: sys.exit()\n"
                "    if side is outer: told.write(said)\n"
                "    (inner if side is outer else outer).sendall(said)\n"
                "' " +
                    program + " " + log + " \"$@\"");
}

struct Reaches {
  const char* solver;
  std::string program;
  std::size_t near;  ///< Links that the nearest axioms have.
  std::size_t all;   ///< That all have which a goal is ever asked over.
  friend std::ostream& operator<<(std::ostream& stream, const Reaches& one) { return stream << one.solver; }
};
class NearestAxioms : public testing::TestWithParam<Reaches> {
 protected:
  struct Asked {
    VerdictKind kind;
    std::vector<std::set<std::string>> told;  ///< Names of axioms, by process.
  };
  /// relu = the operator so many links away.
  static Asked ask_over_chain(std::size_t links) {
    const std::string log = own_place("told") + "-";
    const auto place = [&](std::size_t process) { return log + std::to_string(process); };
    for (std::size_t i = 0; std::filesystem::remove(place(i)); ++i) {
    }
    const auto verifier = test::plugins().find<Verifier>(GetParam().solver)->clone();
    Options options = {{"program", overheard(GetParam().program, log)}};
    if (GetParam().solver == std::string("z3")) options.emplace("default_work", std::int64_t{0});
    if (const Status status = verifier->configure(options); !status) fail(status.error().message);
    const AxiomSet axioms = chain_of_axioms();
    const Rule rule = test::rule(fmt::format("(x:1) relu(x) => {}(x)", kChain[links]));
    const std::vector<Goal> goals = {{rule, axioms, Budget()}};
    const auto verdicts = verifier->verify(goals);
    if (!verdicts) fail(verdicts.error().message);
    Asked asked{verdicts->at(0).kind, {}};
    for (std::size_t i = 0; std::filesystem::exists(place(i)); ++i) {
      std::ifstream file(place(i));
      asked.told.emplace_back();
      for (std::string line; std::getline(file, line);) {
        const auto name = line.find("; l");
        if (name != std::string::npos) asked.told.back().insert(line.substr(name + 2));
      }
    }
    return asked;
  }
  static std::set<std::string> links(std::size_t count) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.insert(fmt::format("link-{}", i));
    return names;
  }
};
INSTANTIATE_TEST_SUITE_P(Of, NearestAxioms,
                         testing::Values(Reaches{"z3", REWRIGHT_BUILD_DIR "/lib/rewright/verifiers/z3-worker", 4, 6},
                                         Reaches{"cvc5", "cvc5", 2, 4}),
                         [](const auto& info) { return info.param.solver; });

TEST_P(NearestAxioms, AreToldFirstWithoutWhatLeadsAway) {
  const Asked asked = ask_over_chain(GetParam().near);
  EXPECT_EQ(asked.kind, VerdictKind::kProved);
  EXPECT_THAT(asked.told, testing::ElementsAre(links(GetParam().near)));
}
TEST_P(NearestAxioms, AreFollowedByAllWhereTheyDoNotDo) {
  const Asked asked = ask_over_chain(GetParam().all);
  EXPECT_EQ(asked.kind, VerdictKind::kProved);
  std::set<std::string> all = links(kChain.size() - 1);
  all.insert("leads-away");
  EXPECT_THAT(asked.told, testing::ElementsAre(testing::IsEmpty(), all));
}

// --- budgets
// ----------------------------------------------------------------------------------------------------------

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
