// What doubles mean, as numbers of each format, in each algebra, and in text.
#include "tensor/real.h"

#include <rewright/tensor/scalar.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace rewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  double value;
  const char* text;   ///< As rules write it.
  const char* smt;    ///< As axioms write it.
  const char* exact;  ///< Over the rationals.
};

TEST(RealMeaning, IsOneNumberInEveryAlgebraAndText) {
  const std::vector<Case> cases = {
      {0, "0", "0.0", "0"},
      {2, "2", "2.0", "2"},
      {-1.5, "-1.5", "(- 1.5)", "-3/2"},
      {0.1, "0.1", "0.1", "1/10"},
      {1e-5, "1e-05", "0.00001", "1/100000"},
      {1.0 / 6, "1/6", "(/ 1 6)", "1/6"},
      {-2.0 / 3, "-2/3", "(- (/ 2 3))", "-2/3"},
      {1.0 / 990, "1/990", "(/ 1 990)", "1/990"},  // 0.00101010101010101, in 15 digits
      {355.0 / 113, "355/113", "(/ 355 113)", "355/113"},
      {0x1p-20, "9.5367431640625e-07", "0.00000095367431640625", "1/1048576"},
      {0.333333, "0.333333", "0.333333", "333333/1000000"},
      {0.16666667, "0.16666667", "0.16666667", "16666667/100000000"},
      {0.1666666716337204, "0.1666666716337204", "0.1666666716337204", "416666679084301/2500000000000000"},
      {1.4142135623730951, "1.4142135623730951", "1.4142135623730951", "14142135623730951/10000000000000000"},
      {16777217, "16777217", "16777217.0", "16777217"},
      {0x1p60, "1.152921504606847e+18", "1152921504606846976.0", "1152921504606846976"},
      {1e18, "1e+18", "1000000000000000000.0", "1000000000000000000"},
      {std::numeric_limits<float>::max(), "3.4028234663852886e+38", "340282346638528859811704183484516925440.0",
       "undefined"},
      {1e-300, "1e-300", nullptr, "undefined"},
  };
  for (const auto& [value, text, smt, exact] : cases) {
    EXPECT_EQ(real_text(value), text);
    if (smt != nullptr) {
      EXPECT_EQ(smt_real(value), smt);
    }
    EXPECT_EQ(to_string(Exact::from_double(value)), exact) << text;
    ASSERT_TRUE(parse_real(text)) << text;
    EXPECT_EQ(*parse_real(text), value) << text;
    const Exact fraction = Exact::from_double(value);
    if (!fraction.defined()) continue;
    EXPECT_EQ(Field::from_double(value),
              Field::from_integer(fraction.numerator()) / Field::from_integer(fraction.denominator()))
        << text;
    EXPECT_EQ(Term::from_double(value).to_string(), exact);
  }
}

TEST(RealMeaning, SumsOfFractionsAreThoseOfTheRationals) {
  const Field sixth = Field::from_double(1.0 / 6);
  EXPECT_EQ(sixth + sixth + sixth, Field::from_double(0.5));
  EXPECT_EQ(Field::from_double(0.1) * Field::from_integer(10), Field::from_integer(1));
  EXPECT_EQ(Field::from_double(1e23), Field::from_double(1e12) * Field::from_double(1e11)) << "no double is 1e23";
  EXPECT_EQ(Field::from_double(0x1p70), Field::from_double(0x1p35) * Field::from_double(0x1p35));
  EXPECT_EQ(Field::from_double(1e-300) * Field::from_double(1e300), Field::from_integer(1));
}

struct Float {
  float value;
  double meant;
};

