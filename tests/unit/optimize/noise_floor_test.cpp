// The noise floor: what it takes for rounding, and what it does not.
#include "optimize/noise_floor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optimize/input_source.h"

namespace rewright {
namespace {

std::vector<Real> numbers(std::size_t count, double scale, std::uint64_t seed) {
  RandomBits random(seed);
  std::vector<Real> made(count);
  for (Real& number : made) number.value = scale * (1 + uniform_number(random));
  return made;
}

/// Each number moved by up to `relative` of itself.
std::vector<Real> moved(std::vector<Real> numbers, double relative, std::uint64_t seed) {
  RandomBits random(seed);
  for (Real& number : numbers) number.value *= 1 + relative * (2 * uniform_number(random) - 1);
  return numbers;
}

NoiseFloor floor_between(const std::vector<Real>& exact, const std::vector<Real>& rounded,
                         ElementType type = ElementType::kFloat64) {
  const std::span<const Real> versions[] = {rounded};
  return {type, exact, versions};
}

TEST(NoiseFloor, LetsPassWhatRoundingDoesAndNotFourTimesThat) {
  const auto exact = numbers(10'000, 1, 1);
  const NoiseFloor floor = floor_between(exact, moved(exact, 1e-6, 2));
  EXPECT_FALSE(compare(exact, moved(exact, 1e-6, 3), floor, 1).is_too_far());
  EXPECT_FALSE(compare(exact, moved(exact, 2.5e-7, 3), floor, 1).is_too_far());
  EXPECT_TRUE(compare(exact, moved(exact, 4e-6, 3), floor, 1).is_too_far());
}

TEST(NoiseFloor, OfSmallElementsStaysSmallBesideLargeOnes) {
  auto exact = numbers(1'000, 1, 1);
  for (std::size_t k = 0; k < exact.size(); k += 10) exact[k].value *= -1e9;
  const NoiseFloor floor = floor_between(exact, moved(exact, 1e-7, 2));
  EXPECT_LT(floor.at(1.5), 1e-6);
  EXPECT_GT(floor.at(-1.5e9), 10);
  auto wrong = exact;
  for (std::size_t k = 1; k < wrong.size(); k += 10) wrong[k].value += 1e-3;
  EXPECT_TRUE(compare(exact, wrong, floor, 1).is_too_far());
}

TEST(NoiseFloor, IsTheTypesRoundoffWhereNothingWasRounded) {
  const auto exact = numbers(100, 8, 1);
  const NoiseFloor floor = floor_between(exact, exact, ElementType::kFloat32);
  EXPECT_EQ(floor.at(8), 8 * 0x1p-24);
  EXPECT_EQ(floor_between(exact, exact, ElementType::kFloat16).at(0x1p-20), 0x1p-25) << "among subnormal numbers";
}

TEST(NoiseFloor, AllowsForWhatCancels) {
  auto exact = numbers(100, 1, 1), other = exact;
  for (std::size_t k = 0; k < 50; ++k) exact[k].value = 0, other[k].value = 1e-16;
  EXPECT_FALSE(compare(exact, other, floor_between(exact, exact), 1).is_too_far());
}

TEST(NoiseFloor, OfFewElementsIsWiderForTheyTellLittle) {
  const auto few = numbers(2, 1, 1), many = numbers(1'000, 1, 1);
  EXPECT_GT(floor_between(few, moved(few, 1e-6, 2)).at(few[0].value) * 4,
            floor_between(many, moved(many, 1e-6, 2)).at(1.5));
}

TEST(Comparison, CountsWhatIsNotFiniteOnOneSideAlone) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const NoiseFloor wide = floor_between({{1}, {1}}, {{2}, {2}});
  const std::vector<Real> expected = {{1}, {nan}, {infinity}, {-infinity}, {1}, {infinity}};
  const std::vector<Real> actual = {{1}, {nan}, {infinity}, {infinity}, {nan}, {1}};
  const Deviation deviation = compare(expected, actual, wide, 1);
  EXPECT_EQ(deviation.elements, 6u);
  EXPECT_EQ(deviation.beyond, 3u);
}

TEST(Comparison, NamesTheElementThatIsFurthestBeyond) {
  auto exact = numbers(1'000, 1, 1), wrong = exact;
  wrong[700].value = 3;
  wrong[701].value = 9;
  const Deviation deviation = compare(exact, wrong, NoiseFloor(ElementType::kFloat32), 1);
  EXPECT_EQ(deviation.place, 701u);
  EXPECT_EQ(deviation.actual, 9);
  EXPECT_EQ(deviation.beyond, 2u);
  EXPECT_FALSE(deviation.is_too_far()) << "two of a thousand";
}

TEST(Comparison, OfIntegersKnowsNoRounding) {
  EXPECT_EQ(compare_whole(std::vector<Real>{{1}, {2}, {3}}, std::vector<Real>{{1}, {2}, {4}}).beyond, 1u);
}

TEST(Compare, ExplainsAnInfinityWhereTheNoiseReachesBeyondTheType) {
  const Real expected[] = {{60'000}, {1}}, rounded[] = {{58'000}, {1}};
  const std::span<const Real> ways[] = {rounded};
  const NoiseFloor floor(ElementType::kFloat16, expected, ways);
  EXPECT_EQ(floor.greatest(), 65504);
  const Real above[] = {{HUGE_VAL}, {1}}, far[] = {{60'000}, {HUGE_VAL}};
  EXPECT_FALSE(compare(expected, above, floor, 8).is_too_far());
  EXPECT_TRUE(compare(expected, far, floor, 8).is_too_far()) << "1 is nowhere near it";
}

}  // namespace
}  // namespace rewright
