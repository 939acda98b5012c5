// Hashes of results without computing the results: what an operator of two operands may offer to enumeration.
//
// The hash of a tensor is a polynomial in its elements, at a fixed random point r_0, r_1, ... of the field:
//
//     h(v) = sum over index vectors i of  v[i] * r_0^i_0 * r_1^i_1 * ...
//
// Where an operator is linear in each operand, the hash of its result is a sum of few products,
//
//     h(f(a, b)) = sum over k of  left(a)[k] * right(b)[k],
//
// with left and right, the operands' reductions, computed once per operand and not once per pair. For the matrix
// product left(a)[k] = sum_i a[i,k] r_0^i and right(b)[k] = sum_j b[k,j] r_1^j: as many products as the inner size.
//
// An operator offers this by deriving from HashReduction as well as from OperatorOf. A test holds what it offers
// against its meaning.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/operator/params.h>
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/shape.h>
#include <rewright/tensor/tensor.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace rewright {

/// The point at which hashes are taken, as powers: powers(axis)[i] = r_axis^i.
class REWRIGHT_API HashPoint {
 public:
  static constexpr int kAxes = 8;
  /// Random from `seed`; powers up to `largest` - 1.
  HashPoint(std::uint64_t seed, std::int64_t largest);
  [[nodiscard]] std::span<const Field> powers(int axis) const { return powers_[static_cast<std::size_t>(axis)]; }
  /// The factor of each element of a tensor of this shape, in row-major order.
  [[nodiscard]] std::vector<Field> weights(const Shape& shape) const;
  /// h(v). Sizes must be below `largest`.
  [[nodiscard]] Field hash(TensorView<const Field> value) const;

 private:
  std::array<std::vector<Field>, kAxes> powers_;
};

class REWRIGHT_API HashReduction {
 public:
  virtual ~HashReduction();
  /// The number of products; 0 where there is no such sum for these parameters and shapes.
  [[nodiscard]] virtual std::size_t reduction_length(const Params& params, std::span<const Shape> in) const = 0;
  /// Computes the reduction of operand 0 (left) or 1 (right): reduction_length elements.
  virtual void reduce(const Params& params, std::size_t operand, std::span<const Shape> in,
                      TensorView<const Field> value, const HashPoint& point, std::span<Field> out) const = 0;
};

}  // namespace rewright