TEST(RealMeaning, IsThatOfTheNumberFromWhichAFloatWasRounded) {
  for (const auto& [value, meant] : std::vector<Float>{
           {1.0F / 6, 1.0 / 6},
           {-2.0F / 3, -2.0 / 3},
           {0.1F, 0.1},
           {0.01F, 0.01},
           {1e-5F, 1e-5},
           {1e-12F, 1e-12},
           {0.333333F, 0.333333},
           {1e11F, 1e11},
           {16777216, 16777216},
           {123456792, 123456792},
           {0x1p60F, 0x1p60},
           {0x1p-20F, 0x1p-20},
           {1.0F / 3 + 0x1p-25F, 0.33333337},  // beside 1/3
           {1e-45F, 0x1p-149},                 // the least of all has one bit
           {1.67326319F, 1.6732632},
           {std::numeric_limits<float>::max(), std::numeric_limits<float>::max()},
           {std::numeric_limits<float>::infinity(), kInfinity},
       })
    EXPECT_EQ(meant_by(value), meant) << value;
  EXPECT_TRUE(std::isnan(meant_by(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::signbit(meant_by(-0.0F)));
}

TEST(RealMeaning, OfEveryFloatRoundsToThatFloatAndHasOneText) {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    const double meant = meant_by(value);
    ASSERT_EQ(static_cast<float>(meant), value);
    ASSERT_EQ(meant_by(static_cast<float>(meant)), meant);
    const auto again = parse_real(real_text(meant));
    ASSERT_TRUE(again && *again == meant) << real_text(meant);
  }
}

TEST(RealMeaning, OfAFractionSurvivesRoundingToFloat) {
  for (int p = 1; p <= 60; ++p) {
    for (int q = 1; q <= 1000; ++q) {
      const double exact = static_cast<double>(p) / q;
      const Exact meant = Exact::from_double(exact);
      ASSERT_EQ(meant, Exact::ratio(p, q)) << p << "/" << q;
      const Exact rounded = Exact::from_double(meant_by(static_cast<float>(exact)));
      if (rounded == meant) continue;
      // Only a decimal of six digits comes before it.
      ASSERT_TRUE(rounded.defined() && real_text(meant_by(static_cast<float>(exact))).find('/') == std::string::npos);
      ASSERT_EQ(static_cast<float>(exact), static_cast<float>(meant_by(static_cast<float>(exact))));
    }
  }
}

TEST(RealMeaning, OfARuleAndOfAProgramAreTheSameUpToAFloat) {
  EXPECT_TRUE(is_same_real(1.0 / 6, 1.0 / 6));
  EXPECT_TRUE(is_same_real(0.16666667, 1.0 / 6)) << "the model has the float32 nearest to both";
  EXPECT_TRUE(is_same_real(0.1666666716337204, 1.0 / 6));
  EXPECT_FALSE(is_same_real(0.166667, 1.0 / 6));
  EXPECT_FALSE(is_same_real(1.0 / 6, 0.1666666716337204)) << "a float64 model has another number";
  EXPECT_TRUE(is_same_real(kInfinity, kInfinity));
  EXPECT_FALSE(is_same_real(std::nan(""), std::nan("")));
}

TEST(RealMeaning, RefusesTextOfWhichNoDoubleHasTheMeaning) {
  const auto refused = [](const Result<double>& result) { return result ? "accepted" : result.error().message; };
  EXPECT_EQ(refused(real_of_decimal("0.16666666666666666")),
            "the decimal 0.16666666666666666 is too long for a parameter, which would be (/ 1 6); write that");
  EXPECT_EQ(refused(real_of_decimal("1.67326319217681884765625")),
            "the decimal 1.67326319217681884765625 is too long for a parameter, which would be 1.6732631921768188; "
            "write that");
  EXPECT_EQ(refused(real_of_fraction("1000003", "3000017")),
            "the fraction 1000003/3000017 is too long for a parameter, which would be 0.33333244444948146; write a "
            "simpler one");
  EXPECT_EQ(refused(real_of_fraction("1", "0")), "'1/0' is no fraction of two whole numbers below 2^63");
  EXPECT_EQ(refused(parse_real("1/6/2")), "'1/6/2' is no fraction of two whole numbers below 2^63");
  EXPECT_EQ(refused(parse_real("a")), "'a' is no number; expected one such as 0.5, 1e-5 or 1/6");
  for (const char* digits : {"0.1", "0.10", "0", "1152921504606846976", "0.00000095367431640625", "00.5",
                             "340282346638528859811704183484516925440.0", "100000000000000000000000"})
    EXPECT_TRUE(real_of_decimal(digits)) << digits;
}

}  // namespace
}  // namespace rewright
