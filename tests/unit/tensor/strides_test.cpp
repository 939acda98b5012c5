// Row-major offsets, and copies along them.
#include <rewright/tensor/strides.h>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace rewright {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The offset of each index of a box, one index after the other.
Numbers counted_offsets(const Numbers& sizes, const Numbers& strides) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  Numbers places;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t place = 0, rest = k;
    for (std::size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis]) place += rest % sizes[axis] * strides[axis];
    places.push_back(place);
  }
  return places;
}

/// Up to four axes of 0 to 40 positions, whose strides are those of a tensor, repeated, skipped or backwards.
struct Box {
  Numbers sizes, strides;

  explicit Box(std::mt19937_64& random) {
    constexpr std::array<std::int64_t, 8> kSizes = {0, 1, 1, 2, 3, 5, 17, 40};
    const std::size_t rank = random() % 5;
    for (std::size_t i = 0; i < rank; ++i) sizes.push_back(kSizes[random() % kSizes.size()]);
    strides.assign(rank, 1);
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t next = 1;
    for (const std::size_t axis : order) strides[axis] = next, next *= std::max<std::int64_t>(sizes[axis], 1);
    for (std::int64_t& stride : strides) {
      const std::uint64_t lot = random() % 8;
      stride *= lot == 0 ? 0 : lot == 1 ? -1 : lot == 2 ? 2 : 1;
    }
  }
};

TEST(Strides, OffsetsAreThoseOfOneIndexAfterTheOther) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const Box box(random);
    EXPECT_EQ(offsets(box.sizes, box.strides), counted_offsets(box.sizes, box.strides));
  }
}

TEST(Strides, ACopyIsWhatItsOffsetsRead) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const Box box(random);
    const Numbers places = counted_offsets(box.sizes, box.strides);
    std::int64_t before = 0, behind = 0;
    for (const std::int64_t place : places) before = std::min(before, place), behind = std::max(behind, place);
    Numbers from(static_cast<std::size_t>(behind - before) + 1);
    std::iota(from.begin(), from.end(), 100);
    Numbers expected;
    for (const std::int64_t place : places) expected.push_back(from[static_cast<std::size_t>(place - before)]);
    Numbers copied(places.size() + 1, -1);
    copy_strided(from.data() - before, box.sizes, box.strides, copied.data());
    EXPECT_EQ(copied.back(), -1) << "it writes beyond its box";
    copied.pop_back();
    EXPECT_EQ(copied, expected);
  }
}

TEST(Strides, RunsOfAnIndexAreTheElementsThatHaveIt) {
  const Shape shape{2, 3, 4};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Numbers index;
    for_each_run(shape, axis, [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
      EXPECT_EQ(begin, static_cast<std::int64_t>(index.size()));
      index.insert(index.end(), static_cast<std::size_t>(end - begin), at);
    });
    Numbers strides(3, 0);
    strides[static_cast<std::size_t>(axis)] = 1;
    EXPECT_EQ(index, counted_offsets({2, 3, 4}, strides));
  }
}

TEST(Strides, NothingHasNoRuns) {
  for_each_run(Shape{2, 0, 3}, 0, [](std::int64_t, std::int64_t, std::int64_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace rewright
