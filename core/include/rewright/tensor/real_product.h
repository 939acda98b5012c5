// Products of matrices over Real, fast: what reference evaluation of a real network spends its time on.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tensor/scalar.h>

#include <cstdint>

namespace rewright {

/// A matrix whose rows lie `stride` numbers apart. Borrowed.
template <class Number>
struct MatrixView {
  Number* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;
};

/// Below so many multiplications operators sum in the order of their meaning, without fused multiply-adds: what is
/// compared bit by bit, as the two sides of a rule are, is small.
inline constexpr std::int64_t kLeastProduct = 1 << 16;

/// c += a b, each sum in the order of a's columns but for partial sums of a few hundred terms. Thread-safe.
/// a.columns = b.rows, c has a.rows and b.columns.
REWRIGHT_API void add_product(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> c);

}  // namespace rewright
