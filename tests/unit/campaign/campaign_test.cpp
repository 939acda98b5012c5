// A campaign gives the same rows whatever happens to it: threads, kills, interrupts, full disks.
#include <rewright/plugin/registry.h>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "campaign/config.h"
#include "campaign/import_rules.h"
#include "campaign/runner.h"
#include "store/store.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Small enough to be run many times, with every phase having something to do.
constexpr const char* kCampaign = R"(
[campaign]
name = "small"
max_operators = 2
inputs = [
  { name = "x", shape = [2, 3] },
  { name = "y", shape = [2, 3] },
  { name = "w", shape = [3, 3], weight = true },
  { name = "v", shape = [3, 3], weight = true },
]
pruners = ["renaming", "common_subgraph"]
verifiers = ["evaluate", "z3"]
axioms = ["AXIOMS/elementwise.smt2", "AXIOMS/linear_algebra.smt2", "AXIOMS/layout.smt2"]

[operators]
ewadd = {}
ewmul = {}
relu = {}
matmul = {}
transpose = {}
concat = { axis = [0, 1] }
split = { axis = [0, 1] }

[budget]
work = 100000
)";

class CampaignTest : public testing::Test {
 protected:
  CampaignTest() {
    std::string pattern = (fs::temp_directory_path() / "rewright-campaign-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    if (const Status status = registry_.load_default(); !status) ADD_FAILURE() << status.error().message;
    write_campaign(kCampaign);
  }
  ~CampaignTest() override { fs::remove_all(folder_); }

  void write_campaign(std::string text) {
    for (auto at = text.find("AXIOMS"); at != std::string::npos; at = text.find("AXIOMS")) {
      text.replace(at, 6, REWRIGHT_SOURCE_DIR "/axioms");
    }
    std::ofstream(file()) << text;
  }
  // The campaign with one line of it replaced.
  static std::string with(const std::string& line, const std::string& replacement) {
    std::string text = kCampaign;
    const auto at = text.find(line);
    if (at == std::string::npos) ADD_FAILURE() << "the campaign has no line '" << line << "'";
    return text.replace(at, line.size(), replacement);
  }
  void load_liars() {
    const Status status = registry_.load(REWRIGHT_BUILD_DIR "/tests/plugins/campaign/liars.so");
    if (!status) ADD_FAILURE() << status.error().message;
  }
  [[nodiscard]] std::string file() const { return (folder_ / "campaign.toml").string(); }
  [[nodiscard]] std::string store(const std::string& name) const { return (folder_ / name).string(); }

  Result<CampaignSummary> run(const std::string& name, RunOptions options = {}) {
    REWRIGHT_TRY(const CampaignConfig config, load_campaign(file(), registry_));
    options.store = store(name);
    return run_campaign(config, registry_, options);
  }

  std::string dump(const std::string& name) {
    const auto opened = Store::open(store(name), Store::Mode::kRead);
    if (!opened) return opened.error().message;
    const Result<std::string> text = (*opened)->dump();
    return text ? *text : text.error().message;
  }

  // Runs the program itself, as a process of its own.
  pid_t start(const std::vector<std::string>& arguments, rlim_t file_limit = RLIM_INFINITY) {
    const pid_t child = fork();
    if (child != 0) return child;
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDOUT_FILENO);
    const int errors = open((folder_ / "errors").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(errors, STDERR_FILENO);
    if (file_limit != RLIM_INFINITY) {
      const rlimit limit = {file_limit, file_limit};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> argv = {const_cast<char*>("rewright")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(REWRIGHT_BUILD_DIR "/bin/rewright", argv.data());
    _exit(127);
  }
  [[nodiscard]] std::vector<std::string> run_arguments(const std::string& name, const std::string& threads) const {
    return {"campaign", "run", file(), "--store", store(name), "--threads", threads, "--resume"};
  }
  // One of several processes that share a campaign, as mpirun starts them; each start of all of them is a job of its
  // own.
  pid_t start_rank(std::size_t rank, std::size_t count, const std::string& name, const char* job = "test") {
    setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    setenv("OMPI_COMM_WORLD_SIZE", std::to_string(count).c_str(), 1);
    setenv("PMIX_NAMESPACE", job, 1);
    const pid_t child = start(run_arguments(name, "1"));
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"}) unsetenv(variable);
    return child;
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string errors() {
    std::ostringstream text;
    text << std::ifstream(folder_ / "errors").rdbuf();
    return text.str();
  }

  fs::path folder_;
  Registry registry_;
};

TEST_F(CampaignTest, FindsCandidatesAndPrunesThem) {
  const auto summary = run("store");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->state, CampaignSummary::State::kFinished);
  EXPECT_THAT(summary->phases_done, testing::ElementsAre("enumerate", "prune", "verify", "library"));
  ASSERT_EQ(summary->levels.size(), 2U);
  EXPECT_GT(summary->candidates, 10U);
  ASSERT_EQ(summary->pruners.size(), 2U);
  EXPECT_LT(summary->pruners.back().left, summary->candidates);
  EXPECT_GT(summary->goals, 0U);
  EXPECT_EQ(summary->proved + summary->refuted + summary->unknown, summary->goals);
}

TEST_F(CampaignTest, NothingUnprovedEntersTheLibrary) {
  // Without the laws of sums and products some goals stay open.
  write_campaign(with("\"AXIOMS/elementwise.smt2\", \"AXIOMS/linear_algebra.smt2\", ", ""));
  const auto summary = run("store");
  ASSERT_TRUE(summary);
  const auto opened = Store::open(store("store"), Store::Mode::kRead);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*(*opened)->count("rules", "(SELECT status FROM goals WHERE position = rules.goal) <> 'proved'"), 0);
  EXPECT_GT(summary->rules, 0U);
  EXPECT_LE(summary->rules, summary->proved);
  EXPECT_GT(summary->refuted + summary->unknown, 0U) << "there must be something to keep out";
}

TEST_F(CampaignTest, EveryRuleReadsBackToItsId) {
  ASSERT_TRUE(run("store"));
  const auto opened = Store::open(store("store"), Store::Mode::kRead);
  ASSERT_TRUE(opened);
  const Result<std::vector<Rule>> rules = (*opened)->unjudged_rules(registry_);
  ASSERT_TRUE(rules) << rules.error().message;
  for (const Rule& rule : *rules) {
    EXPECT_EQ(rule_id(rule), rule.id) << to_text(rule);
    EXPECT_EQ(rule.trust, Trust::kSolver);
    EXPECT_TRUE(instantiate(rule.inputs, rule.source, rule.example, bind_sizes(rule.example_sizes))) << to_text(rule);
  }
}

TEST_F(CampaignTest, VerifiersThatContradictEachOtherStopIt) {
  load_liars();
  write_campaign(
      with("verifiers = [\"evaluate\", \"z3\"]", "verifiers = [\"optimist\", \"pessimist\"]\ncross_check = true"));
  const auto stopped = run("store");
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kMismatch);
  EXPECT_THAT(stopped.error().message,
              testing::AllOf(HasSubstr("optimist"), HasSubstr("pessimist"), HasSubstr("contradiction-")));
  int reproducers = 0;
  for (const auto& entry : fs::directory_iterator(store("store"))) {
    if (entry.path().filename().string().starts_with("contradiction-")) ++reproducers;
  }
  EXPECT_EQ(reproducers, 1);
  const auto opened = Store::open(store("store"), Store::Mode::kRead);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*(*opened)->count("rules"), 0);
  EXPECT_EQ(*(*opened)->count("goals", "status <> 'open'"), 0);
}

