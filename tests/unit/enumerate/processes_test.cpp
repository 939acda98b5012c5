// Processes that enumerate together: what one of them does not finish, the others do not wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "enumerate/enumerator.h"
#include "support/limit.h"
#include "support/operators.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

class Processes : public ::testing::Test {
 protected:
  Processes() : folder_(fs::temp_directory_path() / fmt::format("rewright-processes-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Processes() override { fs::remove_all(folder_); }

  [[nodiscard]] EnumerationConfig config(std::size_t rank, std::size_t ranks = 2) const {
    EnumerationConfig made;
    made.max_operators = max_operators_;
    for (const char* application : operators_) {
      const auto [op, params] = testing::call(application);
      made.operators.push_back({op, params});
    }
    for (const char* name : {"x", "y"}) made.inputs.push_back({name, {2, 2}, InputKind::kData});
    made.folder = made.work_folder = folder_.string();
    made.rank = rank;
    made.ranks = ranks;
    made.token = "run";
    return made;
  }
  static Result<EnumerationReport> run(const EnumerationConfig& config, std::vector<std::string>& found) {
    return enumerate(config, [&](const Candidate& candidate) {
      found.push_back(candidate.id);
      return Status();
    });
  }
  static Result<EnumerationReport> run(const EnumerationConfig& config) {
    std::vector<std::string> found;
    return run(config, found);
  }

  /// Two find what one finds, and the first gets it.
  void expect_the_same_as_alone() const {
    std::vector<std::string> alone, first, second;
    EnumerationConfig whole = config(0, 1);
    whole.work_folder.clear();
    ASSERT_TRUE(run(whole, alone));
    std::thread other([&] { EXPECT_TRUE(run(config(1), second)); });
    const auto report = run(config(0), first);
    other.join();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_GT(alone.size(), 5U);
    EXPECT_EQ(first, alone);
    EXPECT_TRUE(second.empty());
  }

  fs::path folder_;
  std::vector<const char*> operators_ = {"relu", "ewadd", "transpose"};
  int max_operators_ = 2;
};

TEST_F(Processes, FindTogetherWhatOneFinds) { expect_the_same_as_alone(); }

// split(relu(concat(x, y))) is equal to two graphs that share nothing, relu(x) and relu(y).
TEST_F(Processes, FindTogetherWhatFallsApart) {
  operators_ = {"relu", "concat[axis=1]", "split[axis=1, sizes=[]]"};
  max_operators_ = 3;
  expect_the_same_as_alone();
}

TEST_F(Processes, EndWithTheSentenceOfTheOneThatFailed) {
  std::ofstream(folder_ / "run.failed.1")
      << static_cast<int>(ErrorCode::kBudget) << " /work: No space left on device\n";
  const auto report = run(config(0));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kBudget) << "as it was there";
  EXPECT_EQ(report.error().message, "process 2 of 2 failed: /work: No space left on device");
}

TEST_F(Processes, SayThatTheDiskHasNoRoomForTheirWork) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  EnumerationConfig alone = config(0, 1);
  alone.checkpoint_seconds = 0;
  const auto report = [&] {
    const testing::Limit limit(RLIMIT_FSIZE, 10);
    return run(alone);
  }();
  std::signal(SIGXFSZ, before);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message,
              ::testing::AllOf(::testing::StartsWith(folder_.string()), ::testing::HasSubstr(".new: "),
                               ::testing::HasSubstr("File too large")));
}

TEST_F(Processes, StopWhereOneOfThemIsStopped) {
  const auto stopped = enumerate(
      config(1), [](const Candidate&) { return Status(); }, [](const EnumerationProgress&) { return false; });
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->stopped_early);
  const auto report = run(config(0));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->stopped_early) << "rather than wait for what the other does not do";
}

TEST_F(Processes, DoNotMindWhatFailedInAnEarlierRun) {
  std::ofstream(folder_ / "earlier.failed.1") << "out of memory\n";
  std::thread other([&] { EXPECT_TRUE(run(config(1))); });
  const auto report = run(config(0));
  other.join();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->stopped_early);
}

}  // namespace
}  // namespace rewright
