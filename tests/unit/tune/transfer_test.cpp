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
  std::vector<std::string> donors;
};

// Gibson's thesis, table 6.2, and the choices of table 6.3, which has no third that is worth anything for the last two.
const std::vector<Model> kModels = {
    {"ResNet50",
     {{"A", {4, 17}}, {"B", {1, 0}}, {"C", {1, 0}}, {"D", {1, 6}}, {"E", {16, 67}}, {"G", {4, 10}}},
     {"GoogLeNet", "MnasNet1.0", "VGG-16"}},
    {"AlexNet",
     {{"B", {3, 0}}, {"D", {1, 6}}, {"E", {5, 14}}, {"H", {2, 80}}, {"I", {1, 0}}},
     {"VGG-16", "GoogLeNet", "ResNet50"}},
    {"VGG-16",
     {{"B", {5, 0}}, {"D", {1, 1}}, {"E", {9, 59}}, {"H", {2, 40}}, {"I", {1, 0}}},
     {"GoogLeNet", "ResNet50", "MnasNet1.0"}},
    {"MobileNetV2",
     {{"A", {7, 15}}, {"C", {1, 0}}, {"D", {1, 24}}, {"J", {8, 32}}, {"K", {5, 15}}, {"L", {10, 14}}},
     {"EfficientNetB4", "EfficientNetB0", "MnasNet1.0"}},
    {"EfficientNetB0",
     {{"A", {14, 9}}, {"C", {11, 4}}, {"D", {1, 12}}, {"K", {5, 9}}, {"M", {8, 39}}, {"N", {12, 27}}, {"O", {7, 0}}},
     {"EfficientNetB4", "MobileNetV2", "MnasNet1.0"}},
    {"EfficientNetB4",
     {{"A", {16, 11}}, {"C", {13, 3}}, {"D", {1, 10}}, {"K", {7, 14}}, {"M", {9, 39}}, {"N", {14, 23}}, {"O", {9, 0}}},
     {"EfficientNetB0", "MobileNetV2", "MnasNet1.0"}},
    {"GoogLeNet",
     {{"B", {10, 1}}, {"C", {1, 0}}, {"D", {1, 4}}, {"E", {49, 95}}},
     {"ResNet50", "VGG-16", "MnasNet1.0"}},
    {"MnasNet1.0",
     {{"A", {7, 17}}, {"D", {1, 25}}, {"E", {9, 31}}, {"K", {5, 15}}, {"P", {12, 13}}},
     {"GoogLeNet", "ResNet50", "VGG-16"}},
    {"BERT",
     {{"D", {1, 0}}, {"Q", {3, 98}}, {"R", {2, 2}}, {"S", {1, 0}}, {"T", {1, 0}}, {"U", {1, 0}}, {"V", {1, 0}}},
     {"MobileBERT"}},
    {"MobileBERT", {{"D", {1, 0}}, {"Q", {4, 97}}, {"R", {2, 3}}, {"S", {1, 0}}}, {"BERT"}},
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
    std::vector<std::string> first;
    for (std::size_t i = 0; i < std::min(target.donors.size(), order.size()); ++i)
      first.emplace_back(names[order[i]]->name);
    EXPECT_EQ(first, target.donors) << "for " << target.name;
  }
  // 0.67^2 sqrt(49) + 0.06^2 for classes E and D of ResNet50 from GoogLeNet; B and C take no time.
  EXPECT_NEAR(
      donor_score({{"A", 0.17}, {"D", 0.06}, {"E", 0.67}, {"G", 0.10}}, {{"B", 10}, {"C", 1}, {"D", 1}, {"E", 49}}),
      0.67 * 0.67 * 7 + 0.06 * 0.06, 1e-12);
}

// Each kernel as it is, and with each schedule of the first choice: the thesis measured so many.
TEST(Donors, GiveAsManyPairsAsInTheThesis) {
  for (const auto& [name, printed] : {std::pair("EfficientNetB0", 764), std::pair("EfficientNetB4", 775)}) {
    const auto find = [](const std::string& wanted) {
      return *std::ranges::find(kModels, wanted, [](const Model& model) { return std::string(model.name); });
    };
    const Model target = find(name);
    auto donor = find(target.donors.front()).classes;
    std::size_t pairs = 0;
    for (const auto& [kind, cell] : target.classes) pairs += cell.first * (1 + donor[kind].first);
    EXPECT_EQ(pairs, static_cast<std::size_t>(printed)) << name;
  }
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
  const auto schedules = [&](const char* target) {
    std::vector<std::string> texts;
    for (const DonorSchedule& each : donor_schedules(donor_kernels(records, {}, target, "vectors"), own))
      texts.push_back(each.schedule);
    return texts;
  };
  EXPECT_THAT(schedules("c"), ElementsAre("split c.j 8\n", "split c.i 8\n"));
  EXPECT_THAT(schedules("halide"), IsEmpty());
  records[2].outcome = "wrong";
  EXPECT_EQ(schedules("c")[0], "split c.j 4\n");
  EXPECT_EQ(kernels_by_class(donor_kernels(records, {}, "c", "vectors"))[own.structure], 3U);
}

