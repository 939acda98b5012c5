#include "store/schedule_records.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace rewright;
using testing::HasSubstr;

ScheduleRecord some_record() {
  ScheduleRecord record;
  record.structure = "|matmul|data(s0, s1)data(s2, s3)";
  record.sizes = {512, 256, 256, 128};
  record.schedule = "split y.i 16\nunroll y.k # \"quoted\"\n";
  record.target = "c";
  record.dialect = "c11";
  record.target_version = "cc 12";
  record.machine = "00ff";
  record.processor = "a processor";
  record.policy = "hot";
  record.batches_us = {4.0, 1.0 / 3, 2.0, 3.0};
  record.outcome = "ok";
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.origin = "hand";
  record.recorded = "2026-01-31T12:00:00.123Z";
  return record;
}

class Folder {
 public:
  Folder() : folder_(*TemporaryFolder::make()) {}
  [[nodiscard]] std::string store() const { return folder_.path() + "/r.store"; }

 private:
  TemporaryFolder folder_;
};

TEST(ScheduleRecords, ReadBackTheLineThatTheyWrote) {
  const auto again = record_of_line(to_line(some_record()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, some_record());
}

TEST(ScheduleRecords, KnowLeastAndQuartiles) {
  EXPECT_DOUBLE_EQ(some_record().least_us(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(some_record().quantile_us(0.5), 2.5);
  EXPECT_DOUBLE_EQ(some_record().quantile_us(0.75), 3.25);
}

TEST(ScheduleRecords, AddARecordOnce) {
  const Folder folder;
  auto records = ScheduleRecords::open(folder.store());
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_TRUE(*records->add(some_record()));
  EXPECT_FALSE(*records->add(some_record()));
  ScheduleRecord other = some_record();
  other.outcome = "crashed";
  other.batches_us.clear();
  EXPECT_TRUE(*records->add(other));
  const auto read = ScheduleRecords::read(folder.store());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (std::vector{some_record(), other}));
}

TEST(ScheduleRecords, CanBeNeitherChangedNorTakenAway) {
  const Folder folder;
  auto records = ScheduleRecords::open(folder.store());
  ASSERT_TRUE(records);
  ASSERT_TRUE(records->add(some_record()));
  const auto store = Store::open(folder.store(), Store::Mode::kWrite);
  ASSERT_TRUE(store);
  for (const char* const sql : {"UPDATE schedule_records SET least_us = 0", "DELETE FROM schedule_records"}) {
    const auto status = (*store)->database().run(sql);
    ASSERT_FALSE(status) << sql;
    EXPECT_THAT(status.error().message, HasSubstr("records are added, never"));
  }
}

TEST(ScheduleRecords, SayWhichRowIsDamaged) {
  const Folder folder;
  ASSERT_TRUE(ScheduleRecords::open(folder.store())->add(some_record()));
  const auto store = Store::open(folder.store(), Store::Mode::kWrite);
  ASSERT_TRUE((*store)->database().run("DROP TRIGGER schedule_records_stay"));
  ASSERT_TRUE((*store)->database().run("UPDATE schedule_records SET line = replace(line, '512', '511')"));
  const auto read = ScheduleRecords::read(folder.store());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("is damaged: record 1: its hash is not that of what it says"));
}

TEST(ScheduleRecords, OfANewerVersionAreRefused) {
  std::string line = to_line(some_record());
  line.replace(line.find("\"version\":1"), 11, "\"version\":2");
  const auto read = record_of_line(line);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("a record of version 2; this program reads version 1"));
}

TEST(ScheduleRecords, RefuseWordsThatAreNone) {
  ScheduleRecord record = some_record();
  record.outcome = "fine";
  EXPECT_FALSE(record_of_line(to_line(record)));
  record = some_record();
  record.batches_us.clear();
  EXPECT_FALSE(record_of_line(to_line(record)));
  EXPECT_FALSE(record_of_line("[1]"));
  EXPECT_FALSE(record_of_line(""));
}

TEST(ScheduleRecords, OfAStoreWithoutThemAreNone) {
  const Folder folder;
  ASSERT_TRUE(Store::open(folder.store(), Store::Mode::kRun));
  const auto read = ScheduleRecords::read(folder.store());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->empty());
}

}  // namespace
