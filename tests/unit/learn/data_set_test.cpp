#include "learn/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "learn/accuracy.h"
#include "optimize/cost_cache.h"
#include "store/schedule_records.h"
#include "support/operators.h"

namespace rewright::learn {
namespace {

using rewright::testing::loaded;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr const char* kHead = R"({"rewright_kernels":1,"unit":"us","device":"m|a"})";
constexpr const char* kRelu = R"(|relu|data(8, 64))";

std::string line(const std::string& program, const std::string& kernel, const std::string& us) {
  return R"({"program":")" + program + R"(","kernel":")" + kernel + R"(","us":)" + us + "}";
}

class DataSetTest : public ::testing::Test {
 protected:
  DataSetTest()
      : folder_(::testing::TempDir() + "/data_set_" + ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  [[nodiscard]] std::string file(const std::string& name, const std::vector<std::string>& lines) const {
    std::ofstream out(folder_ + "/" + name);
    for (const std::string& each : lines) out << each << "\n";
    return folder_ + "/" + name;
  }
  [[nodiscard]] std::string refusal(const std::vector<std::string>& lines) const {
    const auto data = read_data({file("a.kernels", lines)}, "", loaded());
    return data ? "" : data.error().message;
  }
  std::string folder_;
};

TEST_F(DataSetTest, EqualKernelsAreOneSampleOfAllTheirPrograms) {
  const std::string a = file("a.kernels", {kHead, line("p", kRelu, "[3, 2.5]"), line("q", kRelu, "[2]")});
  const std::string b = file("b.kernels", {kHead, line("r", kRelu, "[4]"), line("r", "|tanh|data(4)", "[1]")});
  const auto data = read_data({a, b}, "", loaded());
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2);
  EXPECT_THAT(data->samples[0].programs, UnorderedElementsAre("p", "q", "r"));
  EXPECT_THAT(data->samples[0].us, ElementsAre(3, 2.5, 2, 4));
  EXPECT_EQ(data->samples[0].label_us(), 2);
  EXPECT_THAT(data->kinds, ElementsAre("", "relu", "tanh"));
}

TEST_F(DataSetTest, ACostCacheIsADataSetOfTheProgramThatItsNameSays) {
  const std::string cache = folder_ + "/net.cache";
  {
    const auto opened = open_cost_cache(cache);
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE((*opened)->insert(std::string("m|a") + kRelu, 2));
    ASSERT_TRUE((*opened)->insert("m|a|tanh|data(4)", INFINITY));
    ASSERT_TRUE((*opened)->insert("m|a|no_such_operator|data(4)", 1));
  }
  const auto data = read_data({cache}, "", loaded());
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 1);
  EXPECT_THAT(data->samples[0].programs, ElementsAre("net"));
  EXPECT_EQ(data->infinite, 1);
  EXPECT_EQ(data->unknown, 1);
  const std::string written = folder_ + "/all.kernels";
  ASSERT_TRUE(write_data(written, *data));
  const auto again = read_data({written}, "", loaded());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->hash(), data->hash());
}

TEST_F(DataSetTest, AStoreIsTheBestScheduleOfEachKernel) {
  const std::string store = folder_ + "/net.store";
  {
    auto records = ScheduleRecords::open(store);
    ASSERT_TRUE(records) << records.error().message;
    ScheduleRecord record;
    record.structure = "|relu|data(s0, s1)";
    record.sizes = {8, 64};
    record.target = "c";
    record.machine = record.processor = "a";
    record.policy = "hot";
    record.outcome = "ok";
    record.origin = "search";
    for (const double us : {3.0, 2.0, 5.0}) {
      record.batches_us = {us, us + 1};
      ASSERT_TRUE(records->add(record));
    }
    record.outcome = "wrong";
    record.batches_us = {0.5};
    ASSERT_TRUE(records->add(record));
  }
  const auto data = read_data({store}, "", loaded());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->device, "tuned|c, hot caches, a");
  ASSERT_EQ(data->samples.size(), 1);
  EXPECT_EQ(data->samples[0].kernel, kRelu);
  EXPECT_THAT(data->samples[0].us, ElementsAre(2));
  EXPECT_THAT(data->samples[0].programs, ElementsAre("net"));
  EXPECT_THAT(refusal({}), HasSubstr("is empty"));
}

