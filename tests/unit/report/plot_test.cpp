// Plots: values that an axis cannot stretch between, and legends that do not fit a line.
#include "report/plot.h"

#include <gmock/gmock.h>

#include <string>

namespace rewright::plot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string drawn(const std::vector<std::pair<double, double>>& points, bool logarithmic = false) {
  return lines_svg({"title", "x", "y", logarithmic, logarithmic, false, {{"series", points}}});
}

TEST(Plot, OfNothingIsNothing) {
  EXPECT_EQ(drawn({}), "");
  EXPECT_EQ(drawn({{0, 1}, {-1, 1}}, true), "") << "no value is above 0";
}

TEST(Plot, OfOneValueHasItInTheMiddle) {
  for (const bool logarithmic : {false, true}) {
    const std::string one = drawn({{5, 7}}, logarithmic);
    EXPECT_THAT(one, AllOf(HasSubstr("<path d=\"M"), Not(HasSubstr("nan")), Not(HasSubstr("inf")))) << logarithmic;
    // With two around it, each axis has the same middle.
    const std::string three =
        logarithmic ? drawn({{2.5, 3.5}, {5, 7}, {10, 14}}, true) : drawn({{4.5, 6.3}, {5, 7}, {5.5, 7.7}});
    const std::size_t at = one.find("<circle"), end = one.find("/>", at);
    ASSERT_NE(at, std::string::npos);
    EXPECT_THAT(three, HasSubstr(one.substr(at, end - at)));
  }
  EXPECT_THAT(drawn({{0, 0}}), AllOf(HasSubstr("<path"), Not(HasSubstr("nan"))));
}

TEST(Plot, ALegendThatDoesNotFitALineGoesOnInTheNext) {
  Lines lines{"title", "x", "y", false, false, false, {}};
  std::string before;
  std::size_t height = 0;
  for (int i = 0; i < 12; ++i) {
    lines.series.push_back({std::string("a series of a long name ").append(std::to_string(i)), {{0, 0}, {1, i}}});
    const std::string svg = lines_svg(lines);
    const std::size_t box = svg.find("viewBox=\"0 0 ");
    ASSERT_NE(box, std::string::npos);
    const std::size_t space = svg.find(' ', box + 13);
    height = std::stoul(svg.substr(space + 1));
    if (i == 0) before = std::to_string(height);
    EXPECT_THAT(svg, HasSubstr(std::string("a series of a long name ").append(std::to_string(i)).append("<")));
  }
  EXPECT_GE(height, std::stoul(before) + 18);
}

}  // namespace
}  // namespace rewright::plot
