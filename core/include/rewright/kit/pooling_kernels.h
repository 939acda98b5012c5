// Pools by loops over rows and columns, where the definition of PoolOf is slower.
#pragma once

#include <rewright/kit/pooling.h>
#include <rewright/operator/operator.h>
#include <rewright/tensor/sum_of_products.h>

#include <algorithm>
#include <array>
#include <vector>

namespace rewright {

/// The most elements of an image's plane, and of its rows by the outputs' columns, that pool_max takes: they are on
/// the stack.
inline constexpr std::int64_t kMostPooled = 512;

/// The greatest of each window. n of n / 36^4 is found once an element, the greatest of a row once a column.
inline void pool_max(const Pooling& pooling, Inputs<Field> in, Outputs<Field> out) {
  const Shape &x = in[0].shape(), &y = out[0].shape();
  const WindowAxis vertical = pooling.axis(0, x[2]), horizontal = pooling.axis(1, x[3]);
  static const Field kUnit = Field::from_integer(Field::kOrderDenominator).inverse();
  std::array<std::int64_t, kMostPooled> numbers, of_rows;
  const Field* from = in[0].data();
  Field* to = out[0].data();
  for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane) {
    for (std::int64_t i = 0; i < x[2] * x[3]; ++i) numbers[static_cast<std::size_t>(i)] = (from++)->order();
    for (std::int64_t j = 0; j < y[3]; ++j) {
      const WindowTaps taps = horizontal.taps(j);
      for (std::int64_t row = 0; row < x[2]; ++row) {
        const auto first = numbers.begin() + row * x[3] + taps.position;
        of_rows[static_cast<std::size_t>(row * y[3] + j)] = *std::max_element(first, first + taps.count());
      }
    }
    for (std::int64_t i = 0; i < y[2]; ++i) {
      const WindowTaps taps = vertical.taps(i);
      for (std::int64_t j = 0; j < y[3]; ++j) {
        const std::int64_t* greatest = of_rows.data() + taps.position * y[3] + j;
        std::int64_t value = *greatest;
        for (std::int64_t s = 1; s < taps.count(); ++s) value = std::max(value, greatest[s * y[3]]);
        *to++ = Field::from_integer(value) * kUnit;
      }
    }
  }
}

/// The taps of output positions 0 .. outputs - 1.
[[nodiscard]] inline std::vector<WindowTaps> all_taps(const WindowAxis& axis, std::int64_t outputs) {
  std::vector<WindowTaps> all;
  all.reserve(static_cast<std::size_t>(outputs));
  for (std::int64_t output = 0; output < outputs; ++output) all.push_back(axis.taps(output));
  return all;
}

/// The average of each window, with the taps of every row and column found once.
template <class Scalar>
void pool_mean(const Pooling& pooling, Inputs<Scalar> in, Outputs<Scalar> out) {
  const Shape &x = in[0].shape(), &y = out[0].shape();
  const auto all_rows = all_taps(pooling.axis(0, x[2]), y[2]), all_columns = all_taps(pooling.axis(1, x[3]), y[3]);
  Quotients<Scalar> quotients;
  Scalar* to = out[0].data();
  for (std::int64_t plane = 0; plane < y[0] * y[1]; ++plane) {
    for (const WindowTaps& rows : all_rows) {
      for (const WindowTaps& columns : all_columns) {
        const Scalar* corner = in[0].data() + (plane * x[2] + rows.position) * x[3] + columns.position;
        Scalar sum{};
        for (std::int64_t s = 0; s < rows.count(); ++s) {
          for (std::int64_t t = 0; t < columns.count(); ++t) sum += corner[s * x[3] + t];
        }
        const std::int64_t taps =
            pooling.counts_padding ? pooling.kernel[0] * pooling.kernel[1] : rows.count() * columns.count();
        *to++ = quotients(sum, taps);
      }
    }
  }
}

}  // namespace rewright
