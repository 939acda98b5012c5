// Boxes of numbers in memory, and loops over several of them at once: how whole tensors are moved, turned, repeated and
// combined, without memory of their own.
//
//     element(i) = data[sum over axes k of i[k] * strides[k]],  0 <= i[k] < sizes[k]
//
// A stride of 0 repeats, a negative one runs backwards. Axes that lie as one in every operand are walked as one.
#pragma once

#include <rewright/tensor/shape.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rewright {

/// One number for each axis.
using AxisNumbers = std::array<std::int64_t, kMaxRank>;

/// Borrowed.
template <class T>
struct Box {
  T* data = nullptr;
  int rank = 0;
  AxisNumbers sizes;
  AxisNumbers strides;

  /// A whole tensor, row-major.
  [[nodiscard]] static Box of(T* data, const Shape& shape) {
    Box box;
    box.data = data;
    box.rank = shape.rank();
    std::int64_t stride = 1;
    for (int axis = box.rank; axis-- > 0; stride *= shape[axis]) box.set(axis, shape[axis], stride);
    return box;
  }
  void set(int axis, std::int64_t size, std::int64_t stride) {
    sizes[static_cast<std::size_t>(axis)] = size;
    strides[static_cast<std::size_t>(axis)] = stride;
  }
  void append(std::int64_t size, std::int64_t stride) { set(rank++, size, stride); }
  [[nodiscard]] std::int64_t size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t stride(int axis) const { return strides[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= size(axis);
    return count;
  }
  /// The element at one index per axis.
  template <class... Index>
  [[nodiscard]] T& operator()(Index... index) const {
    std::int64_t at = 0;
    int axis = 0;
    ((at += index * stride(axis++)), ...);
    return data[at];
  }
};

/// The axes of kCount boxes of one set of sizes, merged where they lie as one in each; axes of size 1 are left out.
template <std::size_t kCount>
class CommonAxes {
 public:
  /// `strides[b][k]`: of box b along axis k.
  CommonAxes(int rank, const AxisNumbers& sizes, const std::array<const AxisNumbers*, kCount>& strides) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      if (sizes[axis] == 1) continue;
      bool merges = rank_ > 0;
      for (std::size_t b = 0; b < kCount; ++b)
        merges = merges && strides_[b][rank_ - 1] == (*strides[b])[axis] * sizes[axis];
      if (!merges) sizes_[rank_++] = 1;
      sizes_[rank_ - 1] *= sizes[axis];
      for (std::size_t b = 0; b < kCount; ++b) strides_[b][rank_ - 1] = (*strides[b])[axis];
    }
    if (rank_ > 0) return;
    rank_ = 1;
    sizes_[0] = 1;
    for (std::size_t b = 0; b < kCount; ++b) strides_[b][0] = 0;
  }

  /// At least 1.
  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size(std::size_t axis) const { return sizes_[axis]; }
  [[nodiscard]] std::int64_t stride(std::size_t box, std::size_t axis) const { return strides_[box][axis]; }
  void erase(std::size_t axis) {
    --rank_;
    for (std::size_t k = axis; k < rank_; ++k) {
      sizes_[k] = sizes_[k + 1];
      for (std::size_t b = 0; b < kCount; ++b) strides_[b][k] = strides_[b][k + 1];
    }
  }
  /// Calls visit(position of each box) for every index of the axes below `depth`, in row-major order.
  template <class Visit>
  void for_each(std::size_t depth, const Visit& visit) const {
    std::array<std::int64_t, kCount> at{};
    AxisNumbers index{};
    while (true) {
      visit(std::as_const(at));
      std::size_t axis = depth;
      while (axis-- > 0) {
        for (std::size_t b = 0; b < kCount; ++b) at[b] += strides_[b][axis];
        if (++index[axis] < sizes_[axis]) break;
        for (std::size_t b = 0; b < kCount; ++b) at[b] -= strides_[b][axis] * sizes_[axis];
        index[axis] = 0;
      }
      if (axis > depth) return;
    }
  }

 private:
  std::size_t rank_ = 0;
  AxisNumbers sizes_;
  std::array<AxisNumbers, kCount> strides_;
};

/// to[i] = function(from[i]...) for every index i of `to`, whose sizes count; the others have as many axes.
template <class T, class Function, class... From>
void combine(const Box<T>& to, const Function& function, const Box<From>&... from) {
  if (to.elements() == 0) return;
  constexpr std::size_t kCount = 1 + sizeof...(From);
  const CommonAxes<kCount> axes(to.rank, to.sizes, {&to.strides, &from.strides...});
  const std::size_t last = axes.rank() - 1;
  const std::int64_t count = axes.size(last);
  [&]<std::size_t... B>(std::index_sequence<B...>) {
    const bool in_order = axes.stride(0, last) == 1 && ((axes.stride(B + 1, last) == 1) && ...);
    axes.for_each(last, [&](const std::array<std::int64_t, kCount>& at) {
      T* const __restrict target = to.data + at[0];
      if (in_order) {
        for (std::int64_t k = 0; k < count; ++k) target[k] = function((from.data + at[B + 1])[k]...);
      } else {
        const std::int64_t step = axes.stride(0, last);
        for (std::int64_t k = 0; k < count; ++k)
          target[k * step] = function((from.data + at[B + 1])[k * axes.stride(B + 1, last)]...);
      }
    });
  }
  (std::index_sequence_for<From...>());
}

/// to[i] = from[i]. An axis that lies in order in `from` alone is copied with the last one by squares, so that either
/// side stays in the cache.
template <class T>
void copy(const Box<const T>& from, const Box<T>& to) {
  if (to.elements() == 0) return;
  constexpr std::int64_t kSide = 16;
  CommonAxes<2> axes(to.rank, to.sizes, {&to.strides, &from.strides});
  const std::size_t last = axes.rank() - 1;
  const std::int64_t count = axes.size(last), to_step = axes.stride(0, last), from_step = axes.stride(1, last);
  if (from_step == 1 && to_step == 1) {
    return axes.for_each(last, [&](const auto& at) { std::copy_n(from.data + at[1], count, to.data + at[0]); });
  }
  std::size_t across = last;
  for (std::size_t k = 0; k < last && from_step != 1; ++k)
    if (axes.stride(1, k) == 1) across = k;
  if (across == last || std::min(count, axes.size(across)) < 4) {
    return axes.for_each(last, [&](const auto& at) {
      T* const __restrict target = to.data + at[0];
      const T* const source = from.data + at[1];
      for (std::int64_t k = 0; k < count; ++k) target[k * to_step] = source[k * from_step];
    });
  }
  const std::int64_t rows = axes.size(across), row_step = axes.stride(0, across);
  axes.erase(across);
  axes.for_each(last - 1, [&](const auto& at) {
    for (std::int64_t first = 0; first < rows; first += kSide) {
      const std::int64_t end = std::min(first + kSide, rows);
      for (std::int64_t begin = 0; begin < count; begin += kSide) {
        const std::int64_t stop = std::min(begin + kSide, count);
        for (std::int64_t i = first; i < end; ++i)
          for (std::int64_t k = begin; k < stop; ++k)
            to.data[at[0] + i * row_step + k * to_step] = from.data[at[1] + i + k * from_step];
      }
    }
  });
}

}  // namespace rewright
