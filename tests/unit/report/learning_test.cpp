// The pages of learned costs and of studies: keys are read to people, every cell is seen.
#include "report/learning.h"

#include <gmock/gmock.h>

#include "report/study.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(const std::string& kernel) {
  LearningReport report{"Costs by trees on roofline", "onednn|oneDNN 2.6.3, one thread", "row", "", {}};
  report.folds.push_back({"1 of 5", 0.1, 0.9, 0.3, {{kernel, 29880, 265.26, 76.9, 74.7}}});
  return learning_html(report);
}

TEST(LearningPage, SaysWhatAKernelIsAndWhoMeasuredIt) {
  const std::string page = page_of("|conv2d[groups=2]|data(1, 8, 7, 7)weight(8, 4, 3, 3)+0|relu|data(1, 8, 7, 7)");
  EXPECT_THAT(page, HasSubstr("conv2d[groups=2] of data (1, 8, 7, 7), weight (8, 4, 3, 3), then relu<"));
  EXPECT_THAT(page, HasSubstr("Measured by onednn: oneDNN 2.6.3, one thread."));
  EXPECT_THAT(page, HasSubstr("29,880"));
  EXPECT_THAT(page_of("no <key>"), HasSubstr("no &lt;key&gt;"));
}

TEST(StudyPage, ShowsEveryCellAsAPointAndSaysWhyOneHasNone) {
  StudyReport report{"Small", "a machine", {"usual", "winograd-4"}};
  const auto cell = [](double us, double achieved) {
    StudyCell made{.state = "ok"};
    made.us = us;
    made.peak_bytes = us * 1e4;
    made.achieved = achieved;
    return made;
  };
  report.rows.push_back({"net", "dense", "", 0.0, {cell(700, 0.9), cell(600, 1)}});
  report.rows.push_back(
      {"net", "zeros", "", 0.5, {cell(500, 1.2), {.state = "unsupported", .why = "It fits no <layer>."}}});
  const std::string page = study_html(report);
  std::size_t points = 0;
  for (std::size_t at = page.find("<circle"); at != std::string::npos; at = page.find("<circle", at + 1)) ++points;
  // In each of two plots, for a desk and for a phone: three cells, and two compressions in the legend.
  EXPECT_EQ(points, 2U * 2U * (3U + 2U)) << "the front is steps without points";
  EXPECT_THAT(page, HasSubstr("net, zeros, winograd-4: unsupported. It fits no &lt;layer&gt;."));
  EXPECT_THAT(page, HasSubstr("<b>1.20x</b>"));
  EXPECT_THAT(page, Not(HasSubstr("<layer>")));
}

}  // namespace
}  // namespace rewright
