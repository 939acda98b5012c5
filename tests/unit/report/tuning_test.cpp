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
  report.kernels.push_back(
      {"conv2d_relu", 3, 400, 20, 10, 16, {{0, 20}, {8, 12}, {16, 10}}, "split y.j 16\n", "y.j 64", "y.j/0 4"});
  report.kernels.push_back({"copy", 1, 5, std::numeric_limits<double>::infinity(), 5, 0, {{0, 5}}, "", "y.i 8", ""});
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
  EXPECT_THAT(page, HasSubstr("<td>conv2d_relu</td><td class=\"figure\">3</td>"));
  EXPECT_THAT(page, HasSubstr("split y.j 16"));
  EXPECT_THAT(page, HasSubstr("none: unscheduled is fastest"));
  EXPECT_THAT(page, Not(HasSubstr("inf")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

}  // namespace
