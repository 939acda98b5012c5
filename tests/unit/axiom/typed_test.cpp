// What a prover must check before it uses an axiom: the conditions that the side it found does not already imply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ints = std::vector<std::int64_t>;

std::vector<std::string> text_of(const std::optional<std::vector<Constraint>>& constraints) {
  if (!constraints) return {"impossible"};
  std::vector<std::string> texts;
  for (const Constraint& constraint : *constraints) texts.push_back(to_string(constraint));
  return texts;
}

ParamBinding conv(Ints strides, std::int64_t padding = 0, std::int64_t groups = 1) {
  return {{"s", strides},    {"p", padding}, {"q", Ints{0, 0, 0, 0}},
          {"d", Ints{1, 1}}, {"g", groups},  {"a", std::int64_t{0}}};
}

TypedAxiom typed(const std::string& name, const ParamBinding& fixed = {}, std::size_t ranks = 0) {
  const Axiom& axiom = test::axiom(name);
  auto result = specialise(axiom, axiom.ranks.at(ranks), fixed);
  if (!result) fail(result.error().message);
  return *std::move(result);
}

TEST(TypedAxiom, NeedsNothingWhereOneSideImpliesTheOther) {
  const TypedAxiom associates = typed("matmul-associates");
  EXPECT_THAT(text_of(associates.left_to_right), IsEmpty());
  EXPECT_THAT(text_of(associates.right_to_left), IsEmpty());
}

TEST(TypedAxiom, AsksWhereTheCutsOfTwoConcatsMeet) {
  const TypedAxiom inner = typed("matmul-of-inner-concats");
  EXPECT_THAT(text_of(inner.left_to_right), testing::Contains("x.1 = z.0"));
  EXPECT_THAT(text_of(inner.right_to_left), IsEmpty());
}

TEST(TypedAxiom, AsksForEqualImagesOnlyWhereStridesHideThem) {
  EXPECT_THAT(text_of(typed("conv-of-batch-concat", conv({1, 1})).right_to_left), IsEmpty());
  EXPECT_THAT(text_of(typed("conv-of-batch-concat", conv({2, 1})).right_to_left), ElementsAre("x.2 = y.2"));
}

TEST(TypedAxiom, AsksForEqualKernelsUnderSamePadding) {
  EXPECT_THAT(text_of(typed("conv-over-weight-ewadd", conv({1, 1})).right_to_left),
              ElementsAre("y.2 = z.2", "y.3 = z.3"));
}

TEST(TypedAxiom, RefusesParametersAtWhichItsConditionFails) {
  const Axiom& exchange = test::axiom("concat-exchange");
  const auto result = specialise(exchange, exchange.ranks[0], {{"a", std::int64_t{1}}, {"b", std::int64_t{1}}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("its condition a != b fails"));
}

TEST(TypedAxiom, IsNotUsedFromASideThatDoesNotBindTheOther) {
  const TypedAxiom first = typed("split-first-of-concat", {{"a", std::int64_t{0}}});
  EXPECT_THAT(text_of(first.left_to_right), IsEmpty());
  EXPECT_THAT(text_of(first.right_to_left), ElementsAre("impossible"));
}

TEST(TypedAxiom, NamesTheParameterThatHasNoValue) {
  const Axiom& first = test::axiom("split-first-of-concat");
  EXPECT_THAT(specialise(first, first.ranks[0], {}).error().message, testing::HasSubstr("variable a has no value"));
}

/// What is said of one axiom of these variables at rank 2.
std::string unfit(const std::string& variables, const std::string& equation, const std::string& condition,
                  const ParamBinding& fixed) {
  const std::string text =
      "(declare-sort Tensor 0) (declare-sort Sizes 0) (declare-fun dim (Int Tensor) Int)"
      "(declare-fun relu (Tensor) Tensor) (declare-fun concat (Int Tensor Tensor) Tensor)"
      "(declare-fun transpose (Sizes Tensor) Tensor) (declare-fun sizes2 (Int Int) Sizes)"
      "(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)"
      "(assert (! (forall (" +
      variables + ") " + equation + ") :named n :source \"s\" :ranks \"x 2\"" +
      (condition.empty() ? "" : " :condition \"" + condition + "\"") + "))";
  AxiomSet set;
  if (auto status = set.add(text, "f.smt2", test::operators()); !status) return status.error().message;
  const Axiom& axiom = set.axioms()[0];
  const auto result = specialise(axiom, axiom.ranks[0], fixed);
  return result ? "no error" : result.error().message;
}

TEST(TypedAxiom, SaysWhyItMeansNothingAtTheseRanksAndParameters) {
  const std::string same = "(= (relu x) (relu x))";
  EXPECT_EQ(unfit("(x Tensor)", same, "x.1 >= 1", {}), "no error");
  EXPECT_EQ(unfit("(x Tensor)", same, "x.2 >= 1", {}), "axiom n: there is no size x.2 at these ranks");
  EXPECT_EQ(unfit("(x Tensor) (a Int)", same, "x.a >= 1", {}), "axiom n: the axis a has no value");
  EXPECT_EQ(unfit("(x Tensor) (a Int)", same, "x.a >= 1", {{"a", std::int64_t{-1}}}),
            "axiom n: the axis -1 is negative");
  EXPECT_EQ(unfit("(x Tensor)", "(= (concat (dim 0 x) x x) x)", "", {}),
            "axiom n: the parameter axis must be a number, and is x.0");
  EXPECT_EQ(unfit("(x Tensor) (a Int)", "(= (concat a x x) x)", "", {{"a", Ints{1, 2}}}),
            "axiom n: the variable a is no number here");
  EXPECT_EQ(unfit("(x Tensor) (s Sizes)", "(= (transpose s x) x)", "", {{"s", std::int64_t{1}}}),
            "axiom n: the value of s does not fit the parameter perm");
  EXPECT_EQ(unfit("(x Tensor) (s Sizes)", "(= (transpose s x) x)", "s.2 = 0", {{"s", Ints{1, 0}}}),
            "axiom n: the list s has no element 2");
  EXPECT_EQ(unfit("(x Tensor) (s Sizes) (p Int)", "(= (conv2d s p s s 1 p x x) x)", "",
                  {{"s", Ints{1, 1}}, {"p", std::int64_t{3}}}),
            "axiom n: the parameter padding has no choice 3");
}

}  // namespace
}  // namespace rewright
