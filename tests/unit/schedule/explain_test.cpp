// A report for each step, and the loops of a program drawn.
#include "schedule/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;
using namespace rewright::schedule;
using testing::HasSubstr;

loop::Program sum_program() {
  return *loop::parse_program(
      "buffer x[4, 10] float32 in\nbuffer y[4] float32 out\nfor y.i 4 serial { store y[y.i] = 0\n"
      "for y.k 10 serial { if y.k < 9 { store y[y.i] += x[y.i, y.k] } } }");
}

std::vector<StepReport> reports_of(std::string_view schedule) {
  return explain(sum_program(), *parse_schedule(schedule));
}

TEST(Explain, SaysWhatEachStepNeedsAndChanges) {
  const auto reports = reports_of("split y.k 4 tail=cut; unroll y.z or skip; unroll y.k or retarget");
  ASSERT_EQ(reports.size(), 3);
  EXPECT_EQ(reports[0].before, (ProgramSize{2, 2, 2}));
  EXPECT_EQ(reports[0].after, (ProgramSize{4, 3, 2}));
  EXPECT_TRUE(reports[0].is_applied);
  EXPECT_FALSE(reports[1].is_applied);
  EXPECT_THAT(reports[1].conflict->found, HasSubstr("y.k/0, y.k/1, y.k/2"));
  EXPECT_TRUE(reports[2].is_applied);
  EXPECT_EQ(reports[2].instead, "unroll y.k/1");
  EXPECT_EQ(reports[2].needs, "at most 64 iterations");
}

TEST(Explain, StopsAtTheStepThatEndsTheSchedule) {
  const auto reports = reports_of("split y.k 5; parallelise y.k/0; parallelise y.i");
  ASSERT_EQ(reports.size(), 2);
  EXPECT_FALSE(reports[1].is_applied);
  EXPECT_EQ(reports[1].conflict->kind, Conflict::Kind::kIllegal);
  EXPECT_EQ(reports[1].after, reports[1].before);
}

TEST(Explain, EveryTransformSaysWhatItNeeds) {
  const auto steps = parse_schedule(
      "split c.j 7 tail=pad\nsplit c.j 7 tail=overlap\nfuse c.i c.j\nreorder c.j c.i\ndistribute c.j\nserial c.i\n"
      "parallelise c.i\nvectorise c.j\nunroll c.i\ncache b c.k t\ncache-write c c.i t\ncompute-at t c.i u\n"
      "rfactor c.k part\ninline t\npack w wp 0");
  ASSERT_TRUE(steps) << steps.error().message;
  for (const Step& step : *steps) EXPECT_FALSE(needs(step.transform).empty()) << to_string(step.transform);
}

TEST(LoopDrawing, IsALineAStatement) {
  EXPECT_EQ(loop_drawing(sum_program()),
            "y.i 4 serial\n  y[y.i] =\n  y.k 10 serial\n    if y.k < 9\n      y[y.i] +=\n");
}

}  // namespace
