// A verifier that does harm costs a process: the campaign goes on, to the library that it has without that verifier,
// and says what happened.
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>
#include <vector>

#include "campaign/config.h"
#include "campaign/runner.h"
#include "store/store.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kCampaign = R"(
[campaign]
name = "hostile"
max_operators = 2
inputs = [{ name = "x", shape = [2, 3] }, { name = "y", shape = [2, 3] }]
verifiers = [VERIFIERS]
axioms = ["AXIOMS/elementwise.smt2", "AXIOMS/layout.smt2"]

[operators]
ewadd = {}
relu = {}
transpose = {}

[budget]
work = 1000000
memory = "256M"
)";

/// What tells in a rule that the plugin does harm over it.
constexpr const char* kTheOne = "text LIKE '% relu(relu(%)) => %'";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class HostileVerifier : public testing::Test {
 protected:
  HostileVerifier() {
    std::string pattern = (fs::temp_directory_path() / "rewright-hostile-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    if (auto status = registry_.load_default(); !status) ADD_FAILURE() << status.error().message;
    if (auto status = registry_.load(REWRIGHT_BUILD_DIR "/tests/plugins/campaign/hostile.so"); !status)
      ADD_FAILURE() << status.error().message;
  }
  ~HostileVerifier() override {
    unsetenv("REWRIGHT_SAFE");
    fs::remove_all(folder_);
  }

  /// A whole campaign with these verifiers, in the store `name`.
  Result<CampaignSummary> run(const std::string& name, const std::string& verifiers, const std::string& isolation = "",
                              int threads = 2, bool resume = false) {
    const std::string file = (folder_ / (name + ".toml")).string();
    std::ofstream(file) << replaced(replaced(kCampaign, "VERIFIERS", verifiers), "AXIOMS",
                                    REWRIGHT_SOURCE_DIR "/axioms")
                        << "[isolation]\n"
                        << isolation;
    REWRIGHT_TRY(const CampaignConfig config, load_campaign(file, registry_));
    RunOptions options;
    options.store = path(name);
    options.threads = threads;
    options.resume = resume;
    options.stop = stop_;
    return run_campaign(config, registry_, options);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// One row a line.
  std::string rows(const std::string& name, const std::string& query) {
    const auto store = Store::open(path(name), Store::Mode::kRead);
    if (!store) return store.error().message;
    auto statement = (*store)->database().prepare(query);
    if (!statement) return statement.error().message;
    std::string text;
    for (auto more = statement->query(); more && *more; more = statement->step()) {
      for (int column = 0; column < statement->columns(); ++column) text += statement->text(column) + "|";
      text += "\n";
    }
    return text;
  }
  std::string library(const std::string& name) {
    return rows(name, "SELECT id, text, certificate FROM rules ORDER BY position");
  }
  std::string log(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(path(name) + "/log.txt").rdbuf();
    return text.str();
  }

  fs::path folder_;
  Registry registry_;
  std::function<bool()> stop_;
};

struct Harm {
  const char* verifier;
  const char* sentence;
};

TEST_F(HostileVerifier, CostsAProcessAndNotTheCampaign) {
  const auto calm = run("calm", R"("evaluate", "egraph")");
  ASSERT_TRUE(calm) << calm.error().message;
  ASSERT_GT(calm->rules, 10u);
  EXPECT_TRUE(calm->crashes.empty());
  std::vector<Harm> harms = {{"crashes", "it ended its process (Segmentation fault)"},
                             {"aborts", "it ended its process (Aborted)"},
                             {"leaves", "it left its process with exit code 3"},
                             {"throws", "it threw an exception: no idea what to do"},
                             {"throws-a-number", "it threw an exception: something that is no std::exception"},
                             {"loops", "it gave no answer within 2 s"}};
#ifndef REWRIGHT_SANITIZED  // Their shadow memory knows no limit.
  harms.push_back({"eats", "it threw an exception: no memory is left of what it was given"});
#endif
  for (const Harm& harm : harms) {
    const std::string name = harm.verifier;
    const auto summary = run(name, fmt::format(R"("evaluate", "{}", "egraph")", name), "answer_seconds = 2\n");
    ASSERT_TRUE(summary) << name << ": " << summary.error().message;
    EXPECT_EQ(summary->state, CampaignSummary::State::kFinished);
    EXPECT_EQ(library(name), library("calm")) << name;
    // The goals that it did harm over, and no others; they are proved by somebody else.
    const std::string guilty = rows(name, fmt::format("SELECT id FROM goals WHERE {} ORDER BY position", kTheOne));
    EXPECT_EQ(rows(name,
                   "SELECT goals.id FROM verdicts JOIN goals ON goal = goals.position WHERE reason LIKE "
                   "'crashed: %' ORDER BY goal"),
              guilty);
    ASSERT_EQ(summary->crashes.size(), 1u) << name;
    const CrashSummary& crash = summary->crashes[0];
    EXPECT_EQ(crash.verifier, name);
    EXPECT_EQ(crash.goals, 1u);
    EXPECT_EQ(crash.first + "|\n", guilty);
    EXPECT_EQ(crash.reason, fmt::format("{}, plugin test.hostile", harm.sentence));
    EXPECT_EQ(crash.not_asked, 0u);
    EXPECT_THAT(log(name), HasSubstr(fmt::format("verify: verifier {} of {}/tests/plugins/campaign/hostile.so crashed "
                                                 "over goal {}",
                                                 name, REWRIGHT_BUILD_DIR, crash.first)));
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left behind";
  }
}

TEST_F(HostileVerifier, ThatHangsIsEndedWhereTheCampaignIsStopped) {
  const auto began = std::chrono::steady_clock::now();
  stop_ = [&] { return std::chrono::steady_clock::now() - began > std::chrono::seconds(3); };  // It hangs by then.
  const auto summary = run("stopped", R"("loops", "egraph")", "answer_seconds = 600\n", 1);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->state, CampaignSummary::State::kStopped);
  EXPECT_TRUE(summary->crashes.empty()) << "it is not blamed";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left behind";
}

TEST_F(HostileVerifier, IsPutAsideWhenItHasCrashedTooOften) {
  const auto summary = run("aside", R"("crashes", "egraph")", "most_crashes = 1\n", 1);
  ASSERT_TRUE(summary) << summary.error().message;
  ASSERT_EQ(summary->crashes.size(), 1u);
  EXPECT_EQ(summary->crashes[0].goals, 1u);
  EXPECT_GT(summary->crashes[0].not_asked, 0u);
  EXPECT_THAT(rows("aside", "SELECT DISTINCT reason FROM verdicts WHERE verifier = 'crashes' AND reason LIKE 'put %'"),
              testing::Eq("put aside: it had crashed over 1 goal before|\n"));
  ASSERT_TRUE(run("calm", R"("egraph")"));
  EXPECT_EQ(library("aside"), library("calm"));
  // Nor does it depend on threads when that happens.
  ASSERT_TRUE(run("threads", R"("crashes", "egraph")", "most_crashes = 1\n", 3));
  constexpr const char* kVerdicts = "SELECT goal, place, verifier, kind, reason FROM verdicts ORDER BY goal, place";
  EXPECT_EQ(rows("threads", kVerdicts), rows("aside", kVerdicts));
}

TEST_F(HostileVerifier, IsPutAsideForWhatItDidBeforeTheCampaignWasStopped) {
  const auto campaign = [&](const std::string& name, bool resume = false) {
    return run(name, R"("crashes", "egraph")", "most_crashes = 1\n", 1, resume);
  };
  ASSERT_TRUE(campaign("whole"));
  ASSERT_TRUE(campaign("stopped"));
  {
    // As if it had been stopped when the goal of the crash had its verdicts, and the others none.
    const auto store = *Store::open(path("stopped"), Store::Mode::kWrite);
    const std::string others = "NOT IN (SELECT goal FROM verdicts WHERE reason LIKE 'crashed: %')";
    for (const std::string& change :
         {std::string("DELETE FROM phases WHERE name IN ('verify', 'library')"), std::string("DELETE FROM rules"),
          "UPDATE goals SET status = 'open', trust = '', certificate = '', rule = text WHERE position " + others,
          "DELETE FROM verdicts WHERE goal " + others})
      ASSERT_TRUE(store->database().run(change)) << change;
  }
  const auto resumed = campaign("stopped", true);
  ASSERT_TRUE(resumed) << resumed.error().message;
  ASSERT_EQ(resumed->crashes.size(), 1u);
  EXPECT_EQ(
      rows("stopped", "SELECT DISTINCT substr(reason, 1, 10) FROM verdicts WHERE verifier = 'crashes' ORDER BY 1"),
      "crashed: i|\nput aside:|\n")
      << "it was asked about nothing more";
  EXPECT_EQ(library("stopped"), library("whole"));
}

TEST_F(HostileVerifier, IsNotBlamedIfItsProcessIsKilledFromOutside) {
  const std::string sign = path("sign");
  std::jthread killer([&](const std::stop_token& stop) {
    pid_t process = 0;
    while (!stop.stop_requested() && !(std::ifstream(sign) >> process))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (process > 0) kill(process, SIGKILL);
  });
  const auto summary = run("killed", fmt::format(R"({{ name = "waiting", path = "{}" }}, "egraph")", sign), "", 1);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->crashes.empty());
  // Nor does what it says depend on it: the goals that it was asked about together it is asked about together again.
  const std::string first = rows("killed", "SELECT reason FROM verdicts WHERE verifier = 'waiting' AND goal = 1");
  ASSERT_TRUE(run("calm", fmt::format(R"({{ name = "waiting", path = "{}" }}, "egraph")", sign), "", 1));
  EXPECT_EQ(first, rows("calm", "SELECT reason FROM verdicts WHERE verifier = 'waiting' AND goal = 1"));
  EXPECT_THAT(first, testing::Not(testing::AnyOf("", "asked about 1 goals at once|\n")));
  EXPECT_THAT(log("killed"), HasSubstr("it ended its process (Killed); it gets a new process"));
}