TEST_F(CampaignTest, VerifiersThatContradictEachOtherStopAnImport) {
  load_liars();
  const auto rule = parse_rule("(x:2) relu(relu(x)) => relu(x)", registry_);
  ASSERT_TRUE(rule) << rule.error().message;
  RuleImportOptions options;
  options.verifiers = {{"optimist", {}}, {"pessimist", {}}};
  options.portfolio.cross_check = true;
  const auto opened = Store::open(store("store"), Store::Mode::kRun);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto stopped = import_rules({{0, {{*rule}}, ""}}, AxiomSet(), **opened, registry_, options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kMismatch);
  const std::string reproducer = store("store") + "/contradiction-" + rule->id + ".txt";
  EXPECT_THAT(stopped.error().message,
              testing::AllOf(HasSubstr("optimist"), HasSubstr("pessimist"), HasSubstr(reproducer)));
  EXPECT_TRUE(fs::exists(reproducer));
  EXPECT_EQ(*(*opened)->count("goals"), 0) << "nothing was imported";
}

TEST_F(CampaignTest, APrunerThatDropsTooMuchCostsNoGoal) {
  load_liars();
  write_campaign(with("verifiers = [\"evaluate\", \"z3\"]", "verifiers = []"));
  const auto whole = run("whole");
  ASSERT_TRUE(whole);
  write_campaign(with("pruners = [\"renaming\", \"common_subgraph\"]\nverifiers = [\"evaluate\", \"z3\"]",
                      "pruners = [\"all_but_first\"]\nverifiers = []"));
  const auto pruned = run("pruned");
  ASSERT_TRUE(pruned) << pruned.error().message;
  ASSERT_EQ(pruned->pruners.size(), 1U);
  EXPECT_EQ(pruned->pruners.front().left, 1U);
  EXPECT_GT(pruned->reinstated, 0U);
  EXPECT_GE(pruned->goals, whole->goals) << "what nothing proved supports comes back";
}

