// Plots: values that an axis cannot stretch between, and legends that do not fit a line.
#include "report/plot.h"

#include <gmock/gmock.h>

#include <regex>
#include <string>
#include <vector>

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

struct Drawn {
  double x = 0, y = 0;
  std::string words;
};

/// The circles of a plot, and its texts that begin at a place.
std::vector<Drawn> found(const std::string& svg, const std::regex& what) {
  std::vector<Drawn> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), what), end; at != end; ++at)
    all.push_back({std::stod(at->str(1)), std::stod(at->str(2)), at->size() > 3 ? at->str(3) : ""});
  return all;
}

TEST(Plot, LabelsLieOnNoPointAndPointsThatLieTogetherShareOne) {
  Lines lines{"title", "x", "y", false, false, false, {}};
  Series points{"points", {}, false};
  for (int i = 0; i < 8; ++i) {  // Two heaps of four, one beside the other, and corners that stretch the axes.
    points.points.emplace_back(5 + 0.01 * (i % 4) + (i < 4 ? 0.0 : 0.35), 5);
    points.labels.push_back(std::to_string(i + 1));
  }
  points.points.insert(points.points.end(), {{0, 0}, {10, 10}});
  lines.series.push_back(points);
  const std::string svg = lines_svg(lines);
  const auto dots = found(svg, std::regex(R"re(<circle cx="([0-9.]+)" cy="([0-9.]+)")re"));
  const auto labels = found(svg, std::regex(R"re(<text class="rw-label" x="([0-9.]+)" y="([0-9.]+)">([0-9, ]+)<)re"));
  ASSERT_EQ(dots.size(), 10U);
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels[0].words, "1, 2, 3, 4");
  EXPECT_EQ(labels[1].words, "5, 6, 7, 8");
  for (const Drawn& label : labels)
    for (const Drawn& dot : dots)
      EXPECT_FALSE(dot.x > label.x && dot.x < label.x + 7 * static_cast<double>(label.words.size()) &&
                   dot.y > label.y - 10 && dot.y < label.y)
          << label.words << " lies on a point";
}

TEST(Plot, PointsAreDrawnBesideStepsToo) {
  const std::string svg = lines_svg(
      {"title", "x", "y", false, false, true, {{"cells", {{1, 2}, {2, 1}}, false}, {"front", {{1, 2}, {2, 1}}}}});
  EXPECT_EQ(found(svg, std::regex(R"re(<circle cx="([0-9.]+)" cy="([0-9.]+)")re")).size(), 3U)
      << "two, and the legend's";
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
