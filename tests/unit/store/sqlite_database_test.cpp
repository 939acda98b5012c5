// The store's database: parts of other versions, and what is said where no memory is left.
#include "store/sqlite_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace rewright {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSteps[] = {"CREATE TABLE part (value BLOB)", "ALTER TABLE part ADD COLUMN other BLOB"};

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() : file_(fmt::format("{}rewright-database-{}.sqlite", ::testing::TempDir(), ::getpid())) {
    std::filesystem::remove(file_);
  }
  ~DatabaseTest() override {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file_ + end);
  }
  [[nodiscard]] std::unique_ptr<Database> open(Database::Mode mode) const {
    auto database = Database::open(file_, mode);
    if (!database) fail(database.error().message);
    return *std::move(database);
  }
  /// A database of the first version, with so many bytes in it.
  void make(std::size_t bytes, std::string_view component = {}) const {
    const auto database = open(Database::Mode::kCreate);
    Status status = database->migrate(Migrations(kSteps).first(1), component);
    if (status) status = database->run(fmt::format("INSERT INTO part VALUES (zeroblob({}))", bytes));
    if (!status) fail(status.error().message);
  }
  const std::string file_;
};

TEST_F(DatabaseTest, OfWhichAPartIsOlderIsNotBroughtUpToDateByAReader) {
  make(1, "library");
  const auto reader = open(Database::Mode::kRead);
  const Status status = reader->migrate(kSteps, "library");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kMismatch);
  EXPECT_EQ(status.error().message,
            fmt::format("'{}' has schema version 1 and this program reads version 2; a run of its campaign brings it "
                        "up to date",
                        file_));
  EXPECT_TRUE(open(Database::Mode::kWrite)->migrate(kSteps, "library"));
  EXPECT_TRUE(reader->migrate(kSteps, "library"));
}

TEST_F(DatabaseTest, IsBroughtUpToDateInMemoryForAReader) {
  make(1);
  const auto reader = open(Database::Mode::kRead);
  ASSERT_TRUE(reader->migrate(kSteps));
  EXPECT_TRUE(reader->run("SELECT other FROM part"));
  EXPECT_FALSE(open(Database::Mode::kRead)->run("SELECT other FROM part")) << "the file stays as it is";
}

/// In a process of its own, whose SQLite has 2 MB from here on: how `work` ends there.
void run_short_of_memory(Database& database, const std::function<Status(Database&)>& work) {
  Status status = database.run("PRAGMA hard_heap_limit = 2000000");
  if (status) status = work(database);
  std::fputs(status ? "done" : status.error().message.c_str(), stderr);
  std::exit(!status && status.error().code == ErrorCode::kBudget ? 0 : 1);
}

TEST_F(DatabaseTest, ThatFindsNoMemorySaysSo) {
  make(1);
  const auto insert = [](Database& it) { return it.run("INSERT INTO part VALUES (randomblob(8000000))"); };
  EXPECT_EXIT(run_short_of_memory(*open(Database::Mode::kWrite), insert), ::testing::ExitedWithCode(0),
              "out of memory while working on");
}

TEST_F(DatabaseTest, ThatFindsNoMemoryForACopySaysSo) {
  make(8'000'000);
  const auto migrate = [](Database& it) { return it.migrate(kSteps); };
  EXPECT_EXIT(run_short_of_memory(*open(Database::Mode::kRead), migrate), ::testing::ExitedWithCode(0),
              "out of memory while working on");
}

}  // namespace
}  // namespace rewright