TEST_F(CampaignTest, OneThreadAndTwoGiveEqualRows) {
  RunOptions options;
  options.threads = 1;
  ASSERT_TRUE(run("one", options));
  options.threads = 2;
  ASSERT_TRUE(run("two", options));
  EXPECT_THAT(dump("one"), HasSubstr("-- rules"));
  EXPECT_EQ(dump("one"), dump("two"));
}

TEST_F(CampaignTest, ASecondRunHasNothingToDo) {
  ASSERT_TRUE(run("store"));
  const std::string before = dump("store");
  const auto again = run("store");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_finished);
  EXPECT_EQ(dump("store"), before);
}

TEST_F(CampaignTest, KilledAtAnyMomentItGoesOnToTheSameRows) {
  ASSERT_EQ(wait_for(start(run_arguments("whole", "1"))), 0) << errors();
  const std::string whole = dump("whole");
  const auto opened = Store::open(store("whole"), Store::Mode::kRead);
  ASSERT_TRUE(opened);
  int killed = 0;
  // From the first moments (no store yet) to the last phase; spread over what the whole run takes.
  for (const int delay_ms : {1, 10, 20, 30, 45, 60, 80, 100, 130, 170, 220, 300, 400, 600}) {
    const std::string name = fmt::format("killed{}", delay_ms);
    const pid_t child = start(run_arguments(name, "2"));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(child, SIGKILL);
    if (wait_for(child) == 128 + SIGKILL) ++killed;
    ASSERT_EQ(wait_for(start(run_arguments(name, "1"))), 0) << "after " << delay_ms << " ms: " << errors();
    EXPECT_EQ(dump(name), whole) << "killed after " << delay_ms << " ms";
  }
  EXPECT_GT(killed, 0) << "no run was killed before its end";
}

TEST_F(CampaignTest, StoppedInEveryPhaseItGoesOnToTheSameRows) {
  ASSERT_TRUE(run("whole"));
  const std::string whole = dump("whole");
  for (const char* phase : {"enumerate", "prune", "generalise"}) {
    bool stop = false;
    RunOptions options;
    options.progress = [&](const CampaignProgress& at) { stop = stop || at.phase == phase; };
    options.stop = [&] { return stop; };
    const auto stopped = run(phase, options);
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(stopped->state, CampaignSummary::State::kStopped) << phase;
    EXPECT_EQ(stopped->stopped_by, "it was interrupted");
    RunOptions resume;
    resume.resume = true;
    const auto done = run(phase, resume);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->state, CampaignSummary::State::kFinished);
    EXPECT_EQ(dump(phase), whole) << "stopped in phase " << phase;
  }
}

TEST_F(CampaignTest, CandidatesOfAStoppedEnumerationAreNotTakenTwice) {
  write_campaign(R"(
[campaign]
name = "three levels"
max_operators = 3
inputs = [{ name = "v", shape = [3, 3] }]
[operators]
relu = {}
transpose = {}
)");
  ASSERT_TRUE(run("whole"));
  bool stop = false;
  RunOptions options;
  options.progress = [&](const CampaignProgress& at) { stop = stop || at.level == 3; };
  options.stop = [&] { return stop; };
  ASSERT_TRUE(run("store", options));
  {
    const auto opened = Store::open(store("store"), Store::Mode::kRead);
    ASSERT_TRUE(opened);
    EXPECT_EQ(*(*opened)->count("candidates"), 0);
    EXPECT_EQ(*(*opened)->count("phases"), 0);
  }
  RunOptions resume;
  resume.resume = true;
  const auto done = run("store", resume);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(dump("store"), dump("whole"));
}