TEST_F(DataSetTest, TimesAreAddedToAFileOfTheSameDevice) {
  const std::string kept = folder_ + "/kept.kernels";
  ASSERT_TRUE(append_data(kept, "m|a", "p", {{kRelu, {3, 2}}}));
  ASSERT_TRUE(append_data(kept, "m|a", "q", {{kRelu, {1}}, {"|tanh|data(4)", {5}}}));
  const auto other = append_data(kept, "m|b", "p", {{kRelu, {3}}});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("has kernels of another device than m|b"));
  const auto data = read_data({kept}, "", loaded());
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2);
  EXPECT_THAT(data->samples[0].us, ElementsAre(3, 2, 1));
  EXPECT_THAT(data->samples[0].days, ElementsAre(::testing::StartsWith("20")));
  ASSERT_TRUE(write_data(kept, *data));
  EXPECT_EQ(read_data({kept}, "", loaded())->samples[0].days, data->samples[0].days);
  EXPECT_THAT(data->samples[0].programs, UnorderedElementsAre("p", "q"));
  const auto damaged = append_data(file("b.kernels", {"x"}), "m|a", "p", {{kRelu, {3}}});
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("b.kernels:1: not JSON"));
}

TEST_F(DataSetTest, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(refusal({}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({"x"}), HasSubstr("a.kernels:1: not JSON"));
  EXPECT_THAT(refusal({R"({"program":"p"})"}), HasSubstr("has no \"rewright_kernels\""));
  EXPECT_THAT(refusal({R"({"rewright_kernels":7,"unit":"us","device":"m|a"})"}), HasSubstr("version 7"));
  EXPECT_THAT(refusal({R"({"rewright_kernels":1,"unit":"ms","device":"m|a"})"}), HasSubstr("times in \"ms\""));
  EXPECT_THAT(refusal({kHead, line("p", kRelu, "[]")}), HasSubstr("a.kernels:2: \"us\" has no time"));
  EXPECT_THAT(refusal({kHead, line("p", kRelu, "[-1]")}), HasSubstr("a time of -1 us"));
  EXPECT_THAT(refusal({kHead, line("p", kRelu, "[NaN]")}), HasSubstr("not JSON"));
  EXPECT_THAT(refusal({kHead, line("p", kRelu, "\"fast\"")}), HasSubstr("not a measured kernel"));
}

TEST_F(DataSetTest, DevicesAreNotMixed) {
  const std::string a = file("a.kernels", {kHead, line("p", kRelu, "[3]")});
  const std::string b =
      file("b.kernels", {R"({"rewright_kernels":1,"unit":"us","device":"m|b"})", line("p", kRelu, "[30]")});
  const auto both = read_data({a, b}, "", loaded());
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("m|a; m|b; name one by --device PART"));
  const auto one = read_data({a, b}, "|b", loaded());
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->samples[0].label_us(), 30);
}

/// Kernels of three programs, some shared.
std::vector<std::string> lines_of(int count) {
  std::vector<std::string> lines = {kHead};
  for (int i = 1; i <= count; ++i) {
    const std::string program(1, static_cast<char>('p' + i % 3));
    lines.push_back(line(program, "|relu|data(" + std::to_string(i) + ", 64)", "[" + std::to_string(10 + i) + "]"));
    if (i % 5 == 0) lines.push_back(line("z", "|relu|data(" + std::to_string(i) + ", 64)", "[20]"));
  }
  return lines;
}

