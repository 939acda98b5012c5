// A schedule is one of those near it, and what its layouts say of tiles stays true.
#include "schedule/neighbourhood.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;
using namespace rewright::schedule;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kByHand =
    "split y.j 32 tail=pad\nsplit y.i 6\nsplit y.k 6\nreorder y.j/0 y.i/0 y.k/0 y.i/1 y.k/1 y.j/1\n"
    "vectorise y.j/1\npack w panels 1/32 0 1%32 pad\n";

TEST(Neighbourhood, HoldsTheScheduleItself) {
  const auto space = neighbourhood(kByHand);
  ASSERT_TRUE(space) << space.error().message;
  ASSERT_EQ(space->knobs.size(), 3);
  EXPECT_THAT(space->knobs[0].numbers, ElementsAre(16, 24, 32, 48, 64));
  EXPECT_THAT(space->knobs[1].numbers, ElementsAre(4, 5, 6, 7, 8));
  EXPECT_THAT(space->knobs[2].numbers, ElementsAre(4, 5, 6, 7, 8));
  const auto same = schedule_of(*space, {2, 2, 2}), expected = parse_schedule(kByHand);
  ASSERT_TRUE(same) << same.error().message;
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(*same, *expected);
}

TEST(Neighbourhood, PanelsAreAsWideAsTheTile) {
  const auto space = neighbourhood(kByHand);
  ASSERT_TRUE(space) << space.error().message;
  const auto wider = schedule_of(*space, {4, 2, 0});
  ASSERT_TRUE(wider) << wider.error().message;
  const std::string text = to_string(*wider);
  EXPECT_THAT(text, HasSubstr("split y.j 64 tail=pad"));
  EXPECT_THAT(text, HasSubstr("pack w panels 1/64 0 1%64 pad"));
  EXPECT_THAT(text, HasSubstr("split y.i 6\nsplit y.k 4"));
}

TEST(Neighbourhood, OfWhatHasNoneIsASentence) {
  const auto refusal = [](const char* text) {
    const auto space = neighbourhood(text);
    return space ? "" : space.error().message;
  };
  EXPECT_EQ(refusal("vectorise y.j\n"), "it splits no loop: there is nothing near it");
  EXPECT_EQ(refusal("knob t in {2, 4}\nsplit y.j $t\n"), "it has knobs already: it is a space itself");
  EXPECT_THAT(refusal("splot y.j 2\n"), HasSubstr("splot"));
}

}  // namespace
