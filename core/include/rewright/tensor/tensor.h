// Dense tensors over a scalar algebra, row-major and contiguous.
#pragma once

#include <rewright/tensor/shape.h>

#include <cstddef>
#include <span>
#include <vector>

namespace rewright {

/// A borrowed tensor. `Scalar` may be const. Copying it copies the view; the caller keeps data and shape alive.
template <class Scalar>
class TensorView {
 public:
  TensorView(Scalar* data, const Shape& shape) : data_(data), shape_(&shape) {}

  [[nodiscard]] const Shape& shape() const { return *shape_; }
  [[nodiscard]] int rank() const { return shape_->rank(); }
  [[nodiscard]] std::int64_t size(int axis) const { return (*shape_)[axis]; }
  [[nodiscard]] std::int64_t elements() const { return shape_->elements(); }
  [[nodiscard]] Scalar* data() const { return data_; }
  [[nodiscard]] std::span<Scalar> values() const { return {data_, static_cast<std::size_t>(elements())}; }

  /// The element at row-major position `flat`.
  [[nodiscard]] Scalar& operator[](std::int64_t flat) const { return data_[flat]; }
  /// The element at one index per axis.
  template <class... Index>
  [[nodiscard]] Scalar& operator()(Index... index) const {
    std::int64_t flat = 0;
    int axis = 0;
    ((flat = flat * (*shape_)[axis++] + static_cast<std::int64_t>(index)), ...);
    return data_[flat];
  }
  /// The element at an index vector of length rank().
  [[nodiscard]] Scalar& at(std::span<const std::int64_t> index) const {
    std::int64_t flat = 0;
    for (int axis = 0; axis < rank(); ++axis) flat = flat * (*shape_)[axis] + index[static_cast<std::size_t>(axis)];
    return data_[flat];
  }

 private:
  Scalar* data_;
  const Shape* shape_;
};

/// An owned tensor, all zero when made.
template <class Scalar>
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Shape shape) : shape_(std::move(shape)), values_(static_cast<std::size_t>(shape_.elements())) {}
  Tensor(Shape shape, std::vector<Scalar> values) : shape_(std::move(shape)), values_(std::move(values)) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] TensorView<Scalar> view() { return {values_.data(), shape_}; }
  [[nodiscard]] TensorView<const Scalar> view() const { return {values_.data(), shape_}; }
  [[nodiscard]] std::vector<Scalar>& values() { return values_; }
  [[nodiscard]] const std::vector<Scalar>& values() const { return values_; }

 private:
  Shape shape_;
  std::vector<Scalar> values_;
};

/// Calls `visit(index)` with every index vector of `shape` in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
  if (shape.elements() == 0) return;
  while (true) {
    visit(std::span<const std::int64_t>(index));
    int axis = shape.rank() - 1;
    for (; axis >= 0; --axis) {
      auto& position = index[static_cast<std::size_t>(axis)];
      if (++position < shape[axis]) break;
      position = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace rewright