TEST_F(DataSetTest, NoKernelIsInTrainingAndTest) {
  const auto data = read_data({file("a.kernels", lines_of(60))}, "", loaded());
  ASSERT_TRUE(data) << data.error().message;
  for (const std::string& name : split_names()) {
    const auto folds = split(*data, name);
    ASSERT_TRUE(folds || name == "operator") << name;
    for (const Fold& fold : folds ? *folds : std::vector<Fold>()) {
      EXPECT_EQ(fold.training.size() + fold.test.size(), data->samples.size()) << name;
      for (const std::size_t s : fold.training) {
        EXPECT_TRUE(std::ranges::find(fold.test, s) == fold.test.end());
        EXPECT_FALSE(name == "program" && data->samples[s].programs.contains(fold.name));
      }
    }
  }
  EXPECT_FALSE(split(*data, "random"));
}

TEST_F(DataSetTest, WhoIsTestedDependsOnTheContentAlone) {
  std::vector<std::string> lines = lines_of(60);
  const auto data = read_data({file("a.kernels", lines)}, "", loaded());
  lines.push_back(line("new", "|tanh|data(4)", "[30]"));
  std::reverse(lines.begin() + 1, lines.end());
  const auto more = read_data({file("b.kernels", lines)}, "", loaded());
  ASSERT_TRUE(data && more);
  const auto before = split(*data, "row"), after = split(*more, "row");
  ASSERT_TRUE(before && after);
  for (std::size_t f = 0; f < before->size(); ++f) {
    std::set<std::string> kept;
    for (const std::size_t s : (*after)[f].test) kept.insert(more->samples[s].kernel);
    for (const std::size_t s : (*before)[f].test) EXPECT_TRUE(kept.contains(data->samples[s].kernel));
  }
}

TEST_F(DataSetTest, FewKernelsAreSaidToBeFew) {
  const auto data = read_data({file("a.kernels", {kHead, line("p", kRelu, "[3]")})}, "", loaded());
  ASSERT_TRUE(data);
  const auto folds = split(*data, "program");
  ASSERT_FALSE(folds);
  EXPECT_THAT(folds.error().message, HasSubstr("rewright learn sample"));
  const std::vector<std::size_t> all = {0};
  const auto model = fit(*data, all, {.predictor = "trees"}, loaded());
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("or more; there are 1: rewright learn sample measures more"));
}

TEST(Metrics, KendallsTau) {
  const std::vector<double> up = {1, 2, 3, 4}, down = {9, 7, 5, 3}, mixed = {1, 3, 2, 4}, tied = {5, 5, 5, 5};
  EXPECT_EQ(kendall_tau(up, up), 1);
  EXPECT_EQ(kendall_tau(up, down), -1);
  EXPECT_NEAR(kendall_tau(up, mixed), 4.0 / 6, 1e-12);
  EXPECT_EQ(kendall_tau(up, tied), 0);
  const std::vector<double> half = {1, 1, 2, 2};  // Four pairs agree, two are tied in it.
  EXPECT_NEAR(kendall_tau(up, half), 4 / std::sqrt(6.0 * 4), 1e-12);
}

TEST(Metrics, ErrorsAreOfKernelsThatTakeLongEnough) {
  const std::vector<double> measured = {1, 10, 20, 40, 80};
  const std::vector<Estimate> predicted = {{9, 0}, {11, 1}, {20, 1}, {30, 15}, {80, 2}};
  const Accuracy found = accuracy_of(measured, predicted);
  EXPECT_EQ(found.kernels, 4);
  EXPECT_NEAR(found.error, (0.1 + 0 + 0.25 + 0) / 4, 1e-12);
  EXPECT_EQ(found.within_10, 0.75);
  EXPECT_EQ(found.tau, 1);
}

TEST(Metrics, ACorrectedSpreadNeedsNoCorrection) {
  FoldReport fold{"one", 1};
  for (int i = 1; i <= 9; ++i) {
    fold.measured.push_back(100);
    fold.predicted.push_back({100 + 4.0 * i, 1});
  }
  const double factor = spread_correction({fold});
  EXPECT_GT(factor, 10);
  for (Estimate& each : fold.predicted) each.spread *= factor;
  EXPECT_NEAR(spread_correction({fold}), 1, 1e-12);
}

}  // namespace
}  // namespace rewright::learn
