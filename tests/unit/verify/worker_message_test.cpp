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

}  // namespace
}  // namespace rewright