const schedule::VectorUnit kUnit;

TEST(Adapted, FitsWithTailsWhereItDoesNotDivide) {
  const DonorSchedule donor{"split c.i 6; split c.j 16\nreorder c.i/0 c.j/0 c.i/1 c.j/1"};
  const loop::Program plain = test_support::program_of(product(20, 24, 37));
  EXPECT_FALSE(adapted(plain, donor, Division::kStrict, kUnit)) << "16 does not divide 37";
  const auto made = adapted(plain, donor, Division::kTails, kUnit);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(loop::validate(made->program, 1'000'000));
  test_support::expect_equal(made->program, plain, 1, to_string(made->steps));
  // Where it divides nothing is changed.
  const auto same = adapted(test_support::program_of(product(18, 24, 32)), donor, Division::kTails, kUnit);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(to_string(same->steps).find("tail"), std::string::npos);
  EXPECT_EQ(same->steps.size(), 3U);
  EXPECT_FALSE(adapted(plain, {"split c.q 4"}, Division::kTails, kUnit)) << "there is no such loop";
}

// Tiles of a large kernel are whole loops of a small one: nothing is left out.
TEST(Adapted, TakesAllOfALoopThatIsShorterThanATile) {
  const DonorSchedule donor{
      "split c.i 32; split c.j 16; split c.k 64\nreorder c.i/0 c.j/0 c.i/1 c.j/1\ndistribute c.j/1; distribute c.i/1\n"
      "reorder c.k/0 c.k/1 c.i/1 c.j/1\nvectorise c.j/1"};
  const loop::Program plain = test_support::program_of(product(12, 24, 48));
  const auto made = adapted(plain, donor, Division::kTails, kUnit);
  ASSERT_TRUE(made) << made.error().message;
  const std::string steps = to_string(made->steps);
  for (const char* step : {"split c.i 12\n", "split c.k 24\n", "vectorise c.j/1"})
    EXPECT_NE(steps.find(step), std::string::npos) << step << " in\n" << steps;
  test_support::expect_equal(made->program, plain, 1, steps);
}

// Every schedule of a class fits every other kernel of it, whatever its sizes.
TEST(Adapted, IsInvalidOnlyWhenDividedStrictly) {
  const DonorSchedule donor{"split c.i 4; split c.j 16; split c.k 8\ndistribute c.j; reorder c.i/0 c.j/0"};
  int strict = 0, pairs = 0;
  for (const int rows : {1, 3, 4, 17}) {
    for (const int sums : {1, 8, 13}) {
      for (const int columns : {1, 16, 33}) {
        const loop::Program plain = test_support::program_of(product(rows, sums, columns));
        const auto made = adapted(plain, donor, Division::kTails, kUnit);
        ASSERT_TRUE(made) << made.error().message;
        test_support::expect_equal(made->program, plain, 1, fmt::format("{} {} {}", rows, sums, columns));
        strict += !adapted(plain, donor, Division::kStrict, kUnit);
        ++pairs;
      }
    }
  }
  EXPECT_EQ(pairs, 36);
  EXPECT_GT(strict, 20);
}

// --- programs that differ in more than numbers
// -----------------------------------------------------------------------

/// y = f(a w) with names of their own.
std::string fused(const std::string& y, int rows, int sums, int columns, const std::string& made) {
  return fmt::format(
      "buffer a[{1}, {2}] float32 in\nbuffer w[{2}, {3}] float32 weight\nbuffer b[{3}] float32 weight\n"
      "buffer {0}[{1}, {3}] float32 out\nbuffer {0}_acc[] float32 temporary\n"
      "for {0}.p {1} serial {{ for {0}.q {3} serial {{ store {0}_acc[] = 0\n"
      "for {0}.r {2} serial {{ store {0}_acc[] += a[{0}.p, {0}.r] * w[{0}.r, {0}.q] }}\n"
      "store {0}[{0}.p, {0}.q] = {4} }} }}",
      y, rows, sums, columns, made);
}