// Enumeration with something to do, and nothing after it.
constexpr const char* kEnumeration = R"(
[campaign]
name = "enumeration"
max_operators = 3
inputs = [
  { name = "x", shapes = [[2, 3], [3, 2]] },
  { name = "y", shapes = [[2, 3], [3, 2]] },
  { name = "w", shapes = [[3, 3], [2, 2]], weight = true },
]
[operators]
ewadd = {}
relu = {}
matmul = {}
transpose = {}
concat = { axis = [0, 1] }
split = { axis = [0, 1] }
)";

/// With more passes than the other: graphs that smaller equalities make superfluous are found, too.
std::string without_instances() {
  std::string text = kEnumeration;
  return text.insert(text.find("max_operators"), "instances = false\n");
}

/// So many operators that graphs are told apart on few samples first.
std::string five_operators() {
  return R"(
[campaign]
name = "five"
max_operators = 5
instances = false
inputs = [
  { name = "x", shapes = [[2, 3], [3, 2]] },
  { name = "y", shapes = [[2, 3], [3, 2]] },
]
[operators]
ewadd = {}
relu = {}
)";
}

class EnumerationInPieces : public CampaignTest, public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Spaces, EnumerationInPieces, ::testing::Values(without_instances(), five_operators()),
                         [](const auto& space) { return space.index == 0 ? "OnAllSamples" : "OnFewSamplesFirst"; });

TEST_P(EnumerationInPieces, KilledAtAnyMomentGoesOnToTheSameRows) {
  write_campaign(GetParam());
  ASSERT_TRUE(run("whole"));
  const std::string whole = dump("whole");
  std::mt19937_64 random(20);
  std::vector<std::string> arguments = run_arguments("store", "2");
  arguments.insert(arguments.end(), {"--checkpoint", "0"});
  int killed = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = start(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
    kill(child, SIGKILL);
    killed += wait_for(child) == 128 + SIGKILL ? 1 : 0;
  }
  EXPECT_GT(killed, 5);
  ASSERT_EQ(wait_for(start(arguments)), 0) << errors();
  EXPECT_EQ(dump("store"), whole);
  EXPECT_FALSE(fs::exists(store("store") + "/work")) << "what is done is not kept twice";
}

TEST_F(CampaignTest, ADamagedFileOfFinishedWorkIsNamed) {
  write_campaign(kEnumeration);
  bool stop = false;
  RunOptions options;
  options.checkpoint_seconds = 0;
  options.progress = [&](const CampaignProgress& at) { stop = stop || at.unit == "equal graphs"; };
  options.stop = [&] { return stop; };
  const auto stopped = run("store", options);
  ASSERT_TRUE(stopped) << stopped.error().message;
  ASSERT_EQ(stopped->state, CampaignSummary::State::kStopped);
  std::string damaged;
  for (const auto& entry : fs::directory_iterator(store("store") + "/work")) {
    damaged = entry.path().string();
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
  }
  ASSERT_FALSE(damaged.empty());
  options.stop = {};
  options.resume = true;
  const auto refused = run("store", options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr(store("store") + "/work/"), HasSubstr("delete it")));
  fs::remove_all(store("store") + "/work");
  ASSERT_TRUE(run("store", options));
  ASSERT_TRUE(run("whole"));
  EXPECT_EQ(dump("store"), dump("whole"));
}

TEST_P(EnumerationInPieces, OfSeveralProcessesGivesTheSameRows) {
  write_campaign(GetParam());
  ASSERT_TRUE(run("whole"));
  for (const std::size_t count : {2, 3}) {
    const std::string name = fmt::format("store{}", count);
    std::vector<pid_t> children;
    for (std::size_t rank = 0; rank < count; ++rank) children.push_back(start_rank(rank, count, name));
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0) << errors();
    EXPECT_EQ(dump(name), dump("whole")) << count << " processes";
  }
}

