// Processes that verifiers run in: where there is none, and what is known of a verifier from outside.
#include "verify/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "unit/verify/no_more_files.h"
#include "unit/verify/rules.h"
#include "verify/apart.h"

namespace rewright {
namespace {

using ::testing::ElementsAre;

const std::function<bool()> kNoStop = [] { return false; };

TEST(WorkerProcess, ThatGetsNoSocketIsAnError) {
  const test::NoMoreFiles limit;
  const auto process = WorkerProcess::start(to_message(WorkerTask()), kNoStop);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kIo);
  EXPECT_THAT(process.error().message, ::testing::EndsWith("no socket for its process: Too many open files"));
}

TEST(WorkerProcess, ThatCannotBeStartedIsAnError) {
  setenv("REWRIGHT_TEST_TOO_LONG", std::string(200'000, 'x').c_str(), 1);  // More than a program may be given.
  const auto process = WorkerProcess::start(to_message(WorkerTask()), kNoStop);
  unsetenv("REWRIGHT_TEST_TOO_LONG");
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kPlugin);
  EXPECT_THAT(process.error().message,
              ::testing::EndsWith("/verifiers/verifier-worker: the program that verifiers run in cannot be started "
                                  "(Argument list too long); install it again"));
}

TEST(WorkerProcess, ThatCannotReadItsTaskIsAnError) {
  const auto process = WorkerProcess::start("no task at all", kNoStop);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kPlugin);
  EXPECT_EQ(process.error().message, "a verifier's process could not be set up: it left its process with exit code 2");
}

TEST(WorkerProcess, SaysWhyItsTaskCannotBeDone) {
  WorkerTask task;
  task.axiom_digest = "another";
  const auto process = WorkerProcess::start(to_message(task), kNoStop);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kMismatch);
  EXPECT_EQ(process.error().message, "the axiom files have changed since they were read; start again");
}

TEST(VerifierApart, SaysWhatItsVerifierSays) {
  const Verifier& evaluate = *test::plugins().find<Verifier>("evaluate");
  const Isolation isolation;
  WorkerShelf shelf;
  const auto apart = make_apart(evaluate, test::plugins(), isolation, kNoStop, shelf);
  EXPECT_EQ(apart->name(), evaluate.name());
  EXPECT_EQ(apart->summary(), evaluate.summary());
  EXPECT_EQ(apart->proves(), evaluate.proves());
  EXPECT_EQ(apart->refutes(), evaluate.refutes());
  EXPECT_FALSE(apart->configure({{"tries", std::int64_t{3}}})) << "the verifier knows its options";
}

// Its process goes on with the next chunk, whatever the verifier itself says of that.
TEST(VerifierApart, ServesManyChunks) {
  PortfolioOptions options;
  options.chunk = 1;
  options.isolation.which = Apart::kAll;
  const std::vector<Rule> rules = {test::rule("(x:2, y:2) matmul(x, y) => matmul(y, x)"),
                                   test::rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x)"),
                                   test::rule("(x:2) transpose(x) => x")};
  const auto report =
      verify_all(rules, test::axioms(), std::vector<VerifierChoice>{{"evaluate", {}}}, test::plugins(), options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT((std::vector{report->proved, report->refuted, report->unknown}), ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace rewright
