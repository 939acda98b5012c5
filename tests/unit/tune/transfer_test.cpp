// Schedules of other kernels: whose are taken, which come first, and that they fit sizes that they were not made for.
#include "tune/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "loop/validator.h"
#include "support/equal_programs.h"

namespace {

using namespace rewright;
using namespace rewright::tune;
using testing::ElementsAre;
using testing::IsEmpty;

/// Kernels and share of the untuned time, in percent, by class.
struct Model {
  const char* name;
  std::map<std::string, std::pair<std::size_t, double>> classes;
  const char* donor;
};

// Gibson's thesis, table 6.2, and the first choice of each row of table 6.3.
const std::vector<Model> kModels = {
    {"ResNet50",
     {{"A", {4, 17}}, {"B", {1, 0}}, {"C", {1, 0}}, {"D", {1, 6}}, {"E", {16, 67}}, {"G", {4, 10}}},
     "GoogLeNet"},
    {"AlexNet", {{"B", {3, 0}}, {"D", {1, 6}}, {"E", {5, 14}}, {"H", {2, 80}}, {"I", {1, 0}}}, "VGG-16"},
    {"VGG-16", {{"B", {5, 0}}, {"D", {1, 1}}, {"E", {9, 59}}, {"H", {2, 40}}, {"I", {1, 0}}}, "GoogLeNet"},
    {"MobileNetV2",
     {{"A", {7, 15}}, {"C", {1, 0}}, {"D", {1, 24}}, {"J", {8, 32}}, {"K", {5, 15}}, {"L", {10, 14}}},
     "EfficientNetB4"},
    {"EfficientNetB0",
     {{"A", {14, 9}}, {"C", {11, 4}}, {"D", {1, 12}}, {"K", {5, 9}}, {"M", {8, 39}}, {"N", {12, 27}}, {"O", {7, 0}}},
     "EfficientNetB4"},
    {"EfficientNetB4",
     {{"A", {16, 11}}, {"C", {13, 3}}, {"D", {1, 10}}, {"K", {7, 14}}, {"M", {9, 39}}, {"N", {14, 23}}, {"O", {9, 0}}},
     "EfficientNetB0"},
    {"GoogLeNet", {{"B", {10, 1}}, {"C", {1, 0}}, {"D", {1, 4}}, {"E", {49, 95}}}, "ResNet50"},
    {"MnasNet1.0", {{"A", {7, 17}}, {"D", {1, 25}}, {"E", {9, 31}}, {"K", {5, 15}}, {"P", {12, 13}}}, "GoogLeNet"},
    {"BERT",
     {{"D", {1, 0}}, {"Q", {3, 98}}, {"R", {2, 2}}, {"S", {1, 0}}, {"T", {1, 0}}, {"U", {1, 0}}, {"V", {1, 0}}},
     "MobileBERT"},
    {"MobileBERT", {{"D", {1, 0}}, {"Q", {4, 97}}, {"R", {2, 3}}, {"S", {1, 0}}}, "BERT"},
};

TEST(Donors, AreThoseOfTheThesis) {
  for (const Model& target : kModels) {
    ClassShares shares;
    for (const auto& [kind, cell] : target.classes) shares[kind] = cell.second / 100;
    std::vector<ClassKernels> others;
    std::vector<const Model*> names;
    for (const Model& model : kModels) {
      if (&model == &target) continue;
      names.push_back(&model);
      for (auto& kernels = others.emplace_back(); const auto& [kind, cell] : model.classes) kernels[kind] = cell.first;
    }
    const auto order = donors_in_order(shares, others);
    ASSERT_FALSE(order.empty());
    EXPECT_STREQ(names[order[0]]->name, target.donor) << "for " << target.name;
  }
  // 0.67^2 sqrt(49) + 0.06^2 for classes E and D of ResNet50 from GoogLeNet; B and C take no time.
  EXPECT_NEAR(
      donor_score({{"A", 0.17}, {"D", 0.06}, {"E", 0.67}, {"G", 0.10}}, {{"B", 10}, {"C", 1}, {"D", 1}, {"E", 49}}),
      0.67 * 0.67 * 7 + 0.06 * 0.06, 1e-12);
}

TEST(Donors, HaveAClassInCommon) {
  const std::vector<ClassKernels> models = {{{"matmul", 9}}, {{"relu", 1}}, {}};
  EXPECT_THAT(donors_in_order({{"relu", 1}}, models), ElementsAre(1));
  EXPECT_THAT(donors_in_order({{"conv", 1}}, models), IsEmpty());
}

std::string product(int rows, int sums, int columns) {
  return fmt::format(
      "buffer a[{0}, {1}] float32 in\nbuffer w[{1}, {2}] float32 weight\nbuffer c[{0}, {2}] float32 out\n"
      "for c.i {0} serial {{ for c.j {2} serial {{ store c[c.i, c.j] = 0\n"
      "for c.k {1} serial {{ store c[c.i, c.j] += a[c.i, c.k] * w[c.k, c.j] }} }} }}",
      rows, sums, columns);
}
TuningTask task(int rows, int sums, int columns) {
  return program_task("product", test_support::program_of(product(rows, sums, columns)));
}
ScheduleRecord record(const TuningTask& of, const std::string& schedule, double us) {
  ScheduleRecord record;
  record.structure = of.structure;
  record.sizes = of.sizes;
  record.schedule = schedule;
  record.target = "c";
  record.dialect = "vectors";
  record.machine = "m";
  record.batches_us = {us};
  record.outcome = "ok";
  return record;
}

TEST(DonorSchedules, AreTheFastestOfOtherKernelsOfTheClassTheNearestFirst) {
  const TuningTask own = task(20, 24, 36), near = task(20, 24, 48), far = task(160, 24, 36);
  const TuningTask other =
      program_task("relu", test_support::program_of("buffer x[8] float32 in\nbuffer y[8] float32 out\n"
                                                    "for y.i 8 serial { store y[y.i] = max(x[y.i], 0) }"));
  std::vector<ScheduleRecord> records = {record(far, "split c.i 8\n", 3), record(near, "split c.j 4\n", 2),
                                         record(near, "split c.j 8\n# point 0 1\n", 1),
                                         record(own, "split c.k 2\n", 0.5), record(other, "split y.i 2\n", 1)};
  EXPECT_THAT(donor_schedules(records, own, "c", "vectors"), ElementsAre("split c.j 8\n", "split c.i 8\n"));
  EXPECT_THAT(donor_schedules(records, own, "halide", "vectors"), IsEmpty());
  records[2].outcome = "wrong";
  EXPECT_EQ(donor_schedules(records, own, "c", "vectors")[0], "split c.j 4\n");
  EXPECT_EQ(kernels_by_class(records)[own.structure], 3U);
}

TEST(Adapted, FitsWithTailsWhereItDoesNotDivide) {
  const std::string donor = "split c.i 6; split c.j 16\nreorder c.i/0 c.j/0 c.i/1 c.j/1";
  const loop::Program plain = test_support::program_of(product(20, 24, 37));
  EXPECT_FALSE(adapted(plain, donor, Division::kStrict)) << "16 does not divide 37";
  const auto made = adapted(plain, donor, Division::kTails);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(loop::validate(made->program, 1'000'000));
  test_support::expect_equal(made->program, plain, 1, to_string(made->steps));
  // Where it divides nothing is changed.
  const auto same = adapted(test_support::program_of(product(18, 24, 32)), donor, Division::kTails);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(to_string(same->steps).find("tail"), std::string::npos);
  EXPECT_EQ(same->steps.size(), 3U);
  EXPECT_FALSE(adapted(plain, "split c.q 4", Division::kTails)) << "there is no such loop";
}

// Every schedule of a class fits every other kernel of it, whatever its sizes.
TEST(Adapted, IsInvalidOnlyWhenDividedStrictly) {
  const std::string donor = "split c.i 4; split c.j 16; split c.k 8\ndistribute c.j; reorder c.i/0 c.j/0";
  int strict = 0, pairs = 0;
  for (const int rows : {1, 3, 4, 17}) {
    for (const int sums : {1, 8, 13}) {
      for (const int columns : {1, 16, 33}) {
        const loop::Program plain = test_support::program_of(product(rows, sums, columns));
        const auto made = adapted(plain, donor, Division::kTails);
        ASSERT_TRUE(made) << made.error().message;
        test_support::expect_equal(made->program, plain, 1, fmt::format("{} {} {}", rows, sums, columns));
        strict += !adapted(plain, donor, Division::kStrict);
        ++pairs;
      }
    }
  }
  EXPECT_EQ(pairs, 36);
  EXPECT_GT(strict, 20);
}

}  // namespace