TEST_P(EnumerationInPieces, OneOfSeveralProcessesThatIsKilledLosesNothing) {
  write_campaign(GetParam());
  ASSERT_TRUE(run("whole"));
  int killed = 0;
  for (const int delay_ms : {10, 60, 110}) {
    const std::string name = fmt::format("killed{}", delay_ms);
    const pid_t children[] = {start_rank(0, 2, name), start_rank(1, 2, name)};
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    const std::size_t dies = static_cast<std::size_t>(delay_ms / 10) % 2;
    kill(children[dies], SIGKILL);
    killed += wait_for(children[dies]) == 128 + SIGKILL ? 1 : 0;
    kill(children[1 - dies], SIGTERM);  // As mpirun does.
    wait_for(children[1 - dies]);
    const pid_t again[] = {start_rank(0, 2, name, "again"), start_rank(1, 2, name, "again")};
    for (const pid_t child : again) EXPECT_EQ(wait_for(child), 0) << errors();
    EXPECT_EQ(dump(name), dump("whole")) << "process " << dies << " was killed after " << delay_ms << " ms";
  }
  EXPECT_GT(killed, 0);
}

/// Processes that nobody ends go on alone, and hold the store.
TEST_P(EnumerationInPieces, OfALauncherThatIsKilledStopsAndCanBeResumed) {
  write_campaign(GetParam());
  ASSERT_TRUE(run("whole"));
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // What is left behind becomes a child of this process.
  int stopped = 0;
  for (const int delay_ms : {0, 30, 60}) {
    const std::string name = fmt::format("left{}", delay_ms);
    const pid_t launcher = fork();
    if (launcher == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (const std::size_t rank : {0, 1}) start_rank(rank, 2, name);
      for (;;) pause();
    }
    for (int i = 0; i < 3'000 && !fs::exists(store(name) + "/work/test---.start.1"); ++i)  // Its sign to the first.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(launcher, SIGKILL);
    EXPECT_EQ(wait_for(launcher), 128 + SIGKILL);
    for (int left = 0; left < 2; ++left) {
      const int code = wait_for(-1);
      EXPECT_THAT(code, testing::AnyOf(0, 3)) << errors();
      stopped += code == 3 ? 1 : 0;
    }
    const pid_t again[] = {start_rank(0, 2, name, "again"), start_rank(1, 2, name, "again")};
    for (const pid_t child : again) EXPECT_EQ(wait_for(child), 0) << errors();
    EXPECT_EQ(dump(name), dump("whole")) << "the launcher was killed after " << delay_ms << " ms";
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_GT(stopped, 0);
}

TEST_F(CampaignTest, AProcessThatWaitsForAnotherIsStoppedResumably) {
  write_campaign(kEnumeration);
  const pid_t first = start_rank(0, 2, "store");
  // The second never comes; a launcher ends the first.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(first, SIGTERM);
  EXPECT_EQ(wait_for(first), 3) << errors();
  RunOptions options;
  options.resume = true;
  ASSERT_TRUE(run("store", options));
  ASSERT_TRUE(run("whole"));
  EXPECT_EQ(dump("store"), dump("whole"));
}

TEST_F(CampaignTest, AProcessThatWaitsForTheFirstIsStoppedResumably) {
  write_campaign(kEnumeration);
  const pid_t second = start_rank(1, 2, "store");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(second, SIGTERM);
  EXPECT_EQ(wait_for(second), 3) << errors();
  RunOptions options;
  options.rank = 1;
  options.ranks = 2;
  options.token = "later";
  options.stop = [] { return true; };
  const auto summary = run("store", options);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->state, CampaignSummary::State::kStopped);
}

TEST_F(CampaignTest, AnInterruptedProgramSaysHowToGoOn) {
  write_campaign(with("max_operators = 2", "max_operators = 4"));
  const pid_t child = start({"campaign", "run", file(), "--store", store("store")});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 3);
  EXPECT_THAT(errors(), testing::AllOf(HasSubstr("it was interrupted"), HasSubstr("--resume")));
}

TEST_F(CampaignTest, AnUnfinishedRunIsNotGoneOnWithUnasked) {
  RunOptions options;
  options.stop = [] { return true; };
  ASSERT_TRUE(run("store", options));
  const auto again = run("store");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, testing::AllOf(HasSubstr("--resume"), HasSubstr("--fresh")));
}

TEST_F(CampaignTest, AStoreOfAnotherCampaignIsLeftAlone) {
  ASSERT_TRUE(run("store"));
  const std::string before = dump("store");
  write_campaign(with("relu = {}", ""));
  const auto refused = run("store");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kMismatch);
  EXPECT_THAT(refused.error().message, HasSubstr("'operators' was"));
  EXPECT_EQ(dump("store"), before);
}

