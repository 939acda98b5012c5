// Rules proved from the definitions alone: the library's, and none of those that are false.
#include <rewright/theorem/rule_theorem.h>
#include <rewright/verify/certificate.h>

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

TEST(RuleTheorem, HasACertificateWithoutAxioms) {
  std::ifstream file(REWRIGHT_SOURCE_DIR "/experiments/library/library.rules");
  CertificateChecker checker({}, test::operators());
  std::vector<std::pair<Rule, std::string>> certified;
  std::size_t proved = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("rule ")) continue;
    Rule rule = read_rule(line.substr(5));
    const RuleTheorem theorem = prove_from_definitions(rule);
    proved += theorem.proved;
    EXPECT_EQ(theorem.certificate.empty(), !theorem.proved || !theorem.uncertified.empty()) << line;
    if (theorem.certificate.empty()) continue;
    const Status taken = checker.check(rule, theorem.certificate);
    EXPECT_TRUE(taken) << line << "\n" << taken.error().message;
    certified.emplace_back(std::move(rule), theorem.certificate);
  }
  EXPECT_GE(static_cast<double>(certified.size()), 0.95 * static_cast<double>(proved));
  // Another rule's proof is none, but for rules that the same answers prove.
  std::size_t taken = 0;
  for (std::size_t i = 0; i + 1 < certified.size(); ++i)
    taken += checker.check(certified[i].first, certified[i + 1].second).has_value();
  EXPECT_LT(taken, certified.size() / 2);
}

TEST(RuleTheorem, ACertificateIsForTheWholeRule) {
  CertificateChecker checker({}, test::operators());
  const auto certificate = [](const std::string& text) { return prove_from_definitions(read_rule(text)).certificate; };
  const auto check = [&](const std::string& rule, const std::string& text) {
    return checker.check(read_rule(rule), text);
  };
  const std::string rule = "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y", good = certificate(rule);
  EXPECT_TRUE(check(rule, good));
  EXPECT_FALSE(check("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => y, x where x.0 = y.0", good));
  EXPECT_FALSE(check(rule, good + "r 0\n"));
  EXPECT_FALSE(check(rule, good.substr(0, good.find("output 1"))));
  EXPECT_FALSE(check(rule, "theorem 2" + good.substr(9)));
  EXPECT_FALSE(check(rule, "theorem 1\n"));
  EXPECT_FALSE(check(rule, "theorem 1\noutput 0\noutput 1"));
  EXPECT_EQ(checker.explain(read_rule(rule), good).error().code, ErrorCode::kUnsupported);
}

TEST(RuleTheorem, ATargetThatNeedsMoreIsNoTarget) {
  // Both sides are equal where both are defined; the target is not where columns differ.
  Rule rule = read_rule("(x:2, y:2) relu(x), relu(y) => split[sizes=[x.0, y.0]](concat(relu(x), relu(y)))");
  const RuleTheorem theorem = prove_from_definitions(rule);
  CertificateChecker checker({}, test::operators());
  EXPECT_TRUE(checker.check(rule, theorem.certificate));
  ASSERT_FALSE(rule.precondition.empty()) << "the reader asks for what the target needs";
  rule.precondition.clear();
  EXPECT_THAT(checker.check(rule, theorem.certificate).error().message, testing::HasSubstr("does not follow"));
  EXPECT_THAT(prove_from_definitions(rule).reason, testing::HasSubstr("does not follow"));
}

TEST(RuleTheorem, HoldsForEachOutput) {
  EXPECT_TRUE(is_theorem("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y"));
  EXPECT_FALSE(is_theorem("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => y, x where x.0 = y.0"));
  EXPECT_FALSE(is_theorem("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, x where x.0 = y.0"));
}

