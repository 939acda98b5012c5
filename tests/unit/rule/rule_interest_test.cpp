// The order in which rules are shown.
#include "rule/rule_interest.h"

#include <gmock/gmock.h>

#include "support/operators.h"

namespace rewright::testing {
namespace {

using ::testing::ElementsAre;

RuleInterest interest(std::string_view text, double gain_us = 0) {
  const auto rule = parse_rule(text, loaded());
  if (!rule) fail(rule.error().message);
  return interest_of(*rule, gain_us);
}

/// The rules as they are shown; "GAIN: RULE" has gained so much.
std::vector<std::string> shown(const std::vector<std::string>& texts) {
  std::vector<RuleInterest> interests;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find("us ");
    const bool has_gain = colon != std::string::npos;
    interests.push_back(interest(has_gain ? text.substr(colon + 3) : text, has_gain ? std::stod(text) : 0));
  }
  std::vector<std::string> sorted;
  for (const std::size_t position : interesting_first(interests)) sorted.push_back(texts[position]);
  return sorted;
}

TEST(RuleInterest, NumbersAloneAndReorderingsAndSourcesWithoutOperatorsAreDegenerate) {
  for (const char* text :
       {"(x:0, y:0) ewmul(x, y) => smul(x, y)", "(x:0) relu(relu(x)) => relu(x)", "(x:2) x => transpose(transpose(x))",
        "(x:2, y:2, z:2) ewadd(x, ewadd(y, z)) => ewadd(ewadd(x, y), z)", "(x:2, y:2) ewmul(x, y) => ewmul(y, x)"})
    EXPECT_TRUE(interest(text).is_degenerate) << text;
  for (const char* text : {"(x:2) relu(relu(x)) => relu(x)", "(x:2, s:0) relu(relu(smul(x, s))) => relu(smul(x, s))",
                           "(x:2, y:2) ewadd(transpose(x), transpose(y)) => transpose(ewadd(x, y))",
                           "(x:2, y:2, z:2) matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)"})
    EXPECT_FALSE(interest(text).is_degenerate) << text;
}

TEST(RuleInterest, DegenerateRulesComeLastWhateverTheyGained) {
  const std::string numbers = "90us (x:0) relu(relu(x)) => relu(x)", tensors = "(x:2) relu(x) => relu(relu(x))";
  EXPECT_THAT(shown({numbers, tensors}), ElementsAre(tensors, numbers));
}

TEST(RuleInterest, WhatGainedMostInModelsComesFirst) {
  const std::string little = "1us (x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))",
                    much = "20us (x:2) relu(relu(x)) => relu(x)", loss = "-5us (x:2) transpose(transpose(x)) => x";
  EXPECT_THAT(shown({loss, little, much}), ElementsAre(much, little, loss));
  EXPECT_EQ(interest("(x:2) relu(relu(x)) => relu(x)", -5).gain_us, 0) << "a loss is no gain, and no less";
}

TEST(RuleInterest, OfRulesThatGainedNothingThoseThatSaveMostComeFirst) {
  const std::string products = "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))",
                    sums = "(x:2) relu(relu(x)) => relu(x)",
                    back = "(x:2, y:2, z:2) matmul(x, ewadd(y, z)) => ewadd(matmul(x, y), matmul(x, z))";
  EXPECT_THAT(shown({back, sums, products}), ElementsAre(products, sums, back));
  EXPECT_GT(interest(products).saved, 0);
  EXPECT_EQ(interest(back).saved, -interest(products).saved);
}

TEST(RuleInterest, SpecialCasesComeBehindWhatTheyAreCasesOf) {
  const std::string general = "(x:2, y:2) relu(concat(x, y)) => concat(relu(x), relu(y))",
                    special = "(x:2) relu(concat(x, x)) => let v = relu(x) in concat(v, v)";
  EXPECT_THAT(shown({special, general}), ElementsAre(general, special));
  EXPECT_FALSE(interest("(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))").is_special);
}

TEST(RuleInterest, EqualRulesStayAsTheyLie) {
  const std::string one = "(x:2, y:2) ewadd(x, relu(relu(y))) => ewadd(x, relu(y))",
                    other = "(x:2, y:2) ewmul(x, relu(relu(y))) => ewmul(x, relu(y))";
  EXPECT_THAT(shown({one, other}), ElementsAre(one, other));
  EXPECT_THAT(shown({other, one}), ElementsAre(other, one));
}

}  // namespace
}  // namespace rewright::testing
