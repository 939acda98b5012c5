// Operators that compare, at whole numbers: over the field they choose as over the rationals, whatever their
// parameters.
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/tensor.h>

#include <gtest/gtest.h>

#include "support/operators.h"

namespace rewright {
namespace {

/// What the operator makes of -9 to 9.
template <class Scalar>
std::vector<Scalar> values_of(std::string_view text) {
  Tensor<Scalar> in(Shape{19});
  for (std::size_t i = 0; i < 19; ++i) in.values()[i] = Scalar::from_integer(static_cast<std::int64_t>(i) - 9);
  const Tensor<Scalar> out = testing::run<Scalar>(text, {in})[0];
  return {out.values().begin(), out.values().end()};
}

void expect_one_order(std::string_view text) {
  const auto exact = values_of<Exact>(text);
  const auto field = values_of<Field>(text);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ(field[i], Field::from_integer(exact[i].numerator()) / Field::from_integer(exact[i].denominator()))
        << text << " at " << static_cast<int>(i) - 9;
}

TEST(OrderOverTheField, IsThatOfTheRationalsAtAnySlope) {
  for (const char* text :
       {"leaky_relu[alpha=0.01]", "leaky_relu[alpha=-1/7]", "hard_sigmoid", "hard_sigmoid[alpha=-0.2]",
        "hard_sigmoid[alpha=1/6]", "hard_sigmoid[alpha=1/6, beta=0]", "clip[low=-1/3, high=2.25]"})
    expect_one_order(text);
}

TEST(OrderOverTheField, OfHardSigmoidGivesItsEndsExactly) {
  const auto exact = values_of<Exact>("hard_sigmoid[alpha=1/6]");
  EXPECT_EQ(exact[6], Exact()) << "at -3";
  EXPECT_EQ(exact[7], Exact::ratio(1, 6)) << "at -2";
  EXPECT_EQ(exact[12], Exact::from_integer(1)) << "at 3";
}

}  // namespace
}  // namespace rewright