TEST_F(CampaignTest, WhatAStoreWasMadeOfIsNamedWhereItDiffers) {
  write_campaign(with("max_operators = 2", "max_operators = 1"));
  ASSERT_TRUE(run("store"));
  const auto alter = [&](const std::string& sql) {
    const auto opened = Store::open(store("store"), Store::Mode::kWrite);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE((*opened)->database().run(sql));
  };
  const auto refusal = [&] {
    const auto refused = run("store");
    return refused ? "no error" : refused.error().message;
  };
  alter("UPDATE ingredients SET version = '0.0.9' WHERE kind = 'program'");
  EXPECT_THAT(refusal(), HasSubstr("program librewright had version 0.0.9 and has "));
  // A setting that only another program knows.
  alter("UPDATE campaign SET config_hash = 'other', config = json_set(config, '$.luck', 1)");
  EXPECT_THAT(refusal(), HasSubstr("the campaign file has changed"));
}

TEST_F(CampaignTest, FreshForgetsWhatTheStoreHolds) {
  ASSERT_TRUE(run("store"));
  write_campaign(with("relu = {}", ""));
  RunOptions options;
  options.fresh = true;
  ASSERT_TRUE(run("store", options));
  ASSERT_TRUE(run("new"));
  EXPECT_EQ(dump("store"), dump("new"));
}

TEST_F(CampaignTest, AMemoryLimitStopsItResumably) {
  RunOptions options;
  options.memory_bytes = 1;
  const auto stopped = run("store", options);
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->state, CampaignSummary::State::kStopped);
  EXPECT_EQ(stopped->stopped_by, "it reached its memory limit");
  RunOptions resume;
  resume.resume = true;
  ASSERT_TRUE(run("store", resume));
}

TEST_F(CampaignTest, AFullDiskStopsItAndNothingIsLost) {
  ASSERT_TRUE(run("whole"));
  for (const rlim_t limit : {rlim_t{20'000}, rlim_t{120'000}, rlim_t{200'000}}) {
    const std::string name = fmt::format("full{}", limit);
    const int code = wait_for(start(run_arguments(name, "2"), limit));
    EXPECT_NE(code, 0) << limit << " bytes were enough";
    EXPECT_LE(code, 3) << errors();
    EXPECT_THAT(errors(), HasSubstr(name)) << "the sentence names what could not be written";
    EXPECT_EQ(wait_for(start(run_arguments(name, "2"))), 0) << errors();
    EXPECT_EQ(dump(name), dump("whole"));
  }
}

TEST_F(CampaignTest, ItsStatusIsSeenFromAnotherProcessWhileItRuns) {
  RunOptions options;
  bool seen = false;
  options.progress = [&](const CampaignProgress& at) {
    if (seen || at.phase != "prune") return;
    seen = true;
    const auto status = campaign_summary(store("store"));
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(status->state, CampaignSummary::State::kRunning);
    EXPECT_THAT(status->phases_done, testing::ElementsAre("enumerate"));
    EXPECT_GT(status->graphs, 0U);
  };
  ASSERT_TRUE(run("store", options));
  EXPECT_TRUE(seen);
  const auto status = campaign_summary(store("store"));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->state, CampaignSummary::State::kFinished);
}

TEST_F(CampaignTest, TheSpellingOfTheFileDoesNotCount) {
  const auto plain = load_campaign(file(), registry_);
  ASSERT_TRUE(plain) << plain.error().message;
  write_campaign("# a comment\n" + std::string(kCampaign));
  const auto commented = load_campaign(file(), registry_);
  ASSERT_TRUE(commented);
  EXPECT_EQ(resolved_text(*plain), resolved_text(*commented));
}

TEST_F(CampaignTest, ListedValuesGiveEveryCombination) {
  std::ofstream(file()) << R"(
[campaign]
name = "combinations"
max_operators = 1
inputs = [{ name = "x", shape = [1, 1, 4, 4] }]
[operators]
conv2d = [
  { strides = [[1, 1], [2, 2]], padding = ["same", "valid"] },
  { groups = 2, activation = ["relu", "none"] },
]
pool2d_avg = { kernel = [3, 3] }
)";
  const auto config = load_campaign(file(), registry_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->enumeration.operators.size(), 4U + 2U + 1U);
}

}  // namespace
}  // namespace rewright
