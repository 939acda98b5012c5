// Mixing of bits and seeded choices: the same numbers everywhere, and all values reached.
#include <rewright/base/mixing.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace rewright {
namespace {

TEST(Random, IsSplitmix64) {
  Random random(1234567);
  const std::array<std::uint64_t, 5> expected = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                                 4593380528125082431U, 16408922859458223821U};
  for (const std::uint64_t bits : expected) EXPECT_EQ(random.bits(), bits);
  EXPECT_EQ(mix(std::uint64_t{1234567}), expected[0]) << "the first number of a seed is its mix";
}

TEST(Random, ReachesAllThatItMayAndNothingElse) {
  Random random(3);
  std::set<std::size_t> below;
  std::set<std::int64_t> between;
  for (int i = 0; i < 200; ++i) {
    below.insert(random.below(5));
    between.insert(random.between(-2, 2));
    const double fraction = random.fraction();
    EXPECT_TRUE(0 <= fraction && fraction < 1) << fraction;
  }
  EXPECT_THAT(below, ::testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(between, ::testing::ElementsAre(-2, -1, 0, 1, 2));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, ShufflesIntoEveryOrder) {
  Random random(5);
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 100; ++i) {
    std::vector<int> values = {1, 2, 3};
    random.shuffle(std::span(values));
    orders.insert(values);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Mix, OfTwoDependsOnTheirOrderAndEachBit) {
  EXPECT_NE(mix(1, 2), mix(2, 1));
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(mix(7, 11), mix(7, 11 ^ (std::uint64_t{1} << bit))) << bit;
    EXPECT_NE(mix(7, 11), mix(7 ^ (std::uint64_t{1} << bit), 11)) << bit;
  }
}

}  // namespace
}  // namespace rewright
