// Sums of shifted products over the field, however many at a time the processor makes.
#include <rewright/tensor/correlation.h>
#include <rewright/tensor/sum_of_products.h>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rewright {
namespace {

/// Residues over the whole range, the greatest and 0 among them.
std::vector<Field> residues(std::size_t count, std::mt19937_64& random) {
  std::vector<Field> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t lot = random();
    values.push_back(Field::from_residue(lot % 8 == 0 ? Field::kPrime - 1 : lot % 8 == 1 ? 0 : lot % Field::kPrime));
  }
  return values;
}

/// Sixteenths of whole numbers from -2^22 to 2^22, the greatest among them.
std::vector<Field> small_numbers(std::size_t count, std::mt19937_64& random) {
  constexpr std::int64_t kMost = std::int64_t{1} << 22;
  std::vector<Field> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto lot = static_cast<std::int64_t>(random() % (2 * kMost + 1)) - kMost;
    const std::int64_t number =
        random() % 8 == 0 ? (lot < 0 ? -kMost : kMost) + static_cast<std::int64_t>(random() % 3) - 1 : lot;
    values.push_back(Field::from_integer(number) * Field::from_integer(16).inverse());
  }
  return values;
}

using Numbers = std::vector<Field> (*)(std::size_t, std::mt19937_64&);
class Correlation : public testing::TestWithParam<Numbers> {};

TEST_P(Correlation, IsWhatOneProductAfterTheOtherGives) {
  std::mt19937_64 random(7);
  for (const std::size_t sums : {0, 1, 7, 8, 9, 16, 33, 39, 40, 41, 80, 97}) {
    for (const std::size_t products : {0, 1, 9, 18, 33, 128, 129}) {
      std::vector<std::uint32_t> offsets;
      for (std::size_t k = 0; k < products; ++k) offsets.push_back(static_cast<std::uint32_t>(random() % 60));
      const std::vector<Field> x = residues(sums + 60, random), weights = GetParam()(products, random);
      const Field untouched = Field::from_integer(42);
      std::vector<Field> found(sums + 1, untouched);
      correlate(x.data(), offsets, weights, std::span(found.data(), sums));
      for (std::size_t q = 0; q < sums; ++q) {
        Field expected;
        for (std::size_t k = 0; k < products; ++k) expected += x[q + offsets[k]] * weights[k];
        ASSERT_EQ(found[q], expected) << q << " of " << sums << " sums of " << products;
      }
      EXPECT_EQ(found.back(), untouched);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, Correlation, testing::Values(&residues, &small_numbers));

TEST(CorrelationOfMany, GreatProductsDoNotOverflow) {
  constexpr std::size_t kProducts = 5000;
  const std::vector<Field> x(kProducts + 8, Field::from_residue(Field::kPrime - 1));
  const std::vector<Field> greatest(kProducts, Field::from_residue(Field::kPrime - 1));
  const std::vector<Field> greatest_small(kProducts, Field::from_integer((1 << 22) - 1));
  for (const std::size_t products : {std::size_t{127}, std::size_t{128}, std::size_t{129}}) {
    std::vector<std::uint32_t> offsets(products);
    std::vector<Field> sums(8);
    correlate(x.data(), offsets, std::span(greatest_small).first(products), sums);
    const Field expected = Field::from_integer(-static_cast<std::int64_t>(products)) * greatest_small[0];
    for (const Field sum : sums) EXPECT_EQ(sum, expected);
  }
  for (const std::size_t products : {std::size_t{1365}, std::size_t{1366}, kProducts}) {
    std::vector<std::uint32_t> offsets(products);
    for (std::size_t k = 0; k < products; ++k) offsets[k] = static_cast<std::uint32_t>(k);
    std::vector<Field> sums(8);
    correlate(x.data(), offsets, std::span(greatest).first(products), sums);
    for (const Field sum : sums) EXPECT_EQ(sum, Field::from_integer(static_cast<std::int64_t>(products)));
  }
}

TEST(Quotients, DivideByWholeNumbersKnownOrNot) {
  Quotients<Field> quotients;
  for (const std::int64_t divisor : {1, 2, 3, 9, 61, 63, 64, 65, 1000, -3}) {
    const Field value = Field::from_integer(12345);
    EXPECT_EQ(quotients(value, divisor) * Field::from_integer(divisor), value) << divisor;
  }
}

TEST(Dot, IsTheSumOfProducts) {
  std::mt19937_64 random(7);
  for (const std::size_t count : {0, 1, 7, 8, 9, 64, 100, 10'920, 10'921}) {
    const std::vector<Field> a = residues(count, random), b = residues(count, random);
    Field expected;
    for (std::size_t i = 0; i < count; ++i) expected += a[i] * b[i];
    EXPECT_EQ(dot(a, b), expected) << count;
    const std::vector<Field> greatest(count, Field::from_residue(Field::kPrime - 1));
    EXPECT_EQ(dot(greatest, greatest), Field::from_integer(static_cast<std::int64_t>(count))) << count;
  }
}

TEST(ReluAll, IsMaxWithZeroOfEveryElement) {
  std::mt19937_64 random(7);
  std::vector<Field> elements;
  // What is about half of the field by its order, besides any.
  for (const std::uint64_t order : {std::uint64_t{0}, std::uint64_t{1}, Field::kPrime / 2, Field::kPrime / 2 + 1,
                                    Field::kPrime - 1, std::uint64_t{1} << 52, (std::uint64_t{1} << 52) - 1}) {
    elements.push_back(Field::from_residue(order));
    elements.push_back(Field::from_residue(order) / Field::from_residue(Field::kOrderDenominator));
  }
  while (elements.size() < 1'000) elements.push_back(Field::from_residue(random() % Field::kPrime));
  for (std::size_t count = 0; count < elements.size(); count += count < 20 ? 1 : 97) {
    std::vector<Field> found = elements;
    relu_all(std::span(found).first(count));
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], i < count ? relu(elements[i]) : elements[i]) << i << " of " << count;
  }
}

}  // namespace
}  // namespace rewright
