// Features of a product, counted by hand, before and after its schedule.
#include "tune/features.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/apply.h"
#include "support/equal_programs.h"

namespace {

using namespace rewright;
using namespace rewright::tune;

constexpr const char* kProduct =
    "buffer a[64, 32] float32 in\nbuffer w[32, 48] float32 weight\nbuffer c[64, 48] float32 out\n"
    "for c.i 64 serial { for c.j 48 serial { store c[c.i, c.j] = 0\n"
    "for c.k 32 serial { store c[c.i, c.j] += a[c.i, c.k] * w[c.k, c.j] } } }";

Machine machine() {
  Machine machine;
  machine.caches = {{1, 32 << 10, 100}, {2, 1 << 20, 50}, {0, 0, 10}};
  return machine;
}

/// Of the statement that updates, after a schedule.
class Updates {
 public:
  explicit Updates(std::string_view schedule, const Machine& on = machine()) {
    const auto program = loop::parse_program(kProduct);
    EXPECT_TRUE(program);
    const auto steps = schedule::parse_schedule(schedule);
    EXPECT_TRUE(steps) << steps.error().message;
    const auto made = schedule::apply(*program, *steps);
    EXPECT_TRUE(made) << made.error().message;
    const Features features = features_of(made->program, on, 16);
    EXPECT_EQ(features.stages.size(), 2U);
    row_ = features.stages.back();
  }
  [[nodiscard]] double operator[](const std::string& column) const {
    const auto columns = feature_columns();
    EXPECT_EQ(columns.size(), row_.size());
    return row_[static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin())];
  }

 private:
  std::vector<double> row_;
};

TEST(Features, OfAPlainProduct) {
  const Updates row("");
  EXPECT_EQ(row["runs"], 64 * 48 * 32);
  EXPECT_EQ(row["operations"], 2 * 64 * 48 * 32);
  EXPECT_EQ(row["multiply_adds"], 64 * 48 * 32);
  EXPECT_EQ(row["vectors"], 64 * 48 * 32) << "scalars";
  EXPECT_EQ(row["steps"], 64 + 64 * 48 + 64 * 48 * 32);
  EXPECT_EQ(row["code"], 1);
  EXPECT_EQ(row["touched_bytes"], 4 * (64 * 32 + 32 * 48 + 64 * 48));
}

TEST(Features, OfATileInVectors) {
  const Updates row(
      "split c.i 4; reorder c.j c.i/0 c.i/1; reorder c.i/0 c.i/1 c.j; distribute c.j; distribute c.i/1\n"
      "reorder c.k c.i/1 c.j; unroll c.i/1; vectorise c.j");
  EXPECT_EQ(row["runs"], 64 * 48 * 32);
  EXPECT_EQ(row["vectors"], 64 * 3 * 32);
  EXPECT_EQ(row["lanes_used"], 1);
  EXPECT_EQ(row["sums_in_tile"], 4 * 3);
  EXPECT_EQ(row["code"], 4 * 3);
  EXPECT_EQ(row["steps"], 16 + 16 * 32);
  EXPECT_EQ(row["broadcasts"], 64 * 3 * 32) << "of a";
  EXPECT_EQ(row["gathers"], 0);
  const double vectors = 64 * 3 * 32;
  EXPECT_EQ(row["register_loads"], vectors / 3 + vectors / 4) << "a for three vectors, w for four rows";
  EXPECT_EQ(row["stores"], vectors / 32) << "once the sum is done";
}

TEST(Features, ASumOutsideOfItsTileIsStoredEachTime) {
  const Updates row("split c.j 16; distribute c.j/1; distribute c.j/0; reorder c.k c.j/0 c.j/1; vectorise c.j/1");
  EXPECT_EQ(row["stores"], 64 * 3 * 32) << "only what is written out stays in registers";
}

TEST(Features, WhatFitsALevelComesInOnce) {
  const Updates row("");
  EXPECT_EQ(row["traffic_1"], row["touched_bytes"]);
  EXPECT_EQ(row["traffic_2"], row["touched_bytes"]);
  EXPECT_EQ(row["traffic_3"], 0) << "there is no third level";
}

TEST(Features, WhatTheLastStepLeftDoesNotComeInAgain) {
  Machine small = machine();
  small.caches[0].bytes = 1024;  // Three lines, but no column of w.
  const Updates row("", small);
  const double products = 64 * 48, line = 64;
  const double a = products * (1 + 31.0 / 16) * line, w = products * 32 * line, c = products * line;
  EXPECT_EQ(row["traffic_1"], a + w + c);
}

TEST(Features, StoresWhoseLanesLieApartAreGathers) {
  const auto program = loop::parse_program(
      "buffer x[32, 64] float32 in\nbuffer y[64, 32] float32 out\n"
      "for y.i 32 serial { for y.j 64 vector { store y[y.j, y.i] = x[y.i, y.j] } }");
  ASSERT_TRUE(program) << program.error().message;
  const auto columns = feature_columns();
  const auto gathers = std::ranges::find(columns, "gathers") - columns.begin();
  EXPECT_EQ(features_of(*program, machine(), 16).stages.at(0)[static_cast<std::size_t>(gathers)], 32 * 4);
}

TEST(Features, LanesInGroupsAreShuffledWhereAVectorHasSeveral) {
  const auto shuffles = [](int group) {
    const auto program =
        loop::parse_program(fmt::format("buffer x[64] float32 in\nbuffer y[64] float32 out\n"
                                        "for y.i 64 vector {{ store y[y.i] = x[floor(y.i / {0})*{0}] }}",
                                        group));
    if (!program) return -1.0;
    const auto columns = feature_columns();
    const auto at = std::ranges::find(columns, "shuffles") - columns.begin();
    return features_of(*program, machine(), 16).stages.at(0)[static_cast<std::size_t>(at)];
  };
  EXPECT_EQ(shuffles(4), 4);
  EXPECT_EQ(shuffles(8), 4);
  EXPECT_EQ(shuffles(16), 0) << "one place for all lanes of a vector";
  EXPECT_EQ(shuffles(32), 0);
}

TEST(Features, WhatIsDoneBeforeTheFirstRunCostsNothing) {
  const loop::Program plain = test_support::program_of(
      "buffer x[8, 24] float32 in\nbuffer w[24, 32] float32 weight\nbuffer y[8, 32] float32 out\n"
      "for y.i 8 serial { for y.j 32 serial { store y[y.i, y.j] = 0\n"
      "for y.k 24 serial { store y[y.i, y.j] += x[y.i, y.k] * w[y.k, y.j] } } }");
  const auto packed = schedule::apply(plain, *schedule::parse_schedule("pack w panels 1/8 0 1%8"));
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_GT(packed->program.body.size(), plain.body.size());
  EXPECT_EQ(features_of(packed->program, {}, 8).stages.size(), features_of(plain, {}, 8).stages.size());
}

}  // namespace
