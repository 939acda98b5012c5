// TASO's generator, restated, visits as many sequences as its program does and finds what is known of it.
#include "support/taso_generator.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rewright::test {
namespace {

namespace taso = rewright::testing::taso;

TEST(TasoGenerator, VisitsTheSequencesOfTheProgram) {
  EXPECT_EQ(generate_as_taso(1).sequences, 229U);
  EXPECT_EQ(generate_as_taso(2).sequences, 58'176U);
}

TEST(TasoGenerator, FindsThatProductsAssociate) {
  const TasoSubstitutions found = generate_as_taso(2);
  EXPECT_LE(found.kept.size(), found.found);
  const auto of_two_products = [](const std::vector<taso::Op>& side) {
    return side.size() == 2 && side[0].type == taso::kMatMul && side[1].type == taso::kMatMul;
  };
  EXPECT_TRUE(std::ranges::any_of(found.kept, [&](const taso::Entry& entry) {
    return of_two_products(entry.source) && of_two_products(entry.target) && entry.outputs.size() == 1;
  }));
}

}  // namespace
}  // namespace rewright::test
