// The cost model `tuned`, on stores with a record or two.
#include <rewright/base/command.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/cost_key.h>
#include <rewright/plugin/registry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/schedule_records.h"
#include "tune/kernel_text.h"

namespace {

using namespace rewright;
using testing::HasSubstr;

class TunedCost : public testing::Test {
 protected:
  TunedCost() : folder_(*TemporaryFolder::make()), store_(folder_.path() + "/r.store") {
    EXPECT_TRUE(registry_.load_default());
  }
  void add(const std::string& kernel, double us, const std::string& outcome = "ok",
           const std::string& processor = processor_name(), const std::vector<double>& more_us = {}) {
    const auto key = key_of(tune::parse_kernel(kernel, registry_)->kernel());
    ScheduleRecord record;
    record.structure = key.structure;
    record.sizes = key.sizes;
    record.target = "c";
    record.policy = "hot";
    record.origin = "hand";
    record.processor = processor;
    record.outcome = outcome;
    record.batches_us = {us, 2 * us};
    record.batches_us.insert(record.batches_us.end(), more_us.begin(), more_us.end());
    EXPECT_TRUE(*ScheduleRecords::open(store_)->add(record));
  }
  /// Of the one application of a kernel; what is wrong as text.
  std::pair<double, std::string> cost(const std::string& kernel, Options options = {}) {
    options["records"] = store_;
    const auto model = (*registry_.get<CostModel>("tuned"))->clone();
    if (const auto status = model->configure(options, registry_); !status) return {-1, status.error().message};
    const OwnedKernel owned = *tune::parse_kernel(kernel, registry_);
    const auto us = model->cost_us(owned.kernel().applications[0]);
    return us ? std::pair(*us, std::string()) : std::pair(-1.0, us.error().message);
  }

  TemporaryFolder folder_;
  std::string store_;
  Registry registry_;
};

TEST_F(TunedCost, IsTheLeastTimeOfARecordThatIsRight) {
  add("(x:8x16) relu(x)", 3);
  add("(x:8x16) relu(x)", 2);
  add("(x:8x16) relu(x)", 1, "wrong");
  EXPECT_EQ(cost("(x:8x16) relu(x)").first, 2);
}

TEST_F(TunedCost, HasTheSpreadOfTheBestRecordsBatches) {
  add("(x:8x16) relu(x)", 3, "ok", processor_name(), {4, 5, 9});
  add("(x:8x16) relu(x)", 5, "ok", processor_name(), {5, 5, 5});
  const auto model = (*registry_.get<CostModel>("tuned"))->clone();
  ASSERT_TRUE(model->configure({{"records", store_}}, registry_));
  const OwnedKernel owned = *tune::parse_kernel("(x:8x16) relu(x)", registry_);
  const Kernel kernel = owned.kernel();
  const auto all = model->estimates({&kernel, 1});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->at(0).us, 3);
  EXPECT_NEAR(all->at(0).spread, (6 - 4) / 1.349, 1e-12) << "of 3, 4, 5, 6, 9";
}

TEST_F(TunedCost, OfAMissIsAnErrorOrTheFallbacks) {
  add("(x:8x16) relu(x)", 3);
  EXPECT_THAT(cost("(x:8x32) relu(x)").second, HasSubstr("has no record of |relu|data(8, 32)"));
  EXPECT_GT(cost("(x:8x32) relu(x)", {{"fallback", std::string("flops")}}).first, 0);
  EXPECT_EQ(cost("(x:8x16) relu(x)", {{"fallback", std::string("flops")}}).first, 3);
}

TEST_F(TunedCost, TunesWhatHasNoRecordWithinABudget) {
  const Options two = {{"trials", std::int64_t{2}}};
  const auto [us, fault] = cost("(x:8x16, w:16x32) matmul(x, w)", two);
  ASSERT_GT(us, 0) << fault;
  EXPECT_EQ(cost("(x:8x16, w:16x32) matmul(x, w)").first, us) << "its records are there";
  const auto records = ScheduleRecords::read(store_);
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_EQ(std::ranges::count(*records, "search", &ScheduleRecord::origin), 2);

  Options spent = two;
  spent["seconds"] = std::int64_t{0};
  EXPECT_THAT(cost("(x:8x48) relu(x)", spent).second, HasSubstr("has no record of |relu|data(8, 48)"));
  spent["fallback"] = std::string("flops");
  EXPECT_GT(cost("(x:8x48) relu(x)", spent).first, 0);
}

TEST_F(TunedCost, NamesABudgetThatIsNone) {
  EXPECT_THAT(cost("(x:8x16) relu(x)", {{"trials", std::string("many")}}).second, HasSubstr("from 0 to 1000000"));
  EXPECT_THAT(cost("(x:8x16) relu(x)", {{"seconds", -1.0}}).second, HasSubstr("from 0 to 1000000"));
  EXPECT_THAT(cost("(x:8x16) relu(x)", {{"trials", std::int64_t{1}}, {"target", std::string("halide")}}).second,
              HasSubstr("for target c alone"));
}

TEST_F(TunedCost, RefusesRecordsOfOtherProcessors) {
  add("(x:8x16) relu(x)", 3, "ok", "some other processor");
  EXPECT_THAT(cost("(x:8x16) relu(x)").second, HasSubstr("are of some other processor, and this is"));
}

TEST_F(TunedCost, NamesTheStoreThatIsNone) {
  EXPECT_THAT(cost("(x:8x16) relu(x)").second, HasSubstr("is no store"));
  EXPECT_TRUE(Store::open(store_, Store::Mode::kRun));
  EXPECT_THAT(cost("(x:8x16) relu(x)").second, HasSubstr("has no records of schedules"));
}

}  // namespace