/// What each law of the checker would prove if it were a little wrong.
TEST(RuleTheorem, HasNoCertificateByALawThatIsNone) {
  for (const char* text : {
           "(x:1) sigmoid(neg(x)) => neg(sigmoid(x))",
           "(x:1, y:1) broadcast_max(exp(x), tanh(y)) => exp(broadcast_max(x, y))",
           "(x:1, y:1) broadcast_max(exp(x), tanh(y)) => tanh(broadcast_max(x, y))",
           "(x:1, y:1) broadcast_max(neg(x), neg(y)) => neg(broadcast_max(x, y))",
           "(x:1, y:1) relu(ewmul(x, y)) => ewmul(x, relu(y))",
           "(x:1, y:1) relu(ewmul(x, ewmul(x, y))) => ewmul(x, relu(ewmul(x, ewmul(x, y))))",
           "(x:2, y:2, z:2, w:2) matmul(concat[axis=1](x, y), concat(z, w)) => ewadd(matmul(x, z), matmul(x, z))",
           "(x:2) relu(reduce_sum[axes=[1]](concat[axis=1](x, x))) => relu(reduce_sum[axes=[1]](x))",
           "(x:2, y:2) relu(matmul(x, y)) => relu(matmul(x, x))",
           "(x:2) relu(reduce_sum[axes=[1]](slice[axes=[1], sizes=[2]](x))) => relu(reduce_sum[axes=[1]](x)) "
           "where x.1 >= 3",
           "(x:2) exp(reduce_sum[axes=[1]](slice[axes=[1], starts=[1], sizes=[2]](x))) => "
           "exp(reduce_sum[axes=[1]](slice[axes=[1], sizes=[2]](x))) where x.1 >= 3",
       }) {
    const auto rule = parse_rule(text, test::operators());
    ASSERT_TRUE(rule) << text << ": " << rule.error().message;
    const RuleTheorem theorem = prove_from_definitions(*rule);
    EXPECT_FALSE(theorem.proved) << text;
    EXPECT_EQ(theorem.certificate, "") << text;
  }
}

TEST(RuleTheorem, NeedsItsCondition) {
  EXPECT_TRUE(is_theorem("(x:2, y:2) relu(ewadd(x, y)) => relu(ewadd(y, x))"));
  EXPECT_FALSE(is_theorem("(x:2, y:2) ewadd(x, y) => ewadd(x, x)"));
  EXPECT_TRUE(is_theorem("(x:4, w:4) conv2d(x, w) => conv2d(x, enlarge[kernel=[3, 3]](w)) where 3 >= w.2, 3 >= w.3"));
}

/// The equation that is left is a condition: it is proposed where it holds at the example, and proved with it.
TEST(RuleTheorem, AssumesWhatHoldsAtItsExample) {
  Rule swapped = read_rule(
      "(b:2, c:2) split[sizes=[s0, s1]](concat(b, c)) => let v0, v1 = split[sizes=[s1, s0]](concat(c, b)) in v1, v0");
  swapped.example = {Shape{2, 3}, Shape{4, 3}};
  swapped.example_sizes = {{SizeVar::read("s0"), 2}, {SizeVar::read("s1"), 4}};
  EXPECT_FALSE(prove_from_definitions(swapped).proved);
  const RuleTheorem theorem = prove_from_definitions(swapped, {.assumes = true});
  ASSERT_TRUE(theorem.proved) << theorem.reason;
  ASSERT_EQ(theorem.conditions.size(), 1U);
  EXPECT_EQ(to_string(theorem.conditions[0]), "b.0 = s0");
  Rule under = swapped;
  under.precondition = theorem.conditions;
  EXPECT_TRUE(CertificateChecker({}, test::operators()).check(under, theorem.certificate));
  EXPECT_FALSE(CertificateChecker({}, test::operators()).check(swapped, theorem.certificate));
  swapped.example_sizes = {{SizeVar::read("s0"), 1}, {SizeVar::read("s1"), 5}};
  EXPECT_FALSE(prove_from_definitions(swapped, {.assumes = true}).proved) << "nothing of the kind holds there";
  Rule wrong = read_rule("(x:2, y:2) ewadd(x, y) => ewadd(x, x)");
  wrong.example = {Shape{2, 2}, Shape{2, 2}};
  EXPECT_FALSE(prove_from_definitions(wrong, {.assumes = true}).proved);
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