TEST_F(HostileVerifier, IsToldEveryKindOfOptionInAProcessOfItsOwnToo) {
  constexpr const char* kOptions = R"({ name = "echoing", count = -3, flag = true, share = 0.5, word = "two words" })";
  for (const char* where : {"none", "foreign"}) {
    const auto summary = run(where, kOptions, fmt::format("verifiers = \"{}\"\n", where));
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(rows(where, "SELECT DISTINCT reason FROM verdicts"),
              "told count=-3 flag=true share=0.5 word=two words|\n");
  }
}

TEST_F(HostileVerifier, MayRunInsideTheProgramIfTheCampaignSaysSo) {
  const auto summary =
      run("inside", fmt::format(R"({{ name = "writing", path = "{}" }})", path("file")), "verifiers = \"none\"\n");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(rows("inside", "SELECT DISTINCT reason FROM verdicts"), "the file was written|\n");
}

TEST_F(HostileVerifier, WritesNoFilesInSafeMode) {
  setenv("REWRIGHT_SAFE", "1", 1);
  const auto summary = run("safe", fmt::format(R"({{ name = "writing", path = "{}" }})", path("file")));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(rows("safe", "SELECT DISTINCT reason FROM verdicts"), "the file was not written|\n");
  EXPECT_EQ(fs::file_size(path("file")), 0u);
}

TEST_F(HostileVerifier, SafeModeAndProcessesChangeNoRowOfTheStore) {
  constexpr const char* kVerifiers = R"("evaluate", "egraph", "z3")";
  const auto dump = [&](const std::string& name) {
    const auto store = Store::open(path(name), Store::Mode::kRead);
    return store ? *(*store)->dump() : store.error().message;
  };
  ASSERT_TRUE(run("inside", kVerifiers));
  const auto apart = run("apart", kVerifiers, "verifiers = \"all\"\n");
  ASSERT_TRUE(apart) << apart.error().message;
  EXPECT_EQ(dump("apart"), dump("inside"));
  setenv("REWRIGHT_SAFE", "1", 1);
  ASSERT_TRUE(run("safe", kVerifiers));
  EXPECT_EQ(dump("safe"), dump("inside"));
}

TEST_F(HostileVerifier, ItsProcessesAreAskedForInWords) {
  const auto wrong = run("wrong", R"("egraph")", "verifiers = \"some\"\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("verifiers is 'some'; there are 'foreign'"));
}

}  // namespace
}  // namespace rewright
