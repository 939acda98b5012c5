// Sizes: the linear normal form, quotients, cuts, and conditions on them.
#include <rewright/tensor/dim.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace rewright {
namespace {

SymbolicDim dim(std::string_view text) {
  auto parsed = SymbolicDim::parse(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : SymbolicDim(-1);
}
std::string error_of(std::string_view text) {
  const auto parsed = SymbolicDim::parse(text);
  return parsed ? "no error" : parsed.error().message;
}

TEST(SymbolicDim, EqualLinearFormsAreEqual) {
  EXPECT_EQ(dim("x.0 + y.1 - x.0"), dim("y.1"));
  EXPECT_EQ(dim("2*(x.0 + 3)"), dim("6 + x.0 + x.0"));
  EXPECT_EQ(dim("(x.0 + 1)*(x.0 - 1)"), dim("x.0*x.0 - 1"));
  EXPECT_EQ(dim("a*(b*c)"), dim("(c*a)*b"));
  EXPECT_NE(dim("x.0"), dim("x.1"));
  EXPECT_EQ(dim("0*x.0 + 4").constant(), 4);
}

TEST(SymbolicDim, WhatIsDivisibleLeavesAQuotient) {
  EXPECT_EQ(dim("floor((2*x.0 + 5) / 2)"), dim("x.0 + 2 + floor(1 / 2)"));
  EXPECT_EQ(dim("floor((x.0 + 4) / 2)"), dim("2 + floor(x.0 / 2)"));
  EXPECT_EQ(dim("floor((0 - 1) / 2)").constant(), -1);
  EXPECT_EQ(floor_divide(dim("x.0"), 1), dim("x.0"));
}

TEST(SymbolicDim, TextParsesBackToTheSameExpression) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    SymbolicDim expression(static_cast<std::int64_t>(random() % 9) - 4);
    for (int term = 0; term < 4; ++term) {
      const SymbolicDim variable = SymbolicDim::variable(SizeVar::axis("x", static_cast<std::int64_t>(random() % 3)));
      const SymbolicDim factor(static_cast<std::int64_t>(random() % 7) - 3);
      switch (random() % 4) {
        case 0: expression = expression + factor * variable; break;
        case 1: expression = expression - variable * expression; break;
        case 2: expression = floor_divide(expression, static_cast<std::int64_t>(random() % 4) + 1); break;
        default: expression = join(expression, variable);
      }
    }
    const std::string text = to_string(expression);
    ASSERT_EQ(dim(text), expression) << text;
    EXPECT_EQ(to_string(dim(text)), text);
  }
}

TEST(SymbolicDim, ArithmeticIsThatOfTheNumbers) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t x = static_cast<std::int64_t>(random() % 20) + 1;
    const std::int64_t y = static_cast<std::int64_t>(random() % 20) + 1;
    const DimBinding binding = [&](SizeVar variable) { return std::optional(variable.text() == "x" ? x : y); };
    const std::int64_t a = static_cast<std::int64_t>(random() % 9) - 4;
    const std::int64_t k = static_cast<std::int64_t>(random() % 4) + 1;
    const SymbolicDim sx = SymbolicDim::variable(SizeVar::read("x")), sy = SymbolicDim::variable(SizeVar::read("y"));
    EXPECT_EQ((sx * sy + SymbolicDim(a) * sx - sy).evaluate(binding), x * y + a * x - y);
    EXPECT_EQ(floor_divide(SymbolicDim(a) * sx + sy - SymbolicDim(3), k).evaluate(binding),
              floor_divide(a * x + y - 3, k));
    EXPECT_EQ((sx + sy)
                  .substitute([&](SizeVar variable) -> std::optional<SymbolicDim> {
                    if (variable.text() == "x") return sy * sy;
                    return std::nullopt;
                  })
                  .evaluate(binding),
              y * y + y);
  }
}

TEST(SymbolicDim, EvaluationSaysWhenItCannot) {
  const DimBinding none = [](SizeVar) { return std::nullopt; };
  EXPECT_EQ(dim("x.0 + 1").evaluate(none), std::nullopt);
  const DimBinding huge = [](SizeVar) { return std::optional<std::int64_t>(std::int64_t{1} << 62); };
  EXPECT_EQ(dim("x*y").evaluate(huge), std::nullopt) << "an overflow is no value";
  EXPECT_EQ(dim("x + y").evaluate(huge), std::nullopt);
}

