// The matrices of Winograd's minimal filtering F(m, 3): m outputs of a filter of 3 taps from m + 2 numbers, by as many
// products instead of 3 m:
//
//   y = A ((G w) . (B x))    y_p = sum over a of A[p][a] * (sum over s of G[a][s] * w_s) * (sum over u of B[a][u] *
//   x_u)
//
// In two dimensions each matrix is used along rows, then along columns.
// Source  Winograd, Arithmetic Complexity of Computations, 1980; Lavin & Gray, Fast Algorithms for Convolutional Neural
//         Networks, CVPR 2016 (F(2, 3): section 4.1, F(4, 3): section 4.2).
#pragma once

#include <rewright/operator/operator.h>
#include <rewright/tensor/tensor.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace rewright {

class WinogradMatrices {
 public:
  static constexpr std::int64_t kTaps = 3;

  /// Errors: kShape unless there are matrices for m outputs: 2 or 4.
  static Result<WinogradMatrices> of(const char* name, std::int64_t outputs) {
    if (outputs != 2 && outputs != 4) return shape_error("{}: {} outputs of a tile, expected 2 or 4", name, outputs);
    return WinogradMatrices(outputs);
  }
  [[nodiscard]] std::int64_t outputs() const { return outputs_; }
  [[nodiscard]] std::int64_t size() const { return outputs_ + kTaps - 1; }
  /// Row `a` of B, of `size()` numbers.
  [[nodiscard]] std::span<const std::int64_t> data(std::int64_t a) const { return row(data_, a, size()); }
  /// Row `a` of G, of kTaps numbers, times weight_divisor(a).
  [[nodiscard]] std::span<const std::int64_t> weight(std::int64_t a) const { return row(weight_, a, kTaps); }
  [[nodiscard]] std::int64_t weight_divisor(std::int64_t a) const { return divisors_[static_cast<std::size_t>(a)]; }
  /// Row `p` of A, of `size()` numbers.
  [[nodiscard]] std::span<const std::int64_t> result(std::int64_t p) const { return row(result_, p, size()); }

 private:
  using Numbers = std::vector<std::int64_t>;

  explicit WinogradMatrices(std::int64_t outputs) : outputs_(outputs) {
    if (outputs == 2) {
      data_ = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
      weight_ = {1, 0, 0, 1, 1, 1, 1, -1, 1, 0, 0, 1};
      divisors_ = {1, 2, 2, 1};
      result_ = {1, 1, 1, 0, 0, 1, -1, -1};
    } else {
      data_ = {4, 0,  -5, 0, 1, 0, 0, 4, 4,  -1, -1, 0, 0, -4, 4, 1,  -1, 0,
               0, -2, -1, 2, 1, 0, 0, 2, -1, -2, 1,  0, 0, 4,  0, -5, 0,  1};
      weight_ = {1, 0, 0, 1, 1, 1, 1, -1, 1, 1, 2, 4, 1, -2, 4, 0, 0, 1};
      divisors_ = {4, 6, 6, 24, 24, 1};
      result_ = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};
    }
  }
  [[nodiscard]] static std::span<const std::int64_t> row(const Numbers& numbers, std::int64_t at, std::int64_t size) {
    return std::span(numbers).subspan(static_cast<std::size_t>(at * size), static_cast<std::size_t>(size));
  }

  std::int64_t outputs_;
  Numbers data_, weight_, divisors_, result_;
};

/// The sum of numbers times f(place), without those that are 0; some number is above 0.
template <class A, class Function>
[[nodiscard]] auto winograd_sum(A& a, std::span<const std::int64_t> numbers, const Function& f) {
  using Value = decltype(f(std::int64_t{0}));
  const auto term = [&](std::size_t i) {
    const std::int64_t size = numbers[i] < 0 ? -numbers[i] : numbers[i];
    const Value each = f(static_cast<std::int64_t>(i));
    return size == 1 ? each : Value(each * a.number(size));
  };
  const std::size_t first = static_cast<std::size_t>(
      std::ranges::find_if(numbers, [](std::int64_t number) { return number > 0; }) - numbers.begin());
  Value sum = term(first);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0 && i != first) sum = numbers[i] < 0 ? Value(sum - term(i)) : Value(sum + term(i));
  }
  return sum;
}

/// For ONNX: a matrix of `tiles` blocks, each of `row(p)`, p below `rows`, the next block `shift` columns on; times
/// 1 / divisor(p).
template <class Row, class Divisor>
[[nodiscard]] Tensor<Real> winograd_blocks(std::int64_t tiles, std::int64_t rows, std::int64_t shift,
                                           std::int64_t columns, const Row& row, const Divisor& divisor) {
  Tensor<Real> matrix(Shape{tiles * rows, columns});
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    for (std::int64_t p = 0; p < rows; ++p) {
      const std::span<const std::int64_t> numbers = row(p);
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const std::int64_t at = (tile * rows + p) * columns + tile * shift + static_cast<std::int64_t>(k);
        matrix.values()[static_cast<std::size_t>(at)] =
            Real{static_cast<double>(numbers[k]) / static_cast<double>(divisor(p))};
      }
    }
  }
  return matrix;
}
[[nodiscard]] inline Tensor<Real> turned(const Tensor<Real>& matrix) {
  const std::int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  Tensor<Real> result(Shape{columns, rows});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      result.values()[static_cast<std::size_t>(j * rows + i)] =
          matrix.values()[static_cast<std::size_t>(i * columns + j)];
  }
  return result;
}

}  // namespace rewright
