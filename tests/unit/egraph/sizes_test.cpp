// Sizes of the e-graph: one number for equal sizes, and never more implied than holds.
#include "egraph/sizes.h"

#include <rewright/tensor/linear.h>

#include <gtest/gtest.h>

#include "support/random.h"

namespace rewright::egraph {
namespace {

using Kind = Constraint::Kind;
using rewright::testing::Random;

const std::vector<SizeVar> kNames = {SizeVar::axis("x", 0), SizeVar::axis("x", 1), SizeVar::axis("y", 0),
                                     SizeVar::axis("y", 1), SizeVar::axis("z", 0)};

TEST(Sizes, MakeEqualFormsOnce) {
  Sizes sizes;
  const DimId x = sizes.variable(0), y = sizes.variable(1);
  EXPECT_EQ(sizes.combine(1, x, 1, y), sizes.combine(1, y, 1, x));
  EXPECT_EQ(sizes.combine(1, x, -1, x), sizes.constant(0));
  EXPECT_EQ(sizes.multiply(sizes.combine(1, x, 1, y), x),
            sizes.combine(1, sizes.multiply(x, x), 1, sizes.multiply(y, x)));
  EXPECT_NE(x, y);
}
TEST(Sizes, LetWhatIsDivisibleLeaveTheQuotient) {
  Sizes sizes;
  const DimId x = sizes.variable(0);
  const DimId odd = sizes.combine(2, x, 1, sizes.constant(1));
  EXPECT_EQ(sizes.floor_divide(odd, 2), x);
  EXPECT_EQ(sizes.floor_divide(sizes.constant(-3), 2), sizes.constant(-2));
}
TEST(Sizes, AreEqualByTransitivity) {
  Sizes sizes;
  const DimId a = sizes.variable(0), b = sizes.variable(1), c = sizes.variable(2), d = sizes.variable(3);
  const std::vector<Condition> known = {{Kind::kEqual, a, b}, {Kind::kEqual, c, d}, {Kind::kEqual, b, c}};
  sizes.assume(known);
  EXPECT_EQ(sizes.normalise(a), sizes.normalise(d));
  EXPECT_EQ(sizes.normalise(sizes.floor_divide(sizes.combine(1, a, 1, sizes.constant(1)), 2)),
            sizes.normalise(sizes.floor_divide(sizes.combine(1, d, 1, sizes.constant(1)), 2)));
}
TEST(Sizes, PutALaterSolutionIntoEarlierOnes) {
  Sizes sizes;
  const DimId a = sizes.variable(0), b = sizes.variable(1), c = sizes.variable(2), one = sizes.constant(1);
  const DimId after_a = sizes.combine(1, a, 1, one), after_b = sizes.combine(1, b, 1, one);
  const std::vector<Condition> known = {{Kind::kEqual, c, after_b}, {Kind::kEqual, after_b, after_a}};
  sizes.assume(known);
  EXPECT_EQ(sizes.normalise(c), sizes.normalise(after_a)) << "c = b + 1, and then b = a";
}
TEST(Sizes, DivideAnEquationByItsCommonFactor) {
  Sizes sizes;
  const DimId a = sizes.variable(0), b = sizes.variable(1);
  const std::vector<Condition> known = {{Kind::kEqual, sizes.combine(1, a, 1, a), sizes.combine(1, b, 1, b)}};
  sizes.assume(known);
  EXPECT_TRUE(sizes.implies({Kind::kEqual, a, b}));
}
TEST(Sizes, BoundAProductOnlyWhereNoFactorMayBeNegative) {
  Sizes sizes;
  const DimId a = sizes.variable(0), b = sizes.variable(1), zero = sizes.constant(0);
  const auto product_from = [&](std::int64_t more) {
    return sizes.multiply(sizes.floor_divide(sizes.combine(1, a, 1, sizes.constant(more)), 2), b);
  };
  EXPECT_TRUE(sizes.implies({Kind::kAtLeast, product_from(5), zero}));
  EXPECT_FALSE(sizes.implies({Kind::kAtLeast, product_from(-5), zero}));
  EXPECT_FALSE(sizes.implies({Kind::kAtLeast, product_from(-5), sizes.constant(-1000)})) << "b may be large";
}
// A quotient of at least 2, to the 62nd power and beyond: 2^62 is the greatest power of two that is a size.
TEST(Sizes, BoundNothingByWhatOverflows) {
  Sizes sizes;
  sizes.set_tensor_sizes(3);
  const DimId sum = sizes.combine(1, sizes.combine(1, sizes.variable(0), 1, sizes.variable(1)), 1, sizes.variable(2));
  const DimId two = sizes.floor_divide(sizes.combine(3, sum, 0, 0), 4);
  const auto power = [&](int exponent) {
    DimId product = two;
    for (int i = 1; i < exponent; ++i) product = sizes.multiply(product, two);
    return product;
  };
  const auto at_least = [&](DimId size, std::int64_t bound) {
    return sizes.implies({Kind::kAtLeast, size, sizes.constant(bound)});
  };
  const std::int64_t great = std::int64_t{1} << 62;
  EXPECT_TRUE(at_least(two, 2));
  EXPECT_FALSE(at_least(two, 3));
  EXPECT_TRUE(at_least(power(62), great));
  EXPECT_FALSE(at_least(power(62), great + 1));
  EXPECT_FALSE(at_least(power(64), 1)) << "2^64";
  EXPECT_TRUE(at_least(power(64), 0));
  EXPECT_FALSE(at_least(sizes.combine(great, two, 0, 0), 1)) << "2^62 * 2";
  EXPECT_FALSE(at_least(sizes.combine(1, power(62), great, sizes.variable(0)), 0)) << "2^62 + 2^62";
}
TEST(Sizes, SayWhatCannotBe) {
  Sizes sizes;
  const DimId a = sizes.variable(0);
  const std::vector<Condition> known = {{Kind::kEqual, a, sizes.combine(1, a, 1, sizes.constant(1))}};
  sizes.assume(known);
  EXPECT_TRUE(sizes.contradictory());
}

// --- against <rewright/tensor/linear.h> and against numbers
// ---------------------------------------------------------------

DimId random_size(Sizes& sizes, Random& random, int depth) {
  const auto part = [&] { return random_size(sizes, random, depth - 1); };
  switch (depth == 0 ? random.between(0, 1) : random.between(0, 5)) {
    case 0: return sizes.constant(random.between(0, 4));
    case 1: return sizes.variable(static_cast<std::uint32_t>(random.between(0, 4)));
    case 2: return sizes.floor_divide(part(), random.between(2, 3));
    case 3: return sizes.multiply(part(), part());
    default: return sizes.combine(random.between(1, 2), part(), random.between(-1, 1), part());
  }
}
Condition random_condition(Sizes& sizes, Random& random) {
  const auto kind = static_cast<Kind>(random.between(0, 3));
  const DimId right = random_size(sizes, random, 2);
  if (kind == Kind::kDivides) return {kind, sizes.constant(random.between(1, 4)), right};
  return {kind, random_size(sizes, random, 2), right};
}
Constraint constraint_of(const Sizes& sizes, const Condition& condition) {
  return {condition.kind, sizes.symbolic(condition.left, kNames), sizes.symbolic(condition.right, kNames)};
}
DimBinding numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::pair<SizeVar, std::int64_t>> bound;
  for (std::size_t i = 0; i < kNames.size(); ++i) bound.emplace_back(kNames[i], values[i]);
  return [bound](SizeVar name) -> std::optional<std::int64_t> {
    for (const auto& [known, value] : bound) {
      if (known == name) return value;
    }
    return std::nullopt;
  };
}

TEST(SizesProperty, WhatIsImpliedHoldsForAllNumbersThatMeetTheAssumptions) {
  Random random(20260731);
  int implied = 0, tried = 0;
  for (int round = 0; round < 3000; ++round) {
    Sizes sizes;
    std::vector<Condition> known;
    for (int i = 0; i < 3; ++i) known.push_back(random_condition(sizes, random));
    Condition wanted = random_condition(sizes, random);
    if (random.one_in(3)) wanted = known[0];
    std::vector<Constraint> facts;
    for (const Condition& condition : known) facts.push_back(constraint_of(sizes, condition));
    const Constraint claim = constraint_of(sizes, wanted);
    const DimId some = random_size(sizes, random, 2);
    const SymbolicDim before = sizes.symbolic(some, kNames);
    sizes.assume(known);
    const SymbolicDim after = sizes.symbolic(sizes.normalise(some), kNames);
    const bool implies = sizes.implies(wanted);
    implied += implies;
    for (int sample = 0; sample < 200; ++sample) {
      std::vector<std::int64_t> values;
      for (std::size_t i = 0; i < kNames.size(); ++i) values.push_back(random.between(0, 3));
      const DimBinding binding = numbers(values);
      bool meets = true;
      for (const Constraint& fact : facts) meets = meets && fact.holds(binding).value_or(false);
      if (!meets) continue;
      ++tried;
      EXPECT_FALSE(sizes.contradictory());
      EXPECT_EQ(before.evaluate(binding), after.evaluate(binding)) << to_string(before) << " -> " << to_string(after);
      if (implies) {
        EXPECT_EQ(claim.holds(binding), true) << to_string(claim);
      }
    }
  }
  EXPECT_GT(implied, 500);
  EXPECT_GT(tried, 5000);
}

TEST(SizesProperty, SayWhatLinearReasoningOnSymbolsSays) {
  Random random(7);
  int differ = 0, implied = 0;
  for (int round = 0; round < 2000; ++round) {
    Sizes sizes;
    std::vector<Condition> known;
    for (int i = 0; i < 3; ++i) known.push_back(random_condition(sizes, random));
    const Condition wanted = random.one_in(2) ? known[1] : random_condition(sizes, random);
    std::vector<Constraint> facts;
    for (const Condition& condition : known) facts.push_back(constraint_of(sizes, condition));
    const bool theirs = SizeSystem(facts).implies(constraint_of(sizes, wanted));
    sizes.assume(known);
    const bool ours = sizes.implies(wanted);
    implied += ours;
    differ += ours != theirs;
  }
  EXPECT_GT(implied, 800);
  // Both solve equations for another variable now and then, and neither is complete.
  EXPECT_LT(differ, 30);
}

}  // namespace
}  // namespace rewright::egraph
