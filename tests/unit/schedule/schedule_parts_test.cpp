// Parts of several schedules in one: which steps come from where, in which order, and that nothing is lost or doubled.
#include "schedule/schedule_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/apply.h"
#include "schedule/neighbourhood.h"
#include "schedule/schedule_json.h"
#include "support/equal_programs.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using testing::HasSubstr;

constexpr const char* kProduct =
    "buffer a[24, 24] float32 in\nbuffer w[24, 64] float32 weight\nbuffer c[24, 64] float32 out\n"
    "for c.i 24 serial { for c.j 64 serial { store c[c.i, c.j] = 0\n"
    "for c.k 24 serial { store c[c.i, c.j] += a[c.i, c.k] * w[c.k, c.j] } } }";
constexpr const char* kTiles =
    "knob t in {4, 6}\nsplit c.j 32; split c.i $t\nreorder c.j/0 c.i/0 c.i/1 c.j/1; distribute c.j/1; distribute "
    "c.i/1\n"
    "reorder c.k c.i/1 c.j/1; parallelise c.j/0\n";
constexpr const char* kLanes = "split c.k 2; unroll c.i/1; vectorise c.j/1";
constexpr const char* kLayout = "pack w panels 1/32 0 1%32; split c.j 16";

Space space(const std::string& text) {
  auto read = parse_space(text);
  EXPECT_TRUE(read) << read.error().message;
  return *std::move(read);
}

TEST(Composed, TakesPartsAndSaysWhereTheyAreFrom) {
  const std::vector<Source> sources = {{"a.schedule", space(kTiles), {Part::kTiles, Part::kThreads}},
                                       {"b.schedule", space(kLanes), {Part::kLanes}},
                                       {"my.store", space(kLayout), {Part::kLayout}}};
  const auto all = composed(sources);
  ASSERT_TRUE(all) << all.error().message;
  const std::string expected =
      "knob t in {4, 6}\nfrom a.schedule\nsplit c.j 32\nsplit c.i $t\nreorder c.j/0 c.i/0 c.i/1 c.j/1\n"
      "distribute c.j/1\ndistribute c.i/1\nreorder c.k c.i/1 c.j/1\nfrom b.schedule\nunroll c.i/1\nvectorise c.j/1\n"
      "from my.store\npack w panels 1/32 0 1%32\nfrom a.schedule\nparallelise c.j/0\n";
  EXPECT_EQ(to_string(*all), expected);
  const loop::Program plain = test_support::program_of(kProduct);
  for (const std::int64_t choice : {0, 1}) {
    const auto steps = schedule_of(*all, {choice});
    ASSERT_TRUE(steps) << steps.error().message;
    const auto made = apply(plain, *steps);
    ASSERT_TRUE(made) << made.error().message;
    test_support::expect_equal(made->program, plain, 1, expected);
  }
  // Where parts are from survives text, JSON, the choice of knobs, and being made a space once more.
  EXPECT_EQ(to_string(space(expected)), expected);
  const auto json = read_space(to_json(*all).dump());
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(to_string(*json), expected);
  const auto chosen = resolved(*all, {1});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_THAT(to_string(*chosen), HasSubstr("from a.schedule\nsplit c.j 32\nsplit c.i 6"));
  const auto near = neighbourhood(to_string(*chosen));
  ASSERT_TRUE(near) << near.error().message;
  EXPECT_THAT(to_string(*near), HasSubstr("from my.store\npack w panels 1/$t1 0 1%$t1"));
}

TEST(Composed, KeepsTheOrderOfOneOriginAndPutsOthersWhereTheyCanStand) {
  const char* whole = "inline t; split c.i 4; compute-at u c.i/0 u_part; cache-write c c.i/1 tile; vectorise tile.d0";
  const auto same = composed(std::vector<Source>{{"a", space(whole), {Part::kStages, Part::kTiles, Part::kLanes}}});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(to_string(*same),
            "from a\ninline t\nsplit c.i 4\ncompute-at u c.i/0 u_part\ncache-write c c.i/1 tile\n"
            "vectorise tile.d0\n");
  const auto two =
      composed(std::vector<Source>{{"a", space(whole), {Part::kStages}}, {"b", space("split c.i 8"), {Part::kTiles}}});
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(to_string(*two),
            "from a\ninline t\nfrom b\nsplit c.i 8\nfrom a\ncompute-at u c.i/0 u_part\n"
            "cache-write c c.i/1 tile\n");
}

TEST(Composed, KnobsComeWithTheStepsThatNameThem) {
  const char* text =
      "knob a in {2, 4}; knob b in {1, 3}; knob lanes in {8}\nwhere a <= 4; where b < 9\nwith b=3\n"
      "split c.i $a; split c.j $b; split c.k $lanes";
  const auto tiles = composed(std::vector<Source>{{"x", space(text), {Part::kTiles}}});
  ASSERT_TRUE(tiles) << tiles.error().message;
  EXPECT_EQ(tiles->knobs.size(), 3);
  EXPECT_EQ(tiles->constraints.size(), 2);
  EXPECT_EQ(tiles->given[1], 1);
  const auto clash = composed(std::vector<Source>{{"x", space(text), {Part::kTiles}},
                                                  {"y", space("knob a 1..2; unroll c.i/$a"), {Part::kLanes}}});
  ASSERT_FALSE(clash);
  EXPECT_EQ(clash.error().message, "y has a knob a, and so has a part before it: call one of them otherwise");
  const auto torn = composed(std::vector<Source>{
      {"z", space("knob a 1..4; knob b 1..4; where a < b; split c.i $a; pack w p 0/$b 0%$b"), {Part::kTiles}}});
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().message, "z says 'where a < b', of which a part alone cannot be taken");
  const auto empty = composed(std::vector<Source>{{"z", space("split c.i 2"), {Part::kLanes}}});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "z says nothing about lanes: take that from elsewhere, or leave it out");
}

}  // namespace
