// Convolution over Field, and the reductions of its operands, as correlations of flat arrays: in an image plane with
// zeros around it, row after row, a tap or an output position is a shift.
#pragma once

#include <rewright/kit/convolution.h>
#include <rewright/operator/hash_reduction.h>
#include <rewright/tensor/correlation.h>
#include <rewright/tensor/sum_of_products.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rewright {

class FieldConvolution {
 public:
  explicit FieldConvolution(const Convolution& convolution)
      : window_(convolution.window),
        groups_(convolution.groups),
        per_group_(convolution.outputs_of_group()),
        x_(convolution.x),
        w_(convolution.w),
        y_(convolution.y) {}

  /// Stride 1, and no size of y is 0. Rows of a padded plane are longer than those of y: what is made between is left
  /// out.
  void evaluate(const Field* x, const Field* w, Field* y) const {
    const std::int64_t taps = w_[1] * w_[2] * w_[3];
    Scratch<Field> image(w_[1] * plane_), sums((y_[2] - 1) * width_ + y_[3]);
    Scratch<std::uint32_t> offsets(taps);
    std::uint32_t* next = offsets.data();
    for (std::int64_t c = 0; c < w_[1]; ++c) {
      for (std::int64_t s = 0; s < w_[2]; ++s) {
        for (std::int64_t t = 0; t < w_[3]; ++t) *next++ = static_cast<std::uint32_t>(c * plane_ + position(s, t));
      }
    }
    std::fill_n(image.data(), w_[1] * plane_, Field());
    for (std::int64_t group = 0; group < x_[0] * groups_; ++group) {
      for (std::int64_t c = 0; c < w_[1]; ++c)
        copy_padded(x + (group * w_[1] + c) * x_[2] * x_[3], image.data() + c * plane_);
      for (std::int64_t o = 0; o < per_group_; ++o) {
        const Field* const weights = w + (group % groups_ * per_group_ + o) * taps;
        correlate(image.data(), offsets.span(), std::span(weights, static_cast<std::size_t>(taps)), sums.span());
        Field* to = y + (group * per_group_ + o) * y_[2] * y_[3];
        for (std::int64_t i = 0; i < y_[2]; ++i, to += y_[3]) std::copy_n(sums.data() + i * width_, y_[3], to);
      }
    }
  }

  // h(conv(x, w)) = sum over input channels c and taps (s, t) of
  //   (sum over n, i, j of r^n r^i r^j x[n, c, i * stride - before + s, ..]) * (sum over o of r^o w[o, c of group, s,
  //   t])

  void reduce_image(TensorView<const Field> x, const HashPoint& point, std::span<Field> out) const {
    Scratch<Field> images(x_[0] * plane_), factors(x_[0] * y_[2] * y_[3]), sums(position(w_[2] - 1, w_[3] - 1) + 1);
    Scratch<std::uint32_t> offsets(x_[0] * y_[2] * y_[3]);
    std::uint32_t* next = offsets.data();
    Field* factor = factors.data();
    for (std::int64_t n = 0; n < x_[0]; ++n) {
      for (std::int64_t i = 0; i < y_[2]; ++i) {
        const Field of_row = power(point, 0, n) * power(point, 2, i);
        const std::int64_t row = n * plane_ + i * window_.strides[0] * width_;
        for (std::int64_t j = 0; j < y_[3]; ++j) {
          *next++ = static_cast<std::uint32_t>(row + j * window_.strides[1]);
          *factor++ = of_row * power(point, 3, j);
        }
      }
    }
    std::fill_n(images.data(), x_[0] * plane_, Field());
    for (std::int64_t c = 0; c < x_[1]; ++c) {
      for (std::int64_t n = 0; n < x_[0]; ++n)
        copy_padded(x.data() + (n * x_[1] + c) * x_[2] * x_[3], images.data() + n * plane_);
      correlate(images.data(), offsets.span(), factors.span(), sums.span());
      for (std::int64_t s = 0; s < w_[2]; ++s) {
        for (std::int64_t t = 0; t < w_[3]; ++t)
          out[static_cast<std::size_t>((c * w_[2] + s) * w_[3] + t)] = sums.data()[position(s, t)];
      }
    }
  }
  void reduce_weight(TensorView<const Field> w, const HashPoint& point, std::span<Field> out) const {
    const std::int64_t taps = w_[2] * w_[3];
    for (std::int64_t c = 0; c < x_[1]; ++c) {
      const std::int64_t first = c / w_[1] * per_group_;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        SumOfProducts<Field> sum;
        for (std::int64_t o = first; o < first + per_group_; ++o)
          sum.add(w[(o * w_[1] + c % w_[1]) * taps + tap], power(point, 1, o));
        out[static_cast<std::size_t>(c * taps + tap)] = sum.value();
      }
    }
  }

 private:
  /// Room for `count` numbers, not zeroed: on the stack if they are few.
  template <class T>
  class Scratch {
   public:
    explicit Scratch(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
      if (sizeof(T) * count_ > sizeof(near_)) far_.resize(count_);
    }
    [[nodiscard]] T* data() { return far_.empty() ? reinterpret_cast<T*>(near_) : far_.data(); }
    [[nodiscard]] std::span<T> span() { return {data(), count_}; }

   private:
    std::size_t count_;
    std::vector<T> far_;
    alignas(std::uint64_t) std::byte near_[2048];
  };

  [[nodiscard]] static Field power(const HashPoint& point, int axis, std::int64_t exponent) {
    return point.powers(axis)[static_cast<std::size_t>(exponent)];
  }
  /// Where tap (s, t) of the first output position lies in a padded plane.
  [[nodiscard]] std::int64_t position(std::int64_t s, std::int64_t t) const {
    return s * window_.dilations[0] * width_ + t * window_.dilations[1];
  }
  /// Into a padded plane, which is zero elsewhere.
  void copy_padded(const Field* image, Field* to) const {
    for (std::int64_t row = 0; row < image_rows_; ++row)
      std::copy_n(image + row * x_[3], image_columns_, to + (row + top_) * width_ + left_);
  }

  const Window window_;
  const std::int64_t groups_, per_group_;
  const Shape &x_, &w_, &y_;
  /// A padded plane reaches as far as the window at all output positions, and the image is cut there.
  const std::int64_t height_ = (y_[2] - 1) * window_.strides[0] + (w_[2] - 1) * window_.dilations[0] + 1,
                     width_ = (y_[3] - 1) * window_.strides[1] + (w_[3] - 1) * window_.dilations[1] + 1,
                     plane_ = height_ * width_, top_ = window_.before(0, w_[2]), left_ = window_.before(1, w_[3]),
                     image_rows_ = std::min(x_[2], height_ - top_),
                     image_columns_ = std::max<std::int64_t>(std::min(x_[3], width_ - left_), 0);
};

}  // namespace rewright
