// Row-major strides, and lists of axes.
#pragma once

#include <rewright/tensor/shape.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rewright {

/// No size or position in a tensor passes this; a number that does would overflow further arithmetic.
inline constexpr std::int64_t kFar = std::int64_t{1} << 41;

/// Elements from one index to the next, per axis.
[[nodiscard]] inline std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()), 1);
  for (int axis = shape.rank() - 2; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    strides[at] = strides[at + 1] * shape[axis + 1];
  }
  return strides;
}

[[nodiscard]] inline bool contains(std::span<const std::int64_t> list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// True if `axes` exist in a tensor of that rank and are in ascending order, each named once: one spelling per set.
[[nodiscard]] inline bool are_axes(std::span<const std::int64_t> axes, int rank) {
  std::int64_t last = -1;
  for (const std::int64_t axis : axes) {
    if (axis <= last || axis >= rank) return false;
    last = axis;
  }
  return true;
}

/// The axes of a tensor of that rank which `axes` does not name.
[[nodiscard]] inline std::vector<std::int64_t> other_axes(int rank, std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> others;
  for (int axis = 0; axis < rank; ++axis) {
    if (!contains(axes, axis)) others.push_back(axis);
  }
  return others;
}

}  // namespace rewright
