#include "tune/nearest_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;
using namespace rewright::tune;
using testing::HasSubstr;

ScheduleRecord record_of(std::string structure, std::vector<std::int64_t> sizes, double us) {
  ScheduleRecord record;
  record.structure = std::move(structure);
  record.sizes = std::move(sizes);
  record.outcome = "ok";
  record.machine = "here";
  record.target = "c";
  record.policy = "hot";
  record.batches_us = {us};
  return record;
}

const KernelKey kKey{"|relu|data(s0, s1)", {8, 16}};
const RecordFilter kFilter{"here", "c", "", "hot"};

std::string said(const std::vector<ScheduleRecord>& records) {
  const auto best = best_record(records, kKey, kFilter);
  return best ? "found" : best.error().message;
}

TEST(BestRecord, IsTheFastestThatIsRight) {
  std::vector<ScheduleRecord> records = {record_of(kKey.structure, {8, 16}, 3), record_of(kKey.structure, {8, 16}, 2),
                                         record_of(kKey.structure, {8, 16}, 1)};
  records[2].outcome = "wrong";
  const auto best = best_record(records, kKey, kFilter);
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ((*best)->least_us(), 2);
}

TEST(BestRecord, OfAMissNamesTheNearestAndItsDifference) {
  EXPECT_THAT(said({record_of(kKey.structure, {8, 64}, 1), record_of(kKey.structure, {8, 32}, 1)}),
              HasSubstr("s1 is 32, not 16 (|relu|data(8, 32))"));
  EXPECT_THAT(said({record_of("|exp|data(s0, s1)", {8, 16}, 1)}), HasSubstr("it is another kernel, |exp|data(8, 16)"));
  EXPECT_THAT(said({}), HasSubstr("nor of any other kernel"));
}

TEST(BestRecord, OfAnotherMachineIsNotUsed) {
  std::vector<ScheduleRecord> records = {record_of(kKey.structure, {8, 16}, 3)};
  records[0].machine = "there";
  records[0].processor = "another processor";
  EXPECT_THAT(said(records), HasSubstr("but of machine there (another processor)"));
}

}  // namespace
