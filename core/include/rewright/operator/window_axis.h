// One axis of a window that slides over a tensor: which input positions an output position looks at.
//
//     position(output, tap) = output * stride - before + tap * dilation,   tap = 0 .. kernel - 1
//
// Those outside [0, size) are padding. Sizes may be symbols; strides and dilations are numbers, 1 or more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace rewright {

/// The taps of one output position that lie inside the input, along one axis: tap first, first + 1, ..., last - 1, of
/// which the first is at input position `position` and each next one `dilation` further.
struct WindowTaps {
  std::int64_t first;
  std::int64_t last;
  std::int64_t position;
  [[nodiscard]] std::int64_t count() const { return last - first; }
};

template <class Dim>
struct BasicWindowAxis {
  Dim size = 0;
  Dim kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  Dim before = 0;

  // Where all numbers are known:

  [[nodiscard]] WindowTaps taps(std::int64_t output) const {
    const std::int64_t start = output * stride - before;
    if (dilation == 1) {
      const std::int64_t first = std::max<std::int64_t>(-start, 0);
      return {first, std::max(first, std::min(kernel, size - start)), start + first};
    }
    const std::int64_t first = start < 0 ? (dilation - 1 - start) / dilation : 0;
    const std::int64_t end = start < size ? (size - start + dilation - 1) / dilation : 0;
    return {first, std::max(first, std::min(kernel, end)), start + first * dilation};
  }
  /// The output positions, of 0 .. outputs - 1, of which this tap lies inside the input: begin, end.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> outputs_of(std::int64_t tap, std::int64_t outputs) const {
    const std::int64_t shift = tap * dilation - before;  // Input position of output 0.
    const std::int64_t begin = shift < 0 ? (stride - 1 - shift) / stride : 0;
    const std::int64_t end = shift < size ? (size - shift + stride - 1) / stride : 0;
    return {begin, std::max(begin, std::min(outputs, end))};
  }
};
using WindowAxis = BasicWindowAxis<std::int64_t>;

}  // namespace rewright
