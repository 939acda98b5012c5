// Tensors as Eager (eager.h) reads them: as they are, in parts, with their axes moved, along some axes. Nothing is
// copied.
#pragma once

#include <rewright/tensor/box.h>
#include <rewright/tensor/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rewright::eager {

/// The positions first .. first + size - 1 of a tensor along an axis: as many runs as the axes before it have
/// indices.
template <class T>
struct Part {
  TensorView<T> tensor;
  int axis;
  std::int64_t first, size;

  [[nodiscard]] Box<T> box() const {
    auto box = Box<T>::of(tensor.data(), tensor.shape());
    box.data += first * box.stride(axis);
    box.set(axis, size, box.stride(axis));
    return box;
  }
  [[nodiscard]] std::int64_t runs() const {
    std::int64_t count = 1;
    for (int before = 0; before < axis; ++before) count *= tensor.size(before);
    return count;
  }
  [[nodiscard]] std::int64_t elements_behind() const {
    std::int64_t count = 1;
    for (int behind = axis + 1; behind < tensor.rank(); ++behind) count *= tensor.size(behind);
    return count;
  }
};
/// Those of a box that begins at `data`.
template <class Scalar>
struct Elements {
  const Scalar* data;
  const Box<const Scalar>* box;
  template <class... I>
  [[nodiscard]] const Scalar& operator()(I... index) const {
    std::int64_t at = 0;
    int axis = 0;
    ((at += index * box->stride(axis++)), ...);
    return data[at];
  }
};
/// The elements of a view along some of its axes, for each index of the others.
template <class Scalar>
class Rows {
 public:
  Rows(const Box<const Scalar>& box, std::span<const std::int64_t> axes) {
    along_.data = box.data;
    AxisNumbers sizes, strides;
    std::size_t kept = 0, next = 0;
    for (int axis = 0; axis < box.rank; ++axis) {
      const bool is_along = next < axes.size() && axes[next] == axis;
      if (is_along) ++next;
      if (is_along) along_.append(box.size(axis), box.stride(axis));
      if (!is_along) sizes[kept] = box.size(axis), strides[kept++] = box.stride(axis);
    }
    const CommonAxes<1> merged(static_cast<int>(kept), sizes, {&strides});
    rank_ = merged.rank();
    for (std::size_t k = 0; k < rank_; ++k) sizes_[k] = merged.size(k), strides_[k] = merged.stride(0, k);
  }
  /// Those at an index of the other axes.
  [[nodiscard]] Elements<Scalar> operator()(std::int64_t index) const {
    const Scalar* data = along_.data;
    for (std::size_t k = rank_; k-- > 1; index /= sizes_[k]) data += index % sizes_[k] * strides_[k];
    return {data + index * strides_[0], &along_};
  }

 private:
  Box<const Scalar> along_;
  std::size_t rank_ = 0;
  AxisNumbers sizes_;
  AxisNumbers strides_;
};

/// A tensor whose axes are moved.
template <class Scalar>
class View {
 public:
  explicit View(const Box<const Scalar>& box) : box_(box) {}
  [[nodiscard]] int rank() const { return box_.rank; }
  [[nodiscard]] std::int64_t size(int axis) const { return box_.size(axis); }
  /// Axis k of the result is axis axes[k] of this one.
  [[nodiscard]] View permuted(std::span<const std::int64_t> axes) const {
    View view(*this);
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const int from = static_cast<int>(axes[k]);
      view.box_.set(static_cast<int>(k), box_.size(from), box_.stride(from));
    }
    return view;
  }
  /// Positions first, first + step, ... along an axis, `size` of them.
  [[nodiscard]] View sliced(int axis, std::int64_t first, std::int64_t step, std::int64_t size) const {
    View view(*this);
    view.box_.data += first * box_.stride(axis);
    view.box_.set(axis, size, box_.stride(axis) * step);
    return view;
  }
  [[nodiscard]] View part(int axis, std::int64_t first, std::int64_t size) const {
    return sliced(axis, first, 1, size);
  }
  /// Aligned at its last axes with `to`; repeated along those of its axes that this one lacks and along `axes`, where
  /// its size is 1.
  template <class To>
  [[nodiscard]] View repeated(const To& to, std::span<const std::int64_t> axes) const {
    View view(*this);
    const int lacks = to.rank() - box_.rank;
    view.box_.rank = to.rank();
    for (int axis = 0; axis < lacks; ++axis) view.box_.set(axis, to.size(axis), 0);
    for (int axis = lacks; axis < to.rank(); ++axis)
      view.box_.set(axis, box_.size(axis - lacks), box_.stride(axis - lacks));
    for (const std::int64_t axis : axes) view.box_.set(static_cast<int>(axis), to.size(static_cast<int>(axis)), 0);
    return view;
  }
  /// The elements along some axes, in ascending order, for each index of the others.
  [[nodiscard]] Rows<Scalar> along(std::span<const std::int64_t> axes) const { return Rows<Scalar>(box_, axes); }
  [[nodiscard]] const Box<const Scalar>& box() const { return box_; }

 private:
  Box<const Scalar> box_;
};
/// A tensor as it is: a view that is not made a box before it must be.
template <class Scalar>
class Whole {
 public:
  explicit Whole(const TensorView<const Scalar>& tensor) : tensor_(tensor) {}
  operator View<Scalar>() const { return View<Scalar>(box()); }
  [[nodiscard]] int rank() const { return tensor_.rank(); }
  [[nodiscard]] std::int64_t size(int axis) const { return tensor_.size(axis); }
  [[nodiscard]] View<Scalar> permuted(std::span<const std::int64_t> axes) const {
    return View<Scalar>(box()).permuted(axes);
  }
  [[nodiscard]] View<Scalar> sliced(int axis, std::int64_t first, std::int64_t step, std::int64_t size) const {
    return View<Scalar>(box()).sliced(axis, first, step, size);
  }
  [[nodiscard]] Part<const Scalar> part(int axis, std::int64_t first, std::int64_t size) const {
    return {tensor_, axis, first, size};
  }
  template <class To>
  [[nodiscard]] View<Scalar> repeated(const To& to, std::span<const std::int64_t> axes) const {
    return View<Scalar>(box()).repeated(to, axes);
  }
  [[nodiscard]] Rows<Scalar> along(std::span<const std::int64_t> axes) const { return Rows<Scalar>(box(), axes); }
  [[nodiscard]] Box<const Scalar> box() const { return Box<const Scalar>::of(tensor_.data(), tensor_.shape()); }
  [[nodiscard]] const TensorView<const Scalar>& tensor() const { return tensor_; }

 private:
  TensorView<const Scalar> tensor_;
};

}  // namespace rewright::eager