TEST(Nests, OfOneClassAreFollowedAlike) {
  const auto kind = [](const std::string& text) {
    return schedule::sum_nests(test_support::program_of(text)).front().kind;
  };
  const std::string relu = fused("c", 4, 5, 6, "max(c_acc[], 0)");
  EXPECT_EQ(kind(relu), "2 r 1 s: a[] += x[r0, s0] * w[s0, r1]; y[r0, r1]");
  EXPECT_EQ(kind(relu), kind(fused("y", 40, 50, 60, "y_acc[] + b[y.q]")));
  EXPECT_NE(kind(relu), kind(product(4, 5, 6))) << "the sum is kept where the result is";
  const std::string turned =
      "buffer a[4, 5] float32 in\nbuffer w[6, 5] float32 weight\nbuffer y[4, 6] float32 out\n"
      "for y.i 4 serial { for y.j 6 serial { store y[y.i, y.j] = 0\n"
      "for y.k 5 serial { store y[y.i, y.j] += a[y.i, y.k] * w[y.j, y.k] } } }";
  EXPECT_NE(kind(turned), kind(product(4, 5, 6)));
}

TEST(Adapted, GoesByThePlacesOfLoopsWhereProgramsDiffer) {
  const loop::Program from = test_support::program_of(fused("c", 12, 32, 64, "max(c_acc[], 0)"));
  const DonorSchedule donor{
      "split c.q 16; split c.p 4\nreorder c.p/0 c.q/0 c.p/1 c.q/1\ndistribute c.q/1; distribute c.p/1\n"
      "reorder c.r c.p/1 c.q/1\nunroll c.p/1; vectorise c.q/1\npack w w_panels 1/16 0 1%16 pad",
      schedule::sum_nests(from)};
  int strict = 0;
  for (const int rows : {1, 8, 13}) {
    for (const int columns : {8, 48, 50}) {
      const loop::Program to = test_support::program_of(fused("y", rows, 7, columns, "y_acc[] + b[y.q]"));
      const auto made = adapted(to, donor, Division::kTails, kUnit);
      ASSERT_TRUE(made) << made.error().message;
      test_support::expect_equal(made->program, to, 1, to_string(made->steps));
      std::vector<std::string> expected = {fmt::format("split y.q {}", std::min(columns, 16)),
                                           fmt::format("split y.p {}", std::min(rows, 4)),
                                           "pack w w_panels 1/16 0 1%16"};
      if (rows == 8 && columns == 48)  // All divides, so that nothing is left out.
        expected.insert(expected.end(), {"reorder y.r y.p/1 y.q/1", "unroll y.p/1", "vectorise y.q/1"});
      for (const std::string& step : expected)
        EXPECT_NE(to_string(made->steps).find(step), std::string::npos) << step << " in\n" << to_string(made->steps);
      strict += !adapted(to, donor, Division::kStrict, kUnit);
    }
  }
  EXPECT_GT(strict, 5);
  const loop::Program sum = test_support::program_of(product(8, 8, 16));
  EXPECT_FALSE(adapted(sum, donor, Division::kTails, kUnit)) << "another class";
}

// Two sums of one class, and what is no sum: all of them are scheduled.
TEST(Adapted, ServesEachNestOfTheClassAndSchedulesTheOthers) {
  const auto second = [](std::string text) {  // With loops of its own, into d.
    text.replace(text.find("store c["), 8, "store d[");
    for (const char* axis : {".p", ".q", ".r"}) {
      for (std::size_t at = text.find(axis); at != std::string::npos; at = text.find(axis, at + 3))
        text.insert(at + 2, "2");
    }
    return text.substr(text.find("for"));
  };
  const std::string one = fused("c", 8, 8, 32, "max(c_acc[], 0)");
  std::string text = one + "\n" + second(one);
  text.insert(text.find("for"), "buffer d[8, 32] float32 out\nbuffer z[32] float32 out\n");
  text += "\nfor z.d 32 serial { store z[z.d] = max(b[z.d], 0) }";
  const loop::Program both = test_support::program_of(text);
  const DonorSchedule donor{"split c.q 16; split c.p 4\nreorder c.p/0 c.q/0 c.p/1 c.q/1\npack w w_panels 1/16 0 1%16",
                            schedule::sum_nests(test_support::program_of(one))};
  const auto made = adapted(both, donor, Division::kTails, kUnit);
  ASSERT_TRUE(made) << made.error().message;
  const std::string steps = to_string(made->steps);
  for (const char* step : {"split c.q 16", "split c.q2 16", "vectorise z.d"})
    EXPECT_NE(steps.find(step), std::string::npos) << step << " in\n" << steps;
  test_support::expect_equal(made->program, both, 1, steps);
}

}  // namespace