TEST(SymbolicDim, MistakesNameTheColumn) {
  EXPECT_EQ(error_of("x.0 +"), "size expression 'x.0 +': found the end at column 6, expected a size");
  EXPECT_EQ(error_of("(x.0"), "size expression '(x.0': found the end at column 5, expected ')'");
  EXPECT_EQ(error_of("x ? 2"), "size expression 'x ? 2': found '?' at column 3, expected the end");
  EXPECT_EQ(error_of("floor(x / 0)"),
            "size expression 'floor(x / 0)': found ')' at column 12, expected a positive divisor");
  EXPECT_EQ(error_of("99999999999999999999"),
            "size expression '99999999999999999999': found '9' at column 19, expected a number below 2^63");
  EXPECT_NE(error_of(std::string(100'000, '(')).find("at most 200 levels"), std::string::npos);
}

TEST(SymbolicDim, RefusesWhatIsLargerThanAnyTensor) {
  const std::string large = "too large: numbers may reach 2^41, sums 1000 terms, products 64 factors";
  for (const char* text : {"9223372036854775807", "2199023255552 + 1", "x - 2199023255552", "4294967296*4294967296",
                           "2097152*x*2097152", "9223372036854775807*x + 9223372036854775807*x"})
    EXPECT_THAT(error_of(text), ::testing::HasSubstr(large)) << text;
  EXPECT_EQ(to_string(dim("2199023255000 - x + x")), "2199023255000");
  std::string sum = "a0", power = "x";
  for (int i = 1; i < 40; ++i) sum += fmt::format(" + a{}", i);
  for (int i = 1; i < 65; ++i) power += "*x";
  EXPECT_THAT(error_of("(" + sum + ")*(" + sum + ")"), ::testing::HasSubstr(large));
  EXPECT_THAT(error_of(power), ::testing::HasSubstr(large));
  EXPECT_EQ(dim(power.substr(2)).atoms().size(), 1U);
}

TEST(SymbolicDim, ArithmeticBeyondTheRangeWrapsRound) {
  const SymbolicDim large = std::numeric_limits<std::int64_t>::max(), x = SymbolicDim::variable(SizeVar::read("x"));
  EXPECT_EQ((large + large).constant(), -2);
  EXPECT_EQ(to_string(large * x + x), "-9223372036854775808*x");
  EXPECT_EQ((Constraint{Constraint::Kind::kEqual, large * x + x, SymbolicDim(0) - large - 1}).decided(), std::nullopt);
}

TEST(Cuts, AreKeptByCopiesAndForgottenByArithmetic) {
  const CutDim joined = join(CutDim(2), CutDim(3));
  ASSERT_NE(joined.cut(), nullptr);
  EXPECT_EQ(joined.extent(), 5);
  EXPECT_EQ(joined.cut()->first.extent(), 2);
  EXPECT_EQ((joined + CutDim(0)).cut(), nullptr);
  EXPECT_NE(joined, CutDim(5));
  EXPECT_EQ(same(joined, join(CutDim(2), CutDim(3))), joined);
  EXPECT_EQ(same(joined, join(CutDim(3), CutDim(2))).cut(), nullptr);
  EXPECT_EQ(same(joined, CutDim(5)).cut(), nullptr);
}

TEST(Constraint, IsDecidedWhereItHoldsForAllSizesOrNone) {
  const auto decided = [](std::string_view text) {
    const auto constraint = Constraint::parse(text);
    EXPECT_TRUE(constraint) << constraint.error().message;
    return constraint->decided();
  };
  EXPECT_EQ(decided("x.0 + 1 = 1 + x.0"), true);
  EXPECT_EQ(decided("x.0 + 1 = x.0"), false);
  EXPECT_EQ(decided("2*x.0 = 2*y.0 + 1"), false);
  EXPECT_EQ(decided("2*x.0 != 2*y.0 + 1"), true);
  EXPECT_EQ(decided("x.0 = y.0"), std::nullopt);
  EXPECT_EQ(decided("x.0 + 2 >= x.0"), true);
  EXPECT_EQ(decided("x.0 <= x.0 - 1"), false);
  EXPECT_EQ(decided("3 | 6*x.0 + 9"), true);
  EXPECT_EQ(decided("3 | x.0"), std::nullopt);
}

TEST(Constraint, TextParsesBack) {
  for (const char* text : {"x.0 = y.1", "x.0 != 2", "x.2 >= 3", "2 | x.1 + 1", "floor((x.2 + 1) / 2) - 1 = w.0"}) {
    const auto constraint = Constraint::parse(text);
    ASSERT_TRUE(constraint) << constraint.error().message;
    EXPECT_EQ(to_string(*constraint), text);
  }
  EXPECT_EQ(to_string(*Constraint::parse("x.0 <= 3")), "3 >= x.0");
  EXPECT_FALSE(Constraint::parse("x.0 y.0"));
  EXPECT_FALSE(Constraint::parse("0 | x.0"));
  EXPECT_FALSE(Constraint::parse("x.0 | y.0"));
}

TEST(Constraints, OfNumbersKeepTheFirstViolation) {
  Constraints<std::int64_t> where;
  where.equal(3, 3, "heights");
  EXPECT_FALSE(where.violation());
  where.equal(3, 4, "widths");
  where.at_least(1, 2, "channels");
  ASSERT_TRUE(where.violation());
  EXPECT_EQ(where.violation()->message, "widths must be equal, but are 3 and 4");
}

TEST(Constraints, OfNumbersSayWhatDoesNotHold) {
  using Kind = Constraint::Kind;
  const auto said = [](Kind kind, std::int64_t a, std::int64_t b) {
    const auto error = detail::check_constraint(kind, a, b, "sizes");
    return error ? error->message : "nothing";
  };
  EXPECT_EQ(said(Kind::kEqual, 3, 4), "sizes must be equal, but are 3 and 4");
  EXPECT_EQ(said(Kind::kNotEqual, 3, 3), "sizes must differ, but are both 3");
  EXPECT_EQ(said(Kind::kNotEqual, 3, 4), "nothing");
  EXPECT_EQ(said(Kind::kAtLeast, 3, 4), "sizes: 3 must be at least 4");
  EXPECT_EQ(said(Kind::kDivides, 3, 4), "sizes: 3 must divide 4");
}

TEST(Constraints, OfSymbolsKeepWhatIsNotDecided) {
  Constraints<SymbolicDim> where;
  where.equal(dim("x.0"), dim("x.0"), "sizes");
  where.equal(dim("x.0"), dim("y.0"), "sizes");
  where.equal(dim("x.0"), dim("y.0"), "sizes");
  EXPECT_EQ(where.conditions().size(), 1U);
  where.equal(dim("x.0"), dim("x.0 + 1"), "sizes");
  EXPECT_TRUE(where.violation());
}

}  // namespace
}  // namespace rewright
