#include "compile/sparse_parts.h"

#include <algorithm>
#include <numeric>

namespace rewright::compile {
namespace {

std::int64_t blocks_of(const SparsePart& part, std::span<const std::int64_t> sizes) {
  return part.block == 0 || part.columns.empty() ? 1 : (sizes[part.columns[0]] + part.block - 1) / part.block;
}

/// Calls `visit` with each element that is not 0, its index and its block, in the order of a part.
template <class Visit>
void for_each_nonzero(const SparsePart& part, std::span<const float> weight, std::span<const std::int64_t> sizes,
                      const Visit& visit) {
  std::vector<std::size_t> order = part.rows;
  order.insert(order.end(), part.columns.begin(), part.columns.end());
  std::vector<std::int64_t> strides(sizes.size(), 1), from(sizes.size(), 0), to(sizes.begin(), sizes.end());
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  const std::int64_t blocks = blocks_of(part, sizes);
  for (std::int64_t block = 0; block < blocks; ++block) {
    if (blocks > 1) {
      from[part.columns[0]] = block * part.block;
      to[part.columns[0]] = std::min(from[part.columns[0]] + part.block, sizes[part.columns[0]]);
    }
    std::vector<std::int64_t> at = from;
    for (std::size_t k = order.size(); k != 0;) {
      std::int64_t element = 0;
      for (std::size_t d = 0; d < at.size(); ++d) element += at[d] * strides[d];
      const float number = weight[static_cast<std::size_t>(element)];
      if (number != 0) visit(number, at, block);
      for (k = order.size(); k > 0; --k) {
        const std::size_t d = order[k - 1];
        if (++at[d] < to[d]) break;
        at[d] = from[d];
      }
    }
  }
}

template <class T>
std::vector<std::byte> as_bytes(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

template <class Place>
std::vector<std::byte> places_of(const SparsePart& part, std::span<const float> weight,
                                 std::span<const std::int64_t> sizes) {
  std::vector<Place> places;
  for_each_nonzero(part, weight, sizes, [&](float, const std::vector<std::int64_t>& at, std::int64_t block) {
    std::int64_t place = part.columns.empty() ? 0 : -block * part.block * part.steps[0];
    for (std::size_t c = 0; c < part.columns.size(); ++c) place += at[part.columns[c]] * part.steps[c];
    places.push_back(static_cast<Place>(place));
  });
  return as_bytes(places);
}

}  // namespace

std::int64_t count_nonzeros(std::span<const float> weight) {
  return std::ranges::count_if(weight, [](float number) { return number != 0; });
}

std::vector<std::byte> bytes_of(const SparsePart& part, std::span<const float> weight,
                                std::span<const std::int64_t> sizes) {
  if (part.kind == SparsePart::Kind::kValues) {
    std::vector<float> values;
    for_each_nonzero(part, weight, sizes, [&](float value, const auto&, auto) { values.push_back(value); });
    return as_bytes(values);
  }
  if (part.kind == SparsePart::Kind::kPlaces)
    return part.element == ElementType::kUint16 ? places_of<std::uint16_t>(part, weight, sizes)
                                                : places_of<std::int32_t>(part, weight, sizes);
  std::int64_t count = 1;
  for (const std::size_t d : part.rows) count *= sizes[d];
  std::vector<std::int32_t> starts(static_cast<std::size_t>(count * blocks_of(part, sizes)) + 1, 0);
  for_each_nonzero(part, weight, sizes, [&](float, const std::vector<std::int64_t>& at, std::int64_t block) {
    std::int64_t row = block;
    for (const std::size_t d : part.rows) row = row * sizes[d] + at[d];
    ++starts[static_cast<std::size_t>(row) + 1];
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return as_bytes(starts);
}

}  // namespace rewright::compile
