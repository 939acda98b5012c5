// Rules proved from the definitions alone: the library's, and none of those that are false.
#include <rewright/theorem/rule_theorem.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

Rule read_rule(const std::string& text) {
  auto rule = parse_rule(text, test::operators());
  if (!rule) fail(rule.error().message);
  return *std::move(rule);
}
bool is_theorem(const std::string& text) { return prove_from_definitions(read_rule(text)).proved; }

TEST(RuleTheorem, IsMostOfTheLibrary) {
  std::ifstream file(REWRIGHT_SOURCE_DIR "/experiments/library/library.rules");
  std::size_t rules = 0, proved = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("rule ")) continue;
    ++rules;
    proved += is_theorem(line.substr(5));
  }
  EXPECT_GE(rules, 250U);
  EXPECT_GE(static_cast<double>(proved), 0.97 * static_cast<double>(rules));
}

TEST(RuleTheorem, HoldsForEachOutput) {
  EXPECT_TRUE(is_theorem("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y"));
  EXPECT_FALSE(is_theorem("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => y, x where x.0 = y.0"));
  EXPECT_FALSE(is_theorem("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, x where x.0 = y.0"));
}

TEST(RuleTheorem, NeedsItsCondition) {
  EXPECT_TRUE(is_theorem("(x:2, y:2) relu(ewadd(x, y)) => relu(ewadd(y, x))"));
  EXPECT_FALSE(is_theorem("(x:2, y:2) ewadd(x, y) => ewadd(x, x)"));
  EXPECT_TRUE(is_theorem("(x:4, w:4) conv2d(x, w) => conv2d(x, enlarge[kernel=[3, 3]](w)) where 3 >= w.2, 3 >= w.3"));
}

TEST(RuleTheorem, SaysWhatIsLeft) {
  const RuleTheorem theorem =
      prove_from_definitions(read_rule("(x:1, y:1) relu(ewadd(x, y)) => ewadd(relu(x), relu(y))"));
  EXPECT_FALSE(theorem.proved);
  EXPECT_THAT(theorem.reason, testing::HasSubstr("max{0; x[i0]}"));
}

TEST(RuleTheorem, StopsWhenItsWorkIsSpent) {
  const Rule rule = read_rule("(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))");
  EXPECT_TRUE(prove_from_definitions(rule).proved);
  const RuleTheorem stopped = prove_from_definitions(rule, {.pivots = 3, .cases = 100});
  EXPECT_FALSE(stopped.proved);
  EXPECT_EQ(stopped.reason, "the work that one proof may take is spent");
}

}  // namespace
}  // namespace rewright
