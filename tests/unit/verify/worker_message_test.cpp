// What a verifier's process answers is read back as it was; what is damaged is no answer.
#include "verify/worker_message.h"

#include <gtest/gtest.h>

#include "unit/verify/rules.h"

namespace rewright {
namespace {

WorkerAnswer answer() {
  Verdict proved;
  proved.kind = VerdictKind::kProved;
  proved.reason = "in \"two\" steps\n";
  proved.certificate = std::string("certificate 1\n\0\xff", 16);
  proved.conditions = {*Constraint::parse("x.0 = 2*y.1 + 1"), *Constraint::parse("2 | x.1")};
  proved.axioms = {"a", "b c"};
  proved.seconds = 0.1;
  Verdict refuted;
  refuted.kind = VerdictKind::kRefuted;
  refuted.counterexample = "x = (1, 2) [1/3, 2]";
  WorkerAnswer said;
  said.verdicts = {proved, refuted};
  return said;
}

TEST(WorkerMessage, IsReadBackAsItWas) {
  const WorkerAnswer said = answer();
  const auto read = read_answer(to_message(said));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->verdicts.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->verdicts[i].kind, said.verdicts[i].kind);
    EXPECT_EQ(read->verdicts[i].reason, said.verdicts[i].reason);
    EXPECT_EQ(read->verdicts[i].certificate, said.verdicts[i].certificate);
    EXPECT_EQ(read->verdicts[i].counterexample, said.verdicts[i].counterexample);
    EXPECT_EQ(read->verdicts[i].conditions, said.verdicts[i].conditions);
    EXPECT_EQ(read->verdicts[i].axioms, said.verdicts[i].axioms);
    EXPECT_EQ(read->verdicts[i].seconds, said.verdicts[i].seconds);
  }
}

TEST(WorkerMessage, IsNoMessageWhereAPartIsMissingOrTooMuch) {
  const std::string whole = to_message(answer());
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_answer(whole.substr(0, size))) << size;
  EXPECT_FALSE(read_answer(whole + "x"));
  std::string huge = whole;
  for (std::size_t at = 24; at < 32; ++at) huge[at] = '\xff';  // The number of verdicts.
  EXPECT_FALSE(read_answer(huge));
}

WorkerTask task() {
  WorkerTask given;
  given.plugins = {"/a/one.so", "two.so"};
  given.verifier = "evaluate";
  given.options = {
      {"deep", true}, {"flat", false}, {"from", std::int64_t{-3}}, {"ratio", 0.1}, {"words", std::string("a\0b", 3)}};
  given.axiom_files = {"a.smt2"};
  given.axioms = {"one", "two"};
  given.axiom_digest = "0123";
  given.memory_bytes = std::uint64_t{1} << 63;
  given.answer_seconds = -1;
  given.strict = true;
  return given;
}

TEST(WorkerTask, IsReadBackAsItWas) {
  const WorkerTask given = task();
  const auto read = read_task(to_message(given));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->plugins, given.plugins);
  EXPECT_EQ(read->verifier, given.verifier);
  EXPECT_EQ(read->options, given.options);
  EXPECT_EQ(read->axiom_files, given.axiom_files);
  EXPECT_EQ(read->axioms, given.axioms);
  EXPECT_EQ(read->axiom_digest, given.axiom_digest);
  EXPECT_EQ(read->memory_bytes, given.memory_bytes);
  EXPECT_EQ(read->answer_seconds, given.answer_seconds);
  EXPECT_EQ(read->strict, given.strict);
}

TEST(WorkerTask, IsNoTaskWhereAPartIsMissingOrWrong) {
  const std::string whole = to_message(task());
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_task(whole.substr(0, size))) << size;
  EXPECT_FALSE(read_task(whole + "x"));
  std::string wrong = whole;
  wrong[whole.find("deep") + 4] = 4;  // There are four kinds of options.
  EXPECT_FALSE(read_task(wrong));
}

TEST(WorkerGoals, AreReadBackAsTheyWere) {
  Rule split = test::rule("(x:2) concat(split[sizes=[s0, s1]](x)) => x"), sum = test::rule("(x:1) ewadd(x, x) => x");
  split.example = {{5, 4}};
  split.example_sizes = {{SizeVar::read("s0"), 2}, {SizeVar::read("s1"), 3}};
  sum.example.clear();
  sum.name = "a name of its own";
  const std::vector<Goal> goals = {{split, test::axioms(), {.work = 7, .memory_bytes = 11}}, {sum, test::axioms(), {}}};
  const auto read = read_goals(to_message(goals), test::plugins());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Rule &rule = (*read)[i].rule, &given = goals[i].rule;
    EXPECT_EQ(to_text(rule), to_text(given));
    EXPECT_EQ(rule.id, given.id);
    EXPECT_EQ(rule.name, given.name);
    EXPECT_EQ(rule.example, given.example);
    EXPECT_EQ(rule.example_sizes, given.example_sizes);
    EXPECT_EQ((*read)[i].budget.work, goals[i].budget.work);
    EXPECT_EQ((*read)[i].budget.memory_bytes, goals[i].budget.memory_bytes);
  }
}

TEST(WorkerGoals, AreRefusedWhereAPartIsMissingOrUnknown) {
  const Rule rule = test::rule("(x:2) concat(split[sizes=[s0, s1]](x)) => x");
  const std::vector<Goal> goals = {{rule, test::axioms(), {}}};
  const std::string whole = to_message(goals);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto read = read_goals(size < whole.size() ? whole.substr(0, size) : whole + "x", test::plugins());
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, ErrorCode::kInternal) << size;
    EXPECT_EQ(read.error().message, "a message of goals that a verifier's process cannot read") << size;
  }
  const auto without_operators = read_goals(whole, Registry());
  ASSERT_FALSE(without_operators);
  EXPECT_NE(without_operators.error().code, ErrorCode::kInternal) << "the message is whole";
}

}  // namespace
}  // namespace rewright
