// Convolution over Real: large ones as products of matrices, others by loops in the order of the definition.
#pragma once

#include <rewright/kit/convolution.h>
#include <rewright/tensor/real_product.h>
#include <rewright/tensor/scalar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rewright {

class RealConvolution {
 public:
  explicit RealConvolution(const Convolution& convolution)
      : x_(convolution.x),
        w_(convolution.w),
        y_(convolution.y),
        vertical_(convolution.axis(0)),
        horizontal_(convolution.axis(1)),
        groups_(convolution.groups),
        per_group_(convolution.outputs_of_group()) {}

  void evaluate(const Real* x, const Real* w, Real* y) const {
    if (y_.elements() == 0) return;
    std::fill_n(y, y_.elements(), Real{});
    const bool is_product = per_group_ >= kLeastRows && y_.elements() * w_[1] * w_[2] * w_[3] >= kLeastProduct;
    is_product ? by_products(x, w, y) : by_rows(x, w, y);
  }

 private:
  /// Groups of fewer output channels are no product of matrices worth its copies.
  static constexpr std::int64_t kLeastRows = 4;
  /// Numbers that the taps see at a time (4 MiB).
  static constexpr std::int64_t kMostSeen = 1 << 19;

  /// A group's weights, [O / groups, C / groups * KH * KW], times what each tap sees of a band of output rows.
  void by_products(const Real* x, const Real* w, Real* y) const {
    const std::int64_t length = w_[1] * w_[2] * w_[3], plane = y_[2] * y_[3];
    const std::int64_t band = std::clamp(kMostSeen / std::max<std::int64_t>(length * y_[3], 1), std::int64_t{1}, y_[2]);
    std::vector<Real> seen(static_cast<std::size_t>(length * band * y_[3]));
    for (std::int64_t group = 0; group < x_[0] * groups_; ++group) {
      const Real* const image = x + group * w_[1] * x_[2] * x_[3];
      const Real* const weights = w + group % groups_ * per_group_ * length;
      for (std::int64_t first = 0; first < y_[2]; first += band) {
        const std::int64_t rows = std::min(band, y_[2] - first), columns = rows * y_[3];
        Real* to = seen.data();
        for (std::int64_t c = 0; c < w_[1]; ++c)
          for (std::int64_t s = 0; s < w_[2]; ++s)
            for (std::int64_t t = 0; t < w_[3]; ++t)
              for (std::int64_t i = first; i < first + rows; ++i, to += y_[3])
                copy_seen(image + c * x_[2] * x_[3], s, t, i, {to, std::size_t(y_[3])});
        add_product({weights, per_group_, length, length}, {seen.data(), length, columns, columns},
                    {y + group * per_group_ * plane + first * y_[3], per_group_, columns, plane});
      }
    }
  }
  /// What tap (s, t) sees of an image plane along row `i` of the outputs.
  void copy_seen(const Real* image, std::int64_t s, std::int64_t t, std::int64_t i, std::span<Real> to) const {
    std::ranges::fill(to, Real{});
    const std::int64_t row = i * vertical_.stride - vertical_.before + s * vertical_.dilation;
    if (row < 0 || row >= x_[2]) return;
    const auto [begin, end] = horizontal_.outputs_of(t, static_cast<std::int64_t>(to.size()));
    const Real* const pixels = image + row * x_[3];
    const std::int64_t shift = t * horizontal_.dilation - horizontal_.before;
    for (std::int64_t j = begin; j < end; ++j) to[static_cast<std::size_t>(j)] = pixels[j * horizontal_.stride + shift];
  }

  /// A row of outputs at a time, each the sum over c, s, t in this order.
  void by_rows(const Real* x, const Real* w, Real* y) const {
    const std::int64_t taps = w_[2] * w_[3];
    for (std::int64_t row = 0; row < y_[0] * y_[1] * y_[2]; ++row, y += y_[3]) {
      const std::int64_t plane = row / y_[2], o = plane % y_[1];
      const Real* image = x + (plane / y_[1] * x_[1] + o / per_group_ * w_[1]) * x_[2] * x_[3];
      const Real* kernel = w + o * w_[1] * taps;
      const WindowTaps rows = vertical_.taps(row % y_[2]);
      for (std::int64_t c = 0; c < w_[1]; ++c, image += x_[2] * x_[3], kernel += taps)
        for (std::int64_t s = 0; s < rows.count(); ++s)
          add_row(image + (rows.position + s * vertical_.dilation) * x_[3], kernel + (rows.first + s) * w_[3],
                  {y, static_cast<std::size_t>(y_[3])});
    }
  }
  /// What the taps of one row of a kernel see of a row of an image.
  void add_row(const Real* pixels, const Real* weights, std::span<Real> sums) const {
    for (std::int64_t t = 0; t < horizontal_.kernel; ++t) {
      const auto [begin, end] = horizontal_.outputs_of(t, static_cast<std::int64_t>(sums.size()));
      const std::int64_t shift = t * horizontal_.dilation - horizontal_.before;
      for (std::int64_t j = begin; j < end; ++j)
        sums[static_cast<std::size_t>(j)] += pixels[j * horizontal_.stride + shift] * weights[t];
    }
  }

  const Shape &x_, &w_, &y_;
  const WindowAxis vertical_, horizontal_;
  const std::int64_t groups_, per_group_;
};

}  // namespace rewright
