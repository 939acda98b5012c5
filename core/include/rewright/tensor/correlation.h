// Sums of shifted products over the field, the inner loop of a convolution's kernel:
//
//     sums[q] = sum over k of x[q + offsets[k]] * weights[k]
//
// An image with its padding around it, row after row, is a flat array in which every tap of the window is a shift. On
// processors with 52-bit integer multiply-add (AVX-512 IFMA) eight sums are made at a time, elsewhere one by one.
//
// Shapes  `offsets` and `weights` have one length; x has at least sums.size() + the greatest offset elements.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/scalar.h>

#include <cstdint>
#include <span>

namespace rewright {

REWRIGHT_API void correlate(const Field* x, std::span<const std::uint32_t> offsets, std::span<const Field> weights,
                            std::span<Field> sums);

/// The sum of a[i] * b[i]; both have one length.
[[nodiscard]] REWRIGHT_API Field dot(std::span<const Field> a, std::span<const Field> b);

/// max(x, 0) of every element, in place, in the order of the field (<rewright/tensor/scalar.h>).
REWRIGHT_API void relu_all(std::span<Field> elements);

}  // namespace rewright
