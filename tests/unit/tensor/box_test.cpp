// Boxes of numbers: copies and combinations, held against one index after the other.
#include <rewright/tensor/box.h>

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
struct Layout {
  Numbers sizes, strides;

  explicit Layout(std::mt19937_64& random) {
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

/// What a layout reads: numbers from 100 on, and the first element's place among them.
struct Memory {
  explicit Memory(const Numbers& places) {
    std::int64_t before = 0, behind = 0;
    for (const std::int64_t place : places) before = std::min(before, place), behind = std::max(behind, place);
    numbers.resize(static_cast<std::size_t>(behind - before) + 1);
    std::iota(numbers.begin(), numbers.end(), 100);
    first = numbers.data() - before;
  }
  Numbers numbers;
  std::int64_t* first;
};

template <class T>
Box<T> box_of(T* first, const Numbers& sizes, const Numbers& strides) {
  Box<T> box{first, 0, {}, {}};
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) box.append(sizes[axis], strides[axis]);
  return box;
}
Numbers row_major(const Numbers& sizes) {
  Numbers strides(sizes.size(), 1);
  for (std::size_t axis = sizes.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * sizes[axis];
  return strides;
}

TEST(Box, ACopyIsWhatItsOffsetsRead) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const Layout layout(random);
    const Numbers places = counted_offsets(layout.sizes, layout.strides);
    const Memory memory(places);
    Numbers expected;
    for (const std::int64_t place : places) expected.push_back(memory.first[place]);
    Numbers copied(places.size() + 1, -1);
    copy(box_of<const std::int64_t>(memory.first, layout.sizes, layout.strides),
         box_of(copied.data(), layout.sizes, row_major(layout.sizes)));
    EXPECT_EQ(copied.back(), -1) << "it writes beyond its box";
    copied.pop_back();
    EXPECT_EQ(copied, expected);
  }
}

TEST(Box, ACombinationIsOfTheElementsAtOneIndex) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Layout left(random);
    Numbers strides = left.strides;
    std::shuffle(strides.begin(), strides.end(), random);
    const Numbers places = counted_offsets(left.sizes, left.strides), others = counted_offsets(left.sizes, strides);
    const Memory memory(places), other(others);
    Numbers expected, made(places.size(), -1);
    for (std::size_t k = 0; k < places.size(); ++k)
      expected.push_back(1000 * memory.first[places[k]] + other.first[others[k]]);
    combine(
        box_of(made.data(), left.sizes, row_major(left.sizes)),
        [](std::int64_t a, std::int64_t b) { return 1000 * a + b; },
        box_of<const std::int64_t>(memory.first, left.sizes, left.strides),
        box_of<const std::int64_t>(other.first, left.sizes, strides));
    EXPECT_EQ(made, expected);
  }
}

}  // namespace
}  // namespace rewright
