// What a store keeps, and what it says when it cannot.
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace rewright {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string pattern = (fs::temp_directory_path() / "rewright-store-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    store_ = (folder_ / "store").string();
  }
  ~StoreTest() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::unique_ptr<Store> open(Store::Mode mode = Store::Mode::kRun) {
    Result<std::unique_ptr<Store>> store = Store::open(store_, mode);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      return nullptr;
    }
    return *std::move(store);
  }
  std::string refusal(Store::Mode mode = Store::Mode::kRun) {
    const Result<std::unique_ptr<Store>> store = Store::open(store_, mode);
    return store ? "" : store.error().message;
  }
  void raw(const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((store_ + "/store.sqlite").c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  fs::path folder_;
  std::string store_;
};

void add_candidate(Store& store, std::int64_t position) {
  const Status status = store.add(CandidateRecord{position, fmt::format("c{}", position), 2, "source", "target"});
  ASSERT_TRUE(status) << status.error().message;
}

GoalRecord goal(std::int64_t position) {
  GoalRecord goal;
  goal.position = position;
  goal.id = fmt::format("g{}", position);
  goal.text = "(x:2) relu(relu(x)) => relu(x)";
  goal.name = "relu-relu";
  goal.example = R"({"shapes":[[2,2]],"sizes":{}})";
  return goal;
}

TEST_F(StoreTest, GivesBackWhatWasPutIn) {
  {
    const auto store = open();
    ASSERT_TRUE(store->begin({"name", "hash", "{}", {{"plugin", "operator.relu", "1.0.0", "abc"}}}));
    add_candidate(*store, 0);
    add_candidate(*store, 1);
    ASSERT_TRUE(store->add(RemovalRecord{1, "renaming", "c0", "the same"}));
    ASSERT_TRUE(store->add(goal(0)));
    ASSERT_TRUE(store->add(ProposalRecord{0, true, false, 0, ""}));
    Verdict verdict{VerdictKind::kRefuted, "differ", "x = 1", "", {}, {"a", "b"}};
    ASSERT_TRUE(store->add(VerdictRecord{0, 0, "evaluate", "1.0.0", {5, 7}, verdict}));
  }
  const auto store = open(Store::Mode::kRead);
  const auto campaign = store->campaign();
  ASSERT_TRUE(campaign && *campaign);
  EXPECT_EQ((*campaign)->ingredients, (std::vector<Ingredient>{{"plugin", "operator.relu", "1.0.0", "abc"}}));
  std::vector<std::string> survivors;
  ASSERT_TRUE(store->candidates(
      [&](const CandidateRecord& candidate) {
        survivors.push_back(candidate.id);
        return Status();
      },
      true));
  EXPECT_THAT(survivors, testing::ElementsAre("c0"));
  const auto verdicts = store->verdicts(0);
  ASSERT_TRUE(verdicts);
  ASSERT_EQ(verdicts->size(), 1U);
  EXPECT_EQ(verdicts->front().verdict.kind, VerdictKind::kRefuted);
  EXPECT_EQ(verdicts->front().verdict.counterexample, "x = 1");
  EXPECT_THAT(verdicts->front().verdict.axioms, testing::ElementsAre("a", "b"));
  EXPECT_EQ(verdicts->front().budget.memory_bytes, 7U);
  const auto proposals = store->proposals();
  ASSERT_TRUE(proposals);
  EXPECT_TRUE(proposals->front().reversed);
}

TEST_F(StoreTest, ATransactionIsAllOrNothing) {
  const auto store = open();
  const Status status = store->database().transaction([&]() -> Status {
    add_candidate(*store, 0);
    return Error{ErrorCode::kBudget, "enough"};
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(*store->count("candidates"), 0);
}

TEST_F(StoreTest, AProcessThatDiesInATransactionLeavesNothingOfIt) {
  open();
  const pid_t child = fork();
  if (child == 0) {
    const auto store = open();
    (void)store->database().transaction([&]() -> Status {
      add_candidate(*store, 0);
      raise(SIGKILL);
      return {};
    });
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(*open()->count("candidates"), 0);
}

TEST_F(StoreTest, ATransactionThatHasEndedOutlivesALossOfPower) {
  const auto store = open(Store::Mode::kRun);
  auto synchronous = store->database().prepare("PRAGMA synchronous");
  ASSERT_TRUE(synchronous);
  ASSERT_TRUE(synchronous->query());
  EXPECT_EQ(synchronous->integer(0), 2) << "FULL: the write-ahead log is synchronised at each commit";
}

TEST_F(StoreTest, ARemovalThatNamesNoCandidateIsRefused) {
  const auto store = open();
  add_candidate(*store, 0);
  EXPECT_FALSE(store->add(RemovalRecord{0, "renaming", "nobody", "the same"}));
}

TEST_F(StoreTest, TwoCampaignsOnOneStoreAreKeptApart) {
  const auto first = open();
  EXPECT_TRUE(Store::busy(store_));
  EXPECT_THAT(refusal(), HasSubstr("another campaign is running on the store '" + store_ + "'"));
}

TEST_F(StoreTest, TheLockGoesWithTheStore) {
  open();
  EXPECT_FALSE(Store::busy(store_));
  EXPECT_NE(open(), nullptr);
}

TEST_F(StoreTest, IsReadWhileACampaignWrites) {
  const auto writer = open();
  add_candidate(*writer, 0);
  const Status status = writer->database().transaction([&]() -> Status {
    add_candidate(*writer, 1);
    const auto reader = open(Store::Mode::kRead);
    EXPECT_EQ(*reader->count("candidates"), 1) << "what is not committed is not seen";
    return {};
  });
  EXPECT_TRUE(status);
}

TEST_F(StoreTest, AStoreOfANewerProgramIsLeftAlone) {
  open();
  raw("PRAGMA user_version = 99");
  for (const Store::Mode mode : {Store::Mode::kRead, Store::Mode::kWrite, Store::Mode::kRun}) {
    EXPECT_THAT(refusal(mode), testing::AllOf(HasSubstr("newer Rewright"), HasSubstr("99"), HasSubstr("store.sqlite")));
  }
}

TEST_F(StoreTest, AStoreOfAVersionThatNeverWasIsDamaged) {
  open();
  raw("PRAGMA user_version = -1");
  for (const Store::Mode mode : {Store::Mode::kRead, Store::Mode::kWrite, Store::Mode::kRun})
    EXPECT_THAT(refusal(mode), testing::AllOf(HasSubstr("is damaged"), HasSubstr("store.sqlite")));
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsNamed) {
  fs::create_directory(store_);
  std::ofstream(store_ + "/store.sqlite") << std::string(4096, 'x');
  for (const Store::Mode mode : {Store::Mode::kRead, Store::Mode::kRun}) {
    EXPECT_THAT(refusal(mode), testing::AllOf(HasSubstr("store.sqlite"), HasSubstr("--store DIR")));
  }
}

TEST_F(StoreTest, ADamagedPageIsFoundBeforeACampaignGoesOn) {
  {
    const auto store = open();
    for (int i = 0; i < 2000; ++i) add_candidate(*store, i);
  }
  const auto size = fs::file_size(store_ + "/store.sqlite");
  std::fstream file(store_ + "/store.sqlite", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << std::string(8192, '\xff');
  file.close();
  EXPECT_THAT(refusal(), HasSubstr("is damaged"));
}

TEST_F(StoreTest, ATruncatedDatabaseIsFound) {
  {
    const auto store = open();
    for (int i = 0; i < 2000; ++i) add_candidate(*store, i);
  }
  fs::resize_file(store_ + "/store.sqlite", fs::file_size(store_ + "/store.sqlite") / 3);
  EXPECT_THAT(refusal(), HasSubstr("is damaged"));
}

// Runs `body` as a user without special rights: root may write anywhere.
void as_nobody(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
}

TEST_F(StoreTest, AFolderThatCannotBeWrittenIsNamed) {
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  as_nobody([&] {
    const std::string sentence = refusal();
    return sentence.find("'" + store_ + "'") != std::string::npos && sentence.find("--store DIR") != std::string::npos;
  });
}

TEST_F(StoreTest, AStoreInAFolderThatCannotBeWrittenIsRead) {
  add_candidate(*open(), 0);
  fs::permissions(store_ + "/store.sqlite", fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(store_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  as_nobody([&] {
    const Result<std::unique_ptr<Store>> store = Store::open(store_, Store::Mode::kRead);
    return store && *(*store)->count("candidates") == 1;
  });
  fs::permissions(store_, fs::perms::owner_all);
}

TEST_F(StoreTest, AFullDiskLosesNothingThatWasSaved) {
  {
    const auto store = open();
    for (int i = 0; i < 100; ++i) add_candidate(*store, i);
  }
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const auto store = open();
    const rlimit limit = {200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = store->database().transaction([&]() -> Status {
      for (int i = 100; i < 100'000; ++i) {
        REWRIGHT_CHECK(store->add(CandidateRecord{i, fmt::format("c{}", i), 2, std::string(500, 's'), "target"}));
      }
      return {};
    });
    const bool named = !status && status.error().message.find("the disk is full") != std::string::npos &&
                       status.error().message.find("store.sqlite") != std::string::npos;
    if (!named) fmt::print(stderr, "{}\n", status ? "it fitted" : status.error().message);
    _exit(named ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(*open()->count("candidates"), 100);
}

TEST_F(StoreTest, AComponentKeepsTablesAndAVersionOfItsOwn) {
  constexpr std::string_view kFirst[] = {"CREATE TABLE costs (key TEXT PRIMARY KEY, cost REAL)"};
  constexpr std::string_view kSecond[] = {kFirst[0], "ALTER TABLE costs ADD COLUMN device TEXT"};
  const auto store = open();
  ASSERT_TRUE(store->database().migrate(kFirst, "costs"));
  ASSERT_TRUE(store->database().run("INSERT INTO costs VALUES ('k', 1.5)"));
  ASSERT_TRUE(store->database().migrate(kSecond, "costs"));
  EXPECT_EQ(*store->count("costs", "device IS NULL"), 1) << "rows stay";
  const Status older = store->database().migrate(kFirst, "costs");
  ASSERT_FALSE(older);
  EXPECT_THAT(older.error().message, HasSubstr("newer Rewright: its schema of costs has version 2"));
}

TEST_F(StoreTest, AFolderMayHaveAnyName) {
  store_ = (folder_ / "50% of what? #1").string();
  add_candidate(*open(), 0);
  EXPECT_EQ(*open(Store::Mode::kRead)->count("candidates"), 1);
}

TEST_F(StoreTest, ADatabaseThatIsNotThereIsNamed) {
  const std::string file = (folder_ / "none.sqlite").string();
  for (const Database::Mode mode : {Database::Mode::kRead, Database::Mode::kWrite})
    EXPECT_EQ(Database::open(file, mode).error().message, "there is no store database '" + file + "'");
  const std::string nowhere = (folder_ / "nowhere" / "new.sqlite").string();
  EXPECT_THAT(
      Database::open(nowhere, Database::Mode::kCreate).error().message,
      testing::AllOf(HasSubstr("'" + nowhere + "' cannot be opened"), HasSubstr("check that its folder is there")));
}

TEST_F(StoreTest, WhatIsOpenedForReadingIsNotWritten) {
  open();
  const auto store = open(Store::Mode::kRead);
  const Status status = store->add(CandidateRecord{0, "c0", 2, "source", "target"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::AllOf(HasSubstr("cannot be written"), HasSubstr("store.sqlite")));
}

TEST_F(StoreTest, ADatabaseThatAnotherProcessWritesIsSaidToBeInUse) {
  const auto store = open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((store_ + "/store.sqlite").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_TRUE(store->database().run("PRAGMA busy_timeout = 0"));
  const Status status = store->database().transaction([] { return Status(); });
  sqlite3_close(other);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("is in use by another process; wait until that has ended"));
}

TEST_F(StoreTest, AnExceptionInATransactionLeavesNothingOfIt) {
  const auto store = open();
  const auto work = [&]() -> Status {
    add_candidate(*store, 0);
    throw std::runtime_error("enough");
  };
  EXPECT_THROW((void)store->database().transaction(work), std::runtime_error);
  EXPECT_EQ(*store->count("candidates"), 0);
  EXPECT_TRUE(store->database().transaction([&]() -> Status {
    add_candidate(*store, 1);
    return {};
  })) << "the next one begins anew";
  EXPECT_EQ(*store->count("candidates"), 1);
}

// --- versions --------------------------------------------------------------------------------------------------

// What the program that wrote version 1 left behind.
class OldStoreTest : public StoreTest {
 protected:
  OldStoreTest() {
    fs::create_directory(store_);
    std::ifstream file(REWRIGHT_SOURCE_DIR "/tests/unit/store/version_1.sql");
    const std::string sql((std::istreambuf_iterator<char>(file)), {});
    raw(sql.c_str());
  }
  std::string version() {
    sqlite3* database = nullptr;
    std::string version;
    sqlite3_open((store_ + "/store.sqlite").c_str(), &database);
    sqlite3_exec(
        database, "PRAGMA user_version",
        [](void* text, int, char** values, char**) {
          *static_cast<std::string*>(text) = values[0];
          return 0;
        },
        &version, nullptr);
    sqlite3_close(database);
    return version;
  }
};

void expect_rules(Store& store) {
  const auto rules = store.rule_texts();
  ASSERT_TRUE(rules) << rules.error().message;
  ASSERT_EQ(rules->size(), 5U);
  EXPECT_EQ((*rules)[1].text, "(x:2) relu(relu(x)) => relu(x)");
  EXPECT_EQ((*rules)[1].name, "relu-relu-to-relu-509a6c8b") << "named as a program of today names it";
  EXPECT_THAT((*rules)[1].certificate, HasSubstr("relu-relu@2c8d2d48"));
  EXPECT_EQ(store.verdicts(1)->size(), 2U);
  EXPECT_EQ(*store.count("rules", "precondition = ''"), 5);
  EXPECT_EQ(store.uses()->size(), 0U);
}

TEST_F(OldStoreTest, IsReadAsIfItWereNewAndStaysAsItIs) {
  const std::string before = version();
  expect_rules(*open(Store::Mode::kRead));
  EXPECT_EQ(before, "1");
  EXPECT_EQ(version(), "1");
}

TEST_F(OldStoreTest, IsBroughtUpToDateByWhoeverWrites) {
  expect_rules(*open(Store::Mode::kWrite));
  EXPECT_EQ(version(), "2");
  expect_rules(*open(Store::Mode::kRead));
  EXPECT_TRUE(open()->database().check());
}

TEST_F(OldStoreTest, ThatCannotBeBroughtUpToDateStaysAsItIs) {
  raw("CREATE TABLE uses (mine INTEGER)");
  EXPECT_THAT(refusal(Store::Mode::kWrite), HasSubstr("already exists"));
  EXPECT_EQ(version(), "1");
  raw("DROP TABLE uses");
  expect_rules(*open(Store::Mode::kWrite));
}

TEST_F(StoreTest, AnEmptyDatabaseIsNoStoreToRead) {
  fs::create_directory(store_);
  raw("CREATE TABLE other (x INTEGER)");
  EXPECT_THAT(refusal(Store::Mode::kRead), HasSubstr("nothing was saved in '"));
}

// --- uses ------------------------------------------------------------------------------------------------------

RuleRecord relu_rule() {
  RuleRecord record;
  record.rule.id = "509a6c8ba35ebea912a3043486496696";
  record.rule.name = "relu-relu-to-relu-509a6c8b";
  record.rule.trust = Trust::kCertificate;
  record.text = "(x:2) relu(relu(x)) => relu(x) where x.0 = x.1";
  return record;
}

TEST_F(StoreTest, AUseOfARuleIsKeptOnceAModelAndSearch) {
  const auto store = open();
  ASSERT_TRUE(store->add(goal(0)));
  ASSERT_TRUE(store->add(relu_rule()));
  UseRecord use{relu_rule().rule.id, "a.onnx", "hash a", "greedy", "flops", 2, 1.5, 10, 8};
  ASSERT_TRUE(store->add(use));
  use.gain_us = 2.5;
  ASSERT_TRUE(store->add(use));
  use.model_hash = "hash b";
  use.gain_us = 9;
  ASSERT_TRUE(store->add(use));
  const auto uses = store->uses();
  ASSERT_TRUE(uses);
  ASSERT_EQ(uses->size(), 2U);
  EXPECT_EQ((*uses)[0].gain_us, 9) << "the greatest gain first";
  EXPECT_EQ((*uses)[1].gain_us, 2.5) << "the last run's";
  EXPECT_EQ(*store->count("rules", "precondition = 'x.0 = x.1'"), 1);
}

TEST_F(StoreTest, AUseOfARuleThatIsNotThereIsRefused) {
  EXPECT_FALSE(open()->add(UseRecord{"nobody", "a.onnx", "hash", "greedy", "flops", 1, 1, 2, 1}));
}

TEST_F(StoreTest, TimesOfVerdictsAreKeptAndAreNoPartOfTheResult) {
  const auto store = open();
  ASSERT_TRUE(store->add(goal(0)));
  const std::string before = *store->dump();
  Verdict verdict{VerdictKind::kProved, "", "", "", {}, {}};
  verdict.seconds = 0.25;
  ASSERT_TRUE(store->add(VerdictRecord{0, 0, "egraph", "1.0.0", {}, verdict}));
  const std::string timed = *store->dump();
  EXPECT_NE(timed, before);
  EXPECT_EQ(store->verdicts(0)->front().verdict.seconds, 0.25);
  ASSERT_TRUE(store->database().run("UPDATE verdict_times SET seconds = 7"));
  EXPECT_EQ(*store->dump(), timed);
}

TEST_F(StoreTest, NamesThePluginThatARuleNeeds) {
  const auto store = open();
  ASSERT_TRUE(store->begin({"name", "hash", "{}", {{"plugin", "operator.relu", "1.0.0", "abc"}}}));
  ASSERT_TRUE(store->add(goal(0)));
  ASSERT_TRUE(store->add(relu_rule()));
  const Registry nothing_loaded;
  EXPECT_EQ(
      store->unjudged_rules(nothing_loaded).error().message,
      fmt::format("'{}/store.sqlite', rule 509a6c8ba35ebea912a3043486496696 (relu-relu-to-relu-509a6c8b): it needs a "
                  "plugin that is not loaded; the store was made with operator.relu 1.0.0: give the file with "
                  "--plugin FILE.so, or its folder in REWRIGHT_PLUGIN_PATH",
                  store_));
  ASSERT_TRUE(store->database().run(
      R"(INSERT INTO campaigns VALUES (1, 'other', 'hash', '{}',
         '[{"kind":"plugin","name":"operator.twice","version":"2.0.0"},{"kind":"program","name":"x","version":"1"}]', '[]'))"));
  EXPECT_THAT(store->unjudged_rules(nothing_loaded).error().message,
              HasSubstr("made with operator.relu 1.0.0 and operator.twice 2.0.0: "))
      << "of a merged store too";
  ASSERT_TRUE(store->database().run("DELETE FROM campaigns; DELETE FROM ingredients"));
  EXPECT_THAT(store->unjudged_rules(nothing_loaded).error().message, HasSubstr("no operator is named 'relu'"));
}

TEST_F(StoreTest, ARuleThatIsDamagedIsNamed) {
  Registry registry;
  ASSERT_TRUE(registry.load_default());
  const auto refusal = [&](const std::string& change) {
    const auto store = open();
    EXPECT_TRUE(store->database().run("DELETE FROM rules"));
    if (*store->count("goals") == 0) {
      EXPECT_TRUE(store->add(goal(0)));
    }
    EXPECT_TRUE(store->add(relu_rule()));
    EXPECT_TRUE(store->database().run("UPDATE rules SET " + change));
    const auto rules = store->unjudged_rules(registry);
    return rules ? "no error" : rules.error().message;
  };
  EXPECT_EQ(refusal("name = name"), "no error");
  EXPECT_THAT(refusal("text = '(x:2) rleu(x) => x'"),
              testing::AllOf(HasSubstr("store.sqlite"), HasSubstr("rule 509a6c8b"), HasSubstr("rleu")));
  for (const char* example : {"", "{", "[]", R"({"shapes":[]})", R"({"shapes":["x"],"sizes":{}})",
                              R"({"shapes":[[1,1]],"sizes":{"s0":"many"}})"})
    EXPECT_THAT(refusal(std::string("example = '").append(example).append("'")),
                HasSubstr(std::string("'").append(example).append("' is no example of input shapes")));
}

TEST(RuleText, IsTakenApart) {
  const RuleText rule = split_rule_text("(x:2, y:2) relu(x) => relu(y) where x.0 = y.0, x.1 = y.1");
  EXPECT_EQ(rule.inputs, "x:2, y:2");
  EXPECT_EQ(rule.source, "relu(x)");
  EXPECT_EQ(rule.target, "relu(y)");
  EXPECT_EQ(rule.precondition, "x.0 = y.0, x.1 = y.1");
}

TEST(RuleText, WithoutAConditionHasNone) {
  const RuleText rule = split_rule_text("() constant_one[sizes=[2]]() => constant_one[sizes=[2]]()");
  EXPECT_EQ(rule.inputs, "");
  EXPECT_EQ(rule.target, "constant_one[sizes=[2]]()");
  EXPECT_EQ(rule.precondition, "");
}

}  // namespace
}  // namespace rewright
