// Knobs, their choices and constraints, and what a space is once they are chosen.
#include "schedule/schedule_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "schedule/schedule_json.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using testing::HasSubstr;

constexpr const char* kTiles =
    "knob ti in {4, 8, 16}\nknob tj 8..32 step 8\nknob order in orders(c.i, c.j, c.k)\n"
    "where ti*tj <= 128 and ti <= tj\n"
    "split c.i $ti tail=cut\nsplit c.j $tj tail=cut or skip\nreorder $order\npack w wp 1/$tj 0 1%$tj pad\n";

Space space_of(std::string_view text) {
  auto space = read_space(text);
  EXPECT_TRUE(space) << space.error().message;
  return space ? *std::move(space) : Space();
}

TEST(Space, HasTheChoicesThatItsConstraintsAllow) {
  const Space space = space_of(kTiles);
  std::set<std::pair<std::string, std::string>> tiles;
  for (const Choices& choices : all_choices(space, 1000))
    tiles.emplace(choice_text(space.knobs[0], choices[0]), choice_text(space.knobs[1], choices[1]));
  const std::set<std::pair<std::string, std::string>> expected = {{"4", "8"},  {"4", "16"}, {"4", "24"},
                                                                  {"4", "32"}, {"8", "8"},  {"8", "16"}};
  EXPECT_EQ(tiles, expected);
  EXPECT_EQ(all_choices(space, 1000).size(), 6 * 6);
  EXPECT_EQ(all_choices(space, 5).size(), 5);
}

TEST(Space, OrdersAreAllPermutations) {
  const Space space = space_of(kTiles);
  std::set<std::string> orders;
  for (std::int64_t choice = 0; choice < choice_count(space.knobs[2]); ++choice)
    orders.insert(choice_text(space.knobs[2], choice));
  EXPECT_EQ(orders.size(), 6);
  EXPECT_EQ(choice_text(space.knobs[2], 0), "c.i c.j c.k");
  EXPECT_EQ(choice_text(space.knobs[2], 5), "c.k c.j c.i");
}

TEST(Space, DrawsAreAllowedAndReachEveryChoice) {
  const Space space = space_of(kTiles);
  std::set<Choices> drawn;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto choices = random_choices(space, seed);
    ASSERT_TRUE(choices);
    EXPECT_TRUE(is_allowed(space, *choices));
    drawn.insert(*choices);
  }
  EXPECT_EQ(drawn.size(), 36);
  EXPECT_FALSE(random_choices(space_of("knob a in {1, 2}\nwhere a < 1\nsplit c.i $a"), 0));
}

TEST(Space, ChoicesGiveAPlainSchedule) {
  Space space = space_of(kTiles);
  for (const char* choice : {"ti=8", "tj=16", "order=c.k,c.i,c.j"}) ASSERT_TRUE(give(space, choice));
  const auto choices = given_choices(space);
  ASSERT_TRUE(choices) << choices.error().message;
  EXPECT_EQ(to_string(*schedule_of(space, *choices)),
            "split c.i 8 tail=cut\nsplit c.j 16 tail=cut or skip\nreorder c.k c.i c.j\npack w wp 1/16 0 1%16 pad\n");
  EXPECT_EQ(all_choices(space, 100).size(), 1) << "what is given stays";
  ASSERT_TRUE(give(space, "tj=32"));
  EXPECT_THAT(given_choices(space).error().message, HasSubstr("do not meet: ti*tj <= 128"));
}

TEST(Space, IsReadBackAsItWasWritten) {
  Space space = space_of(kTiles);
  EXPECT_EQ(to_string(space_of(to_string(space))), to_string(space));
  EXPECT_EQ(space_of(to_string(space)), space);
  ASSERT_TRUE(give(space, "order=c.j,c.i,c.k"));
  ASSERT_TRUE(give(space, "ti=4"));
  EXPECT_EQ(space_of(to_string(space)), space);
  EXPECT_EQ(space_of(to_json(space).dump()), space);
  EXPECT_EQ(to_json(space)["steps"][1].dump(),
            R"({"transform":"split","loop":"c.j","factor":"$tj","tail":"cut","or":"skip"})");
  EXPECT_EQ(to_json(space)["with"].dump(), R"({"ti":4,"order":"c.j,c.i,c.k"})");
}

TEST(Space, EveryTransformHasAJsonForm) {
  const std::string text =
      "split c.j 16 tail=cut\nfuse c.i/0 c.j/0\nreorder c.k c.i/1 c.j/1\ndistribute c.j/1\nserial c.i\n"
      "parallelise c.i&c.j/0 or retarget\nvectorise c.j/1\nunroll c.i/1\ncache b c.k panel\ncompute-at t c.i u\n"
      "cache-write c c.i tile\nrfactor c.k/1 part or skip\ninline t\npack w wp 1/16 0 1%16 pad\npack t u 1 0\n";
  EXPECT_EQ(to_string(space_of(to_json(space_of(text)).dump())), text);
}

TEST(Space, ThatCannotBeReadSaysWhereAndWhatIsNear) {
  for (const auto& [text, why] : std::vector<std::pair<const char*, const char*>>{
           {"knob tile in {4}\nsplit c.i $tiel", "2: there is no knob tiel; did you mean tile?"},
           {"split c.i $x", "1: there is no knob x, and none at all"},
           {"knob a in {4}\nknob a in {5}", "there are two knobs a"},
           {"knob a in {4,}", "expected a number"},
           {"knob a 4..2", "a range has 1 to 100000 numbers"},
           {"knob a in {4}\nwhere b < 4", "there is no knob b"},
           {"knob o in orders(c.i, c.k)\nwhere o < 4", "there is no knob o"},
           {"knob a in {0}\nsplit c.i $a", "2: expected a factor of at least 1, found '0'"},
           {"knob a in {4}\nwith a=5", "2: knob a has no choice '5'; it is declared as: knob a in {4}"},
           {"{\"steps\": [{\"transform\": \"split\", \"lop\": 3}]}", "step 1: split has no 'loop'"},
           {"{\"steps\": [{\"transform\": \"inline\", \"buffer\": \"t\", \"bufer\": 3}]}",
            "no member 'bufer'; did you mean"},
           {"{\"steps\": [{\"transform\": \"melt\"}]}", "found 'melt'"},
           {"{\"step\": []}", "a schedule has no member 'step'"},
           {"{", "it begins as JSON, and is none"}}) {
    const auto read = read_space(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(why));
  }
  EXPECT_THAT(given_choices(space_of(kTiles)).error().message, HasSubstr("knob ti has no value; give one: with ti=4"));
}

}  // namespace
