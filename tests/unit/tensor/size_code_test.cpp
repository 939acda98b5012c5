// Size expressions over slots: the values that SymbolicDim::evaluate gives, in any arithmetic.
#include <rewright/tensor/size_code.h>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace rewright {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"x.0", "x.1", "s0"};

std::optional<std::uint32_t> slot_of(SizeVar variable) {
  for (std::uint32_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == variable.text()) return i;
  return std::nullopt;
}
SymbolicDim dim(std::string_view text) { return SymbolicDim::parse(text).value(); }

/// An arithmetic that writes down what is computed.
struct Written {
  using Slot = std::string;
  using Value = std::string;
  static std::string load(const std::string& slot) { return slot; }
  static std::string constant(std::int64_t number) { return std::to_string(number); }
  static std::string floor_divide(const std::string& value, std::int64_t divisor) {
    return "floor((" + value + ")/" + std::to_string(divisor) + ")";
  }
  static std::string multiply(const std::string& a, const std::string& b) { return "(" + a + ")*(" + b + ")"; }
  static std::string add(const std::string& sum, std::int64_t factor, const std::string& value) {
    return sum + "+" + std::to_string(factor) + "*" + value;
  }
};

TEST(SizeCode, GivesWhatTheExpressionGives) {
  for (const char* text :
       {"x.0", "3", "2*x.0 - x.1 + 4", "floor((x.0 + 1) / 3)", "x.0*x.1 - s0", "floor(x.0*s0 / 2)"}) {
    const auto code = SizeCode::compile(dim(text), slot_of);
    ASSERT_TRUE(code) << text;
    for (const std::vector<std::int64_t>& slots : {std::vector<std::int64_t>{1, 1, 1}, {5, 7, 2}, {64, 3, 0}}) {
      const DimBinding binding = [&](SizeVar variable) { return std::optional(slots[*slot_of(variable)]); };
      EXPECT_EQ(code->run(CheckedNumbers{}, slots), dim(text).evaluate(binding)) << text;
    }
  }
}

TEST(SizeCode, GivesNothingWhereANumberDoesNotFit) {
  const std::vector<std::int64_t> slots = {std::int64_t{1} << 40, std::int64_t{1} << 40, 1};
  EXPECT_FALSE(SizeCode::compile(dim("x.0*x.1"), slot_of)->run(CheckedNumbers{}, slots));
  EXPECT_FALSE(SizeCode::compile(dim("floor((x.0*x.1) / 2) + 1"), slot_of)->run(CheckedNumbers{}, slots));
  EXPECT_TRUE(SizeCode::compile(dim("x.0 + x.1"), slot_of)->run(CheckedNumbers{}, slots));
}

TEST(SizeCode, RunsInAnyArithmetic) {
  const std::vector<std::string> slots = {"a", "b", "c"};
  EXPECT_EQ(SizeCode::compile(dim("2*x.0 + 3"), slot_of)->run(Written{}, slots), "3+2*a");
  EXPECT_EQ(SizeCode::compile(dim("floor((x.1 + 1) / 2)"), slot_of)->run(Written{}, slots), "0+1*floor((1+1*b)/2)");
  EXPECT_EQ(SizeCode::compile(dim("s0"), slot_of)->run(Written{}, slots), "c");
}

TEST(SizeCode, KnowsASlotByItself) {
  EXPECT_EQ(SizeCode::compile(dim("x.1"), slot_of)->slot(), 1u);
  for (const char* text : {"x.1 + 1", "2*x.1", "4", "x.0 + x.1"})
    EXPECT_EQ(SizeCode::compile(dim(text), slot_of)->slot(), std::nullopt) << text;
  EXPECT_FALSE(SizeCode::compile(dim("y.0"), slot_of)) << "it has no slot";
}

TEST(SizeCode, HasNoValueWhereOneWouldNotFit) {
  const std::vector<SizeVar> names = {SizeVar::read("m"), SizeVar::read("n")};
  const SymbolicDim m = SymbolicDim::variable(names[0]), n = SymbolicDim::variable(names[1]);
  const std::int64_t huge = std::int64_t{1} << 62;
  const auto value = [&](const SymbolicDim& dim, std::int64_t of_m, std::int64_t of_n) {
    return SizeCode::compile(dim, names)->value(std::vector<std::int64_t>{of_m, of_n});
  };
  EXPECT_EQ(value(m * n, huge, 1), huge);
  EXPECT_EQ(value(m * n, huge, 2), std::nullopt) << "a product";
  EXPECT_EQ(value(m * SymbolicDim(2), huge, 1), std::nullopt) << "a multiple";
  EXPECT_EQ(value(m + n, huge, huge), std::nullopt) << "a sum";
  EXPECT_EQ(value(floor_divide(m + n, 2), huge, huge), std::nullopt) << "what is divided";
  EXPECT_EQ(value(n * floor_divide(m + n, 2), huge, huge), std::nullopt) << "a factor";
}

}  // namespace
}  // namespace rewright
