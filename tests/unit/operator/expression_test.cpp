// Expressions: folding, equality of shared parts, affine forms, intervals, substitution, text.
#include <rewright/base/mixing.h>
#include <rewright/operator/expression.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;

const Axis i{0, "i"}, j{1, "j"};
const SymbolicDim n = SymbolicDim::variable(SizeVar::read("n"));
const BufferNames kNames = [](BufferId id) { return std::string(1, static_cast<char>('a' + id.value)); };

std::string text(const IndexExpr& index) { return to_string(index, kNames); }
std::string text(const ValueExpr& value) { return to_string(value, kNames); }

TEST(Expression, FoldsSizesAndNeutralElements) {
  EXPECT_EQ(IndexExpr(n) + IndexExpr(n) - 2, IndexExpr(n * SymbolicDim(2) - SymbolicDim(2)));
  EXPECT_EQ(IndexExpr(i) * 1 + 0, IndexExpr(i));
  EXPECT_EQ(IndexExpr(i) * 0, IndexExpr(0));
  EXPECT_EQ(floor_divide(IndexExpr(-7), 2), IndexExpr(-4));
  EXPECT_EQ(modulo(IndexExpr(-7), 2), IndexExpr(1));
  EXPECT_EQ(floor_divide(IndexExpr(7), 0).kind(), IndexExpr::Kind::kFloor);
}

TEST(Expression, IsEqualByStructureHoweverMuchIsShared) {
  ValueExpr a = ValueExpr::load({0}, {i}), b = ValueExpr::load({0}, {i});
  for (int step = 0; step < 200; ++step) {
    a = a + a;
    b = b + b;
  }
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a == b + b);
  EXPECT_EQ(substitute(a, {.axis = [](const Axis&) { return std::optional(IndexExpr(j)); }}).hash(),
            substitute(b, {.axis = [](const Axis&) { return std::optional(IndexExpr(j)); }}).hash());
  EXPECT_FALSE(ValueExpr::from_double(0.0) == ValueExpr::from_double(-0.0));
  EXPECT_EQ(ValueExpr::from_double(3), ValueExpr::from_integer(3));
}

TEST(Expression, PrintsWithAsFewParenthesesAsThePrecedenceAllows) {
  EXPECT_EQ(text((IndexExpr(i) + 1) * IndexExpr(j) - (IndexExpr(i) - 2)), "(i + 1)*j - (i - 2)");
  EXPECT_EQ(text(floor_divide(IndexExpr(i) * 2 + n, 3) % 4), "floor((i*2 + n) / 3) mod 4");
  const auto x = ValueExpr::load({0}, {i, IndexExpr(j) + 1}), y = ValueExpr::load({1}, {});
  EXPECT_EQ(text((x + y) * (x - (y - x)) / ValueExpr::from_double(0.5)),
            "(a[i, j + 1] + b[]) * (a[i, j + 1] - (b[] - a[i, j + 1])) / 0.5");
  EXPECT_EQ(text(either(both(less(x, y), negation(equal(x, y))), less_equal(y, x))),
            "a[i, j + 1] < b[] and not a[i, j + 1] = b[] or b[] <= a[i, j + 1]");
  EXPECT_EQ(text(ValueExpr::reduce(ValueExpr::Reduction::kMaximum, {{j, n}}, within(0, IndexExpr(i) + j, 4), y)),
            "greatest(j < n, where 0 <= i + j and i + j < 4, b[])");
}

TEST(Expression, AffineFormsCollectTerms) {
  const auto form = affine((IndexExpr(i) * 3 + IndexExpr(j) * n - i - 5) * 2);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->coefficient(0), SymbolicDim(4));
  EXPECT_EQ(form->coefficient(1), n * SymbolicDim(2));
  EXPECT_EQ(form->constant, SymbolicDim(-10));
  EXPECT_EQ(affine(floor_divide(IndexExpr(i) * 4 + 8, 4))->index(), IndexExpr(i) + 2);
  EXPECT_FALSE(affine(IndexExpr(i) * j));
  EXPECT_FALSE(affine(floor_divide(IndexExpr(i), 2)));
  EXPECT_FALSE(affine(IndexExpr::data({0}, {i}, 0, 4)));
}

/// A random index over i in 0 .. 4 and j in 0 .. 2.
IndexExpr random_index(Random& random, int depth) {
  if (depth == 0) return random.one_in(2) ? IndexExpr(random.one_in(2) ? i : j) : IndexExpr(random.between(-3, 3));
  const IndexExpr a = random_index(random, depth - 1), b = random_index(random, depth - 1);
  switch (random.below(5)) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * random.between(-3, 3);
    case 3: return floor_divide(a, random.between(1, 4));
    default: return modulo(a, random.between(1, 4));
  }
}

std::int64_t at(const IndexExpr& index, std::int64_t i_value, std::int64_t j_value) {
  return *substitute(
              index,
              {.axis = [&](const Axis& axis) { return std::optional(IndexExpr(axis == i ? i_value : j_value)); }})
              .number();
}

TEST(Expression, RangesHoldEveryValue) {
  Random random(3);
  for (int trial = 0; trial < 2000 && !HasFailure(); ++trial) {
    const IndexExpr index = random_index(random, 3);
    const auto range = range_of(index, [](const Axis& axis) { return IndexRange{0, axis == i ? 4 : 2}; });
    ASSERT_TRUE(range) << text(index);
    for (std::int64_t a = 0; a <= 4; ++a) {
      for (std::int64_t b = 0; b <= 2; ++b) {
        EXPECT_GE(at(index, a, b), range->low) << text(index);
        EXPECT_LE(at(index, a, b), range->high) << text(index);
      }
    }
  }
}

}  // namespace
