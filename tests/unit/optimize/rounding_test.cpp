// Rounding of numbers in double precision to an element type: the same as by their bytes.
#include "optimize/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "onnx/element.h"
#include "optimize/input_source.h"

namespace rewright {
namespace {

double through_bytes(ElementType type, double value) {
  std::byte bytes[8];
  model::write_element(type, value, bytes);
  return model::read_element(type, bytes);
}

/// Numbers of all magnitudes, those at the edges of the formats, and ties.
std::vector<double> trying_numbers() {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers = {0,         -0.0,     1,        65504,      65519.99,  65520,       -65520,
                                 0x1p-14,   0x1p-15,  0x1p-24,  0x1p-25,    0x1.8p-25, 3 * 0x1p-25, infinity,
                                 -infinity, 0x1p-133, 0x1p-134, 0x1.ffp127, 1e300,     -1e-300};
  RandomBits random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double size = std::ldexp(1 + uniform_number(random), static_cast<int>(random() % 280) - 140);
    numbers.push_back(random() % 2 == 0 ? size : -size);
    numbers.push_back(std::ldexp(static_cast<double>(random() % 8192), -12));  // Ties are common among these.
  }
  return numbers;
}

TEST(Rounding, IsToTheNearestNumberOfTheType) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    for (const double number : trying_numbers()) {
      Real rounded[] = {{number}};
      round_to(type, rounded);
      EXPECT_EQ(rounded[0].value, through_bytes(type, number)) << static_cast<int>(type) << ": " << number;
    }
  }
}

TEST(Rounding, LeavesWhatIsNoNumber) {
  Real rounded[] = {{std::numeric_limits<double>::quiet_NaN()}};
  round_to(ElementType::kFloat16, rounded);
  EXPECT_TRUE(std::isnan(rounded[0].value));
}

TEST(Rounding, BytesComeBackAsTheNumbersThatTheyHold) {
  const std::vector<Real> given = {{1.5}, {-2}, {0}};
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16}) {
    const auto back = to_numbers(type, to_bytes(type, given), 3);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, given);
  }
  EXPECT_FALSE(to_numbers(ElementType::kFloat32, to_bytes(ElementType::kFloat32, given), 4));
  EXPECT_FALSE(to_numbers(ElementType::kString, {}, 0));
}

TEST(Rounding, OneRepeatedNumberIsRoundedToo) {
  const auto numbers = to_numbers(ConstantData{{Shape{2}, ElementType::kFloat32}, 0.1});
  ASSERT_TRUE(numbers);
  EXPECT_EQ((*numbers)[1].value, static_cast<double>(0.1f));
}

}  // namespace
}  // namespace rewright
