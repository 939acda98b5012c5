// Row-major offsets: how operators walk tensors whose axes they skip, repeat, reverse or reduce.
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

/// Where each index of a box of `sizes` lies when one step along axis i moves by strides[i], in row-major order.
/// A stride of 0 repeats, a negative one runs backwards.
[[nodiscard]] inline std::vector<std::int64_t> offsets(std::span<const std::int64_t> sizes,
                                                       std::span<const std::int64_t> strides) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  std::vector<std::int64_t> places(count, 0);
  std::size_t box = 1;  // Of the axes behind this one: the same again at each of its indices.
  for (std::size_t axis = sizes.size(); count > 0 && axis-- > 0; box *= static_cast<std::size_t>(sizes[axis])) {
    for (std::int64_t i = 1; i < sizes[axis]; ++i) {
      std::int64_t* to = places.data() + static_cast<std::size_t>(i) * box;
      const std::int64_t base = i * strides[axis];
      for (std::size_t k = 0; k < box; ++k) to[k] = places[k] + base;
    }
  }
  return places;
}

/// to[k] = from[offsets(sizes, strides)[k]] for every k, without the list: axes that lie as one are walked as one, and
/// an axis that lies in order is copied with the last one by squares, so that either side stays in the cache.
template <class Scalar>
void copy_strided(const Scalar* from, std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides,
                  Scalar* to) {
  struct Axis {
    std::int64_t size, from, to;
  };
  std::vector<Axis> axes;  // The last one first.
  std::int64_t count = 1;
  for (std::size_t i = sizes.size(); i-- > 0; count *= sizes[i]) {
    if (sizes[i] == 1) continue;
    if (!axes.empty() && strides[i] == axes.back().from * axes.back().size) {
      axes.back().size *= sizes[i];
    } else {
      axes.push_back({sizes[i], strides[i], count});
    }
  }
  if (count == 0) return;
  constexpr std::int64_t kSide = 16;
  const Axis run = axes.empty() ? Axis{1, 1, 1} : axes.front();
  Axis across{1, 0, 0};
  if (!axes.empty()) axes.erase(axes.begin());
  if (const auto in_order = std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.from == 1; });
      run.from != 1 && in_order != axes.end()) {
    across = *in_order;
    axes.erase(in_order);
  }
  const auto copy_box = [&](const Scalar* source, Scalar* target) {
    if (run.from == 1) {
      std::copy_n(source, run.size, target);
      return;
    }
    for (std::int64_t first = 0; first < across.size; first += kSide) {
      const std::int64_t last = std::min(first + kSide, across.size);
      for (std::int64_t begin = 0; begin < run.size; begin += kSide) {
        const std::int64_t end = std::min(begin + kSide, run.size);
        for (std::int64_t i = first; i < last; ++i)
          for (std::int64_t k = begin; k < end; ++k) target[i * across.to + k] = source[i * across.from + k * run.from];
      }
    }
  };
  std::vector<std::int64_t> index(axes.size(), 0);
  while (true) {
    copy_box(from, to);
    std::size_t axis = 0;
    for (; axis < axes.size(); ++axis) {
      from += axes[axis].from, to += axes[axis].to;
      if (++index[axis] < axes[axis].size) break;
      from -= axes[axis].from * axes[axis].size, to -= axes[axis].to * axes[axis].size;
      index[axis] = 0;
    }
    if (axis == axes.size()) return;
  }
}

/// Calls visit(begin, end, index) with the elements, in row-major order, that have the same index along an axis.
template <class Visit>
void for_each_run(const Shape& shape, int axis, const Visit& visit) {
  std::int64_t length = 1;
  for (int behind = axis + 1; behind < shape.rank(); ++behind) length *= shape[behind];
  const std::int64_t elements = shape.elements();
  for (std::int64_t begin = 0; begin < elements;)
    for (std::int64_t index = 0; index < shape[axis]; ++index, begin += length) visit(begin, begin + length, index);
}

/// The offsets reached by running over `axes` of a tensor, the index along every other axis being 0.
[[nodiscard]] inline std::vector<std::int64_t> offsets_along(const Shape& shape, std::span<const std::int64_t> axes) {
  const auto all = strides_of(shape);
  std::vector<std::int64_t> sizes, strides;
  for (const std::int64_t axis : axes) {
    sizes.push_back(shape[static_cast<int>(axis)]);
    strides.push_back(all[static_cast<std::size_t>(axis)]);
  }
  return offsets(sizes, strides);
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
