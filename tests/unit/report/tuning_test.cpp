// The page of a search for schedules says what was found, and nothing of it is markup.
#include "report/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace rewright;
using testing::HasSubstr;
using testing::Not;

TuningReport report() {
  TuningReport report{.title = "Schedules of <net>"};
  report.kernels.push_back({"conv2d_relu",
                            3,
                            400,
                            20,
                            10,
                            16,
                            {{0, 20}, {8, 12}, {16, 10}},
                            "split y.j 16\n",
                            "y.j 64\n  y[y.j] =\n",
                            {{"split y.j 16", "", "16 divides the extent", "", "", true, "1 to 2 loops",
                              "y.j 64\n  y[y.j] =\n", "y.j/0 4\n  y.j/1 16\n    y[y.j] =\n"}},
                            4096,
                            512});
  report.kernels.push_back({"copy", 1, 5, std::numeric_limits<double>::infinity(), 5, 0, {{0, 5}}, "", "y.i 8"});
  report.machine.peak_gflops = 100;
  report.machine.caches = {{1, 32768, 200}, {0, 0, 10}};
  report.curve = {{0, 65}, {16, 35}};
  report.one_shot_us = 65;
  report.best_us = 35;
  report.outcomes = "16 trials: 15 ok, 1 wrong";
  report.times = "3.0 s compiling";
  return report;
}

TEST(TuningPage, SaysWhatWasFound) {
  const std::string page = tuning_html(report());
  EXPECT_THAT(page, HasSubstr("<title>Schedules of &lt;net&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("1.86 times as fast. 16 trials: 15 ok, 1 wrong. 3.0 s compiling."));
  EXPECT_THAT(page,
              HasSubstr("<a href=\"#kernel-1\">conv2d_relu</a></td><td class=\"figure\" data-title=\"times\">3</td>"));
  EXPECT_THAT(page, HasSubstr("split y.j 16"));
  EXPECT_THAT(page, HasSubstr("none: unscheduled is fastest"));
  for (const char* part : {">inf", ">nan", "inf ", "nan "}) EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(TuningPage, StepsThroughTheSchedule) {
  const std::string page = tuning_html(report());
  EXPECT_THAT(page, HasSubstr("<div class=\"gone\">y.j 64</div>"));
  EXPECT_THAT(page, HasSubstr("<div class=\"new\">y.j/0 4</div>"));
  EXPECT_THAT(page, HasSubstr("16 divides the extent"));
  EXPECT_THAT(page, HasSubstr("1 to 2 loops"));
}

TEST(TuningPage, HasTheRooflineOfAMachineThatWasMeasured) {
  TuningReport measured = report();
  EXPECT_THAT(tuning_html(measured), HasSubstr("arithmetic, 100 x 10^9"));
  measured.machine.peak_gflops = 0;
  EXPECT_THAT(tuning_html(measured), Not(HasSubstr("id=\"roofline\"")));
}

TEST(LoopSteps, MarksLinesThatOneSideAloneHas) {
  const auto [before, after] = changed_lines_html("a\n b\n  c\n", "a\n x\n  c\n  d<\n");
  EXPECT_EQ(before, "<div>a</div><div class=\"gone\"> b</div><div>  c</div>");
  EXPECT_EQ(after, "<div>a</div><div class=\"new\"> x</div><div>  c</div><div class=\"new\">  d&lt;</div>");
  EXPECT_EQ(changed_lines_html("", "").first, "");
}

TEST(LoopSteps, SayWhatWasLeftOut) {
  const LoopStep step{"fuse c.i <c.j>", "by-hand", "c.j alone in c.i", "a store beside it", "", false, "2 loops",
                      "c.i 4",          "c.i 4"};
  const std::string page = schedule_html({"tiled.schedule", "1 step of a.loop", "fuse c.i c.j", {step}, "c.i 4"});
  for (const char* part : {"fuse c.i &lt;c.j&gt;", "by-hand", "a store beside it", "left out", "1 step of a.loop"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("2 loops"))) << "it changes nothing";
}

}  // namespace
