// Simplified indices have the values that they had.
#include <rewright/base/mixing.h>
#include <rewright/loop/linear_index.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;
using namespace rewright::loop;

const Axis i{0, "i"}, j{1, "j"};

std::optional<IndexRange> ranges(const Axis& axis) { return IndexRange{0, axis == i ? 5 : 3}; }
std::string simple(const IndexExpr& index) { return to_string(simplified(index, ranges), {}); }

TEST(LinearIndex, FlatIndicesAreTakenApart) {
  const IndexExpr flat = IndexExpr(i) * 4 + j;
  EXPECT_EQ(simple(floor_divide(flat, 4)), "i");
  EXPECT_EQ(simple(modulo(flat, 4)), "j");
  EXPECT_EQ(simple(floor_divide(flat, 8)), "floor((i*4 + j) / 8)");
  EXPECT_EQ(simple(floor_divide(floor_divide(IndexExpr(i), 2), 2)), "floor(i / 4)");
  EXPECT_EQ(simple(floor_divide(IndexExpr(i), 3) * 3 + modulo(IndexExpr(i), 3) + 1), "i + 1");
  EXPECT_EQ(simple(IndexExpr(i) - i + 2), "2");
  EXPECT_EQ(simple(floor_divide(IndexExpr(i) * 6 + 3, 4)), "floor((i*3 + 1) / 2)");
}

IndexExpr random_index(Random& random, int depth) {
  if (depth == 0) return random.one_in(2) ? IndexExpr(random.one_in(2) ? i : j) : IndexExpr(random.between(-3, 3));
  const IndexExpr a = random_index(random, depth - 1), b = random_index(random, depth - 1);
  switch (random.below(5)) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * random.between(-4, 4);
    case 3: return floor_divide(a, random.between(1, 6));
    default: return modulo(a, random.between(1, 6));
  }
}

std::int64_t value(const IndexExpr& index, std::int64_t a, std::int64_t b) {
  const Substitution numbers{.axis = [&](const Axis& axis) { return std::optional(IndexExpr(axis == i ? a : b)); }};
  return *substitute(index, numbers).number();
}

TEST(LinearIndex, KeepsEveryValue) {
  Random random(11);
  for (int trial = 0; trial < 3000 && !HasFailure(); ++trial) {
    const IndexExpr index = random_index(random, 4), other = simplified(index, ranges);
    for (std::int64_t a = 0; a <= 5; ++a) {
      for (std::int64_t b = 0; b <= 3; ++b) {
        EXPECT_EQ(value(index, a, b), value(other, a, b)) << to_string(index, {}) << " and " << to_string(other, {});
      }
    }
  }
}

}  // namespace
