// Sums as mathematics: what is a bound stands below the sign, what is none stays a condition, text is no markup.
#include "report/mathematics.h"

#include <gmock/gmock.h>

#include <string>

namespace {

using namespace rewright;
using testing::HasSubstr;
using testing::Not;

/// Without elements: what is read.
std::string read(std::string html) {
  std::string text;
  bool is_inside = false;
  for (const char c : html) {
    is_inside = is_inside || c == '<';
    if (!is_inside) text += c;
    is_inside = is_inside && c != '>';
  }
  for (const auto& [from, to] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&#x2211;", "SUM "}, {" ", ""}})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
      text.replace(at, std::string(from).size(), to), at += std::string(to).size();
  return text;
}

TEST(Mathematics, PutsTheRangesOfBoundVariablesBelowTheSign) {
  const std::string html = sum_html("sum(k0, k1) [k0 < y.0] [k1 < z.0] [0 <= k0] [0 <= k1] x[i0, k0] y[k0, k1]");
  EXPECT_EQ(read(html), "SUM0≤k0<y.00≤k1<z.0x[i0,k0]y[k0,k1]");
  EXPECT_THAT(html, HasSubstr("<munder>"));
  EXPECT_THAT(html, HasSubstr("<msub><mi>k</mi><mn>0</mn></msub>"));
}

TEST(Mathematics, KeepsConditionsThatAreNoRange) {
  EXPECT_EQ(read(sum_html("sum(k0) [k0 < y.0] [0 <= k0] [w.1 <= k0 + 1] x[k0]")), "SUM0≤k0<y.0w.1≤k0+1x[k0]");
  EXPECT_EQ(read(sum_html("[i0 < x.0] x[i0] + [x.0 <= i0] y[i0 - x.0]")), "[i0<x.0]x[i0]+[x.0≤i0]y[i0−x.0]");
}

TEST(Mathematics, WritesNumbersQuotientsPowersAndFunctions) {
  EXPECT_EQ(read(sum_html("-2 x[i0]^2 - 1/3 exp(y[] + 1)")), "−2x[i0]2−13exp(y+1)");
  EXPECT_THAT(sum_html("1/(x[i0] + y[i0])"), HasSubstr("<mfrac><mn>1</mn>"));
  EXPECT_THAT(sum_html("x[i0]^2"), HasSubstr("<msup>"));
  EXPECT_EQ(read(sum_html("max{x[i0]; 0 | k0 < 3}")), "max{x[i0],0|k0<3}");
  EXPECT_EQ(read(condition_html("i0 <= floor((w.2 + 1)/(2))")), "i0≤⌊w.2+12⌋");
  EXPECT_EQ(read(sum_html("0")), "0");
}

TEST(Mathematics, NamesTermsThatAreNotPutInYet) {
  EXPECT_EQ(
      read(sum_html("sum(k0) [k0 < y.0] [0 <= k0] transpose(x)[i0, k0] split.1[axis=0, sizes=[2, 2]](y)[k0, i1]")),
      "SUM0≤k0<y.0transpose(x)[i0,k0]split.1[axis=0,sizes=[2,2]](y)[k0,i1]");
}

TEST(Mathematics, IsNoMarkupOfWhatItIsGiven) {
  for (const char* text : {"<b>", "x[<script>]", "a & b", "sum(<i>) x[]", "1/(", "max{", "[", "((", "floor(", ""})
    for (const std::string& html : {sum_html(text), condition_html(text)})
      for (const char* part : {"<b>", "<script>", "<i>", "& "}) EXPECT_THAT(html, Not(HasSubstr(part))) << text;
}

}  // namespace
