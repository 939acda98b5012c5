// Eager<Scalar>: the algebra of loops (definition.h has its vocabulary) that computes at once, over one scalar algebra.
//
// An index is a number, and so is a group of axes: its row-major position. Nothing is allocated but stages.
#pragma once

#include <rewright/operator/eager_views.h>
#include <rewright/operator/over.h>
#include <rewright/operator/params.h>
#include <rewright/operator/window_axis.h>
#include <rewright/tensor/box.h>
#include <rewright/tensor/sum_of_products.h>
#include <rewright/tensor/tensor.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rewright {

template <class Scalar>
using Inputs = std::span<const TensorView<const Scalar>>;
template <class Scalar>
using Outputs = std::span<const TensorView<Scalar>>;

template <class Scalar>
class Eager {
 public:
  using Value = Scalar;
  using Index = std::int64_t;
  using Size = std::int64_t;

  Eager(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) : params_(params), in_(in), out_(out) {}
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;

  /// Elements by one index for each group of axes.
  template <std::size_t kGroups>
  class Groups {
   public:
    Groups(const Scalar* data, const std::array<Size, kGroups>& sizes) : data_(data), sizes_(sizes) {}
    template <class... I>
    [[nodiscard]] const Scalar& operator()(I... index) const {
      static_assert(sizeof...(I) == kGroups, "one index for each group of axes");
      std::int64_t at = 0;
      std::size_t group = 0;
      ((at = at * sizes_[group++] + index), ...);
      return data_[at];
    }
    /// Of a group of one axis.
    [[nodiscard]] Size size(std::size_t group) const { return sizes_[group]; }
    /// Of a group, to be reduced over or for a stage.
    [[nodiscard]] Size extent(std::size_t group) const { return sizes_[group]; }

   private:
    const Scalar* data_;
    std::array<Size, kGroups> sizes_;
  };

  /// A tensor whose axes are one group.
  class Source {
   public:
    explicit Source(const TensorView<const Scalar>& tensor) : data_(tensor.data()), shape_(&tensor.shape()) {}
    [[nodiscard]] const Scalar& operator()(Index index) const { return data_[index]; }
    /// The element of a scalar.
    [[nodiscard]] const Scalar& operator()() const { return data_[0]; }
    /// The element at the row-major position of an index of another tensor with as many elements.
    [[nodiscard]] const Scalar& in_order(Index index) const { return data_[index]; }
    [[nodiscard]] int rank() const { return shape_->rank(); }
    [[nodiscard]] Size size(int axis) const { return (*shape_)[axis]; }
    template <class... Count>
    [[nodiscard]] auto grouped(Count... counts) const {
      return Groups<sizeof...(Count)>(data_, sizes_of_groups(*shape_, counts...));
    }

   private:
    const Scalar* data_;
    const Shape* shape_;
  };

  template <class T>
  using Part = eager::Part<T>;
  using View = eager::View<Scalar>;
  using Whole = eager::Whole<Scalar>;
  using Elements = eager::Elements<Scalar>;
  /// A tensor with a number around it.
  struct Padded {
    View inside;
    AxisNumbers before;
    Scalar value;
  };
  template <class Numbers>
  [[nodiscard]] static Padded padded(const View& inside, const Numbers& before, const Scalar& value) {
    Padded padded{inside, {}, value};
    std::copy(before.begin(), before.end(), padded.before.begin());
    return padded;
  }

  /// What an output or a part of one is.
  template <class... From>
  struct Combination {
    Box<Scalar> to;
    std::tuple<From...> from;
    template <class Function>
    void is(const Function& function) const {
      std::apply([&](const auto&... view) { combine(to, function, view.box()...); }, from);
    }
  };
  class PartTarget {
   public:
    explicit PartTarget(const Part<Scalar>& part) : part_(part) {}
    void is(const View& view) const { copy(view.box(), part_.box()); }
    void is(const Whole& whole) const {
      const Size behind = part_.elements_behind(), length = part_.size * behind;
      const Size apart = part_.tensor.size(part_.axis) * behind;
      const Scalar* from = whole.tensor().data();
      Scalar* to = part_.tensor.data() + part_.first * behind;
      for (Size left = part_.runs(); left > 0; --left, from += length, to += apart) std::copy_n(from, length, to);
    }
    template <class... From>
    [[nodiscard]] Combination<From...> from(const From&... views) const {
      return {part_.box(), {views...}};
    }

   private:
    Part<Scalar> part_;
  };

  template <std::size_t kGroups>
  class GroupedTarget {
   public:
    GroupedTarget(Scalar* data, const std::array<Size, kGroups>& sizes) : data_(data), sizes_(sizes) {}
    /// The element at each index is function(index...); the names of the indices stand in `names`.
    template <class Function>
    Groups<kGroups> is(std::string_view /*names*/, const Function& function) const {
      run<0>(data_, function);
      return Groups<kGroups>(data_, sizes_);
    }
    [[nodiscard]] Size size(std::size_t group) const { return sizes_[group]; }
    /// What was written so far.
    [[nodiscard]] Groups<kGroups> read() const { return Groups<kGroups>(data_, sizes_); }
    /// One row of the first group, to be written by itself.
    [[nodiscard]] GroupedTarget<kGroups - 1> at(Index row) const {
      static_assert(kGroups > 1, "a row is one index of the first of several groups");
      std::array<Size, kGroups - 1> sizes;
      std::copy_n(sizes_.begin() + 1, kGroups - 1, sizes.begin());
      std::int64_t apart = 1;
      for (const Size size : sizes) apart *= size;
      return {data_ + row * apart, sizes};
    }

   private:
    template <std::size_t kAt, class Function, class... I>
    [[gnu::always_inline]] Scalar* run(Scalar* __restrict to, const Function& function, I... index) const {
      const Size size = sizes_[kAt];
      if constexpr (kAt + 1 == kGroups) {
        for (Index k = 0; k < size; ++k) to[k] = function(index..., k);
        return to + size;
      } else {
        for (Index k = 0; k < size; ++k) to = run<kAt + 1>(to, function, index..., k);
        return to;
      }
    }
    Scalar* data_;
    std::array<Size, kGroups> sizes_;
  };

  class Target {
   public:
    explicit Target(const TensorView<Scalar>& tensor) : tensor_(tensor) {}
    [[nodiscard]] int rank() const { return tensor_.rank(); }
    [[nodiscard]] Size size(int axis) const { return tensor_.size(axis); }
    template <class... Count>
    [[nodiscard]] auto grouped(Count... counts) const {
      return GroupedTarget<sizeof...(Count)>(tensor_.data(), sizes_of_groups(tensor_.shape(), counts...));
    }
    /// All axes as one group.
    template <class Function>
    void is(std::string_view /*names*/, const Function& function) const {
      Scalar* const __restrict to = tensor_.data();
      const std::int64_t count = tensor_.elements();
      for (Index i = 0; i < count; ++i) to[i] = function(i);
    }
    void is(const View& view) const { copy(view.box(), box()); }
    void is(const Whole& whole) const { std::copy_n(whole.tensor().data(), tensor_.elements(), tensor_.data()); }
    void is(const Part<const Scalar>& part) const {
      const Size behind = part.elements_behind(), length = part.size * behind;
      const Size apart = part.tensor.size(part.axis) * behind;
      const Scalar* from = part.tensor.data() + part.first * behind;
      Scalar* to = tensor_.data();
      for (Size left = part.runs(); left > 0; --left, from += apart, to += length) std::copy_n(from, length, to);
    }
    void is(const Padded& padded) const {
      std::fill_n(tensor_.data(), tensor_.elements(), padded.value);
      Box<Scalar> inside = box();
      for (int axis = 0; axis < inside.rank; ++axis) {
        inside.data += padded.before[static_cast<std::size_t>(axis)] * inside.stride(axis);
        inside.set(axis, padded.inside.size(axis), inside.stride(axis));
      }
      copy(padded.inside.box(), inside);
    }
    template <class... From>
    [[nodiscard]] Combination<From...> from(const From&... views) const {
      return {box(), {views...}};
    }
    /// The positions first .. first + size - 1 along an axis.
    [[nodiscard]] PartTarget part(int axis, Size first, Size size) const {
      return PartTarget({tensor_, axis, first, size});
    }

   private:
    [[nodiscard]] Box<Scalar> box() const { return Box<Scalar>::of(tensor_.data(), tensor_.shape()); }
    TensorView<Scalar> tensor_;
  };

  // --- tensors

  [[nodiscard]] std::size_t arity() const { return in_.size(); }
  [[nodiscard]] std::size_t outputs() const { return out_.size(); }
  [[nodiscard]] Source in(std::size_t k) const { return Source(in_[k]); }
  [[nodiscard]] Whole view(std::size_t k) const { return Whole(in_[k]); }
  [[nodiscard]] Target out(std::size_t k) const { return Target(out_[k]); }
  /// A tensor on the way, with an axis for each size and for each group.
  template <class... Extent>
  [[nodiscard]] GroupedTarget<sizeof...(Extent)> stage(std::string_view /*name*/, Extent... extents) {
    return {room(static_cast<std::size_t>((std::int64_t{1} * ... * extents))), {extents...}};
  }
  /// For each index in turn, so that a statement may read what one before has written.
  template <class Function>
  static void serial(std::string_view /*name*/, Size size, const Function& function) {
    for (Index index = 0; index < size; ++index) function(index);
  }
  /// The sizes of a size parameter.
  [[nodiscard]] std::span<const Size> sizes(std::size_t parameter) const { return params_.sizes(parameter); }

  // --- indices and values

  template <class Number>
  [[nodiscard]] static Scalar number(Number value) {
    if constexpr (std::is_integral_v<Number>) return Scalar::from_integer(value);
    if constexpr (std::is_floating_point_v<Number>) return Scalar::from_double(value);
  }
  /// The number at a position of a list.
  [[nodiscard]] static Index table(std::span<const std::int64_t> numbers, Index at) {
    return numbers[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] static Scalar select(bool condition, const Scalar& then, const Scalar& otherwise) {
    return condition ? then : otherwise;
  }
  /// value / divisor, a size or a count.
  [[nodiscard]] Scalar quotient(const Scalar& value, Size divisor) { return quotients_(value, divisor); }

  // --- reductions

  struct Tap {
    Index number, position;
  };
  struct Taps {
    WindowTaps taps;
    std::int64_t dilation;
  };
  /// For each output position the taps of a window that lie inside; those of the first ones are known beforehand.
  class Windows {
   public:
    Windows(const WindowAxis& axis, Size outputs) : axis_(axis) {
      for (Index output = 0; output < std::min(outputs, kKnown); ++output)
        known_[static_cast<std::size_t>(output)] = axis.taps(output);
    }
    [[nodiscard]] Taps operator()(Index output) const {
      return {output < kKnown ? known_[static_cast<std::size_t>(output)] : axis_.taps(output), axis_.dilation};
    }

   private:
    static constexpr Index kKnown = 64;
    WindowAxis axis_;
    std::array<WindowTaps, kKnown> known_;
  };
  [[nodiscard]] static Windows windows(const WindowAxis& axis, Size outputs) { return Windows(axis, outputs); }

  /// a * b, for sums of products.
  struct Product {
    Scalar a, b;
  };
  [[nodiscard]] static Product times(const Scalar& a, const Scalar& b) { return {a, b}; }

  template <class... Range, class Function>
  [[nodiscard]] static Scalar sum(std::string_view /*names*/, const Over<Range...>& over, const Function& function) {
    using Element = std::remove_cvref_t<decltype(function(index_of(std::declval<const Range&>())...))>;
    if constexpr (std::is_same_v<Element, Product>) {
      SumOfProducts<Scalar> sum;
      run<0>(over.ranges, [&](auto... index) {
        const Product product = function(index...);
        sum.add(product.a, product.b);
      });
      return sum.value();
    } else {
      Scalar sum{};
      run<0>(over.ranges, [&](auto... index) { sum += function(index...); });
      return sum;
    }
  }
  [[nodiscard]] static Scalar sum(const Elements& elements) {
    Scalar sum{};
    for_each(elements, [&](const Scalar& element) { sum += element; });
    return sum;
  }
  /// Of one element or more.
  template <class... Range, class Function>
  [[nodiscard]] static Scalar greatest(std::string_view /*names*/, const Over<Range...>& over,
                                       const Function& function) {
    Scalar greatest{};
    bool is_first = true;
    run<0>(over.ranges, [&](auto... index) {
      const auto& element = function(index...);
      greatest = is_first ? element : max(greatest, element);
      is_first = false;
    });
    return greatest;
  }
  [[nodiscard]] static Scalar greatest(const Elements& elements) {
    Scalar greatest = elements.data[0];
    bool is_first = true;
    for_each(elements, [&](const Scalar& element) {
      if (!is_first) greatest = max(greatest, element);
      is_first = false;
    });
    return greatest;
  }
  /// How many there are to reduce.
  template <class... Range>
  [[nodiscard]] static Size count(const Over<Range...>& over) {
    return std::apply([](const auto&... range) { return (Size{1} * ... * count_of(range)); }, over.ranges);
  }
  [[nodiscard]] static Size count(const Elements& elements) { return elements.box->elements(); }

 private:
  template <class... Count>
  [[nodiscard]] static std::array<Size, sizeof...(Count)> sizes_of_groups(const Shape& shape, Count... counts) {
    int axis = 0;
    const auto product = [&](int count) {
      Size size = 1;
      for (const int end = axis + count; axis < end; ++axis) size *= shape[axis];
      return size;
    };
    return {product(static_cast<int>(counts))...};
  }

  [[nodiscard]] static Index index_of(const Size& /*size*/) { return 0; }
  [[nodiscard]] static Tap index_of(const Taps& /*taps*/) { return {}; }
  [[nodiscard]] static Size count_of(Size size) { return size; }
  [[nodiscard]] static Size count_of(const Taps& taps) { return taps.taps.count(); }

  template <std::size_t kAt, class Ranges, class Visit, class... I>
  [[gnu::always_inline]] static void run(const Ranges& ranges, const Visit& visit, I... index) {
    if constexpr (kAt == std::tuple_size_v<Ranges>) {
      visit(index...);
    } else if constexpr (std::is_same_v<std::tuple_element_t<kAt, Ranges>, Taps>) {
      const Taps& taps = std::get<kAt>(ranges);
      Index position = taps.taps.position;
      for (Index tap = taps.taps.first; tap < taps.taps.last; ++tap, position += taps.dilation)
        run<kAt + 1>(ranges, visit, index..., Tap{tap, position});
    } else {
      const Size size = std::get<kAt>(ranges);
      for (Index k = 0; k < size; ++k) run<kAt + 1>(ranges, visit, index..., k);
    }
  }
  template <class Visit>
  static void for_each(const Elements& elements, const Visit& visit) {
    const Box<const Scalar>& box = *elements.box;
    if (box.elements() == 0) return;
    const CommonAxes<1> axes(box.rank, box.sizes, {&box.strides});
    const std::size_t last = axes.rank() - 1;
    const std::int64_t count = axes.size(last), step = axes.stride(0, last);
    axes.for_each(last, [&](const auto& at) {
      const Scalar* const from = elements.data + at[0];
      for (std::int64_t k = 0; k < count; ++k) visit(from[k * step]);
    });
  }

  /// For that many elements: those that need no construction are near if they are few.
  [[nodiscard]] Scalar* room(std::size_t count) {
    if constexpr (std::is_trivially_copyable_v<Scalar>) {
      if (count <= kNear - near_used_) {
        Scalar* const place = reinterpret_cast<Scalar*>(near_) + near_used_;
        near_used_ += count;
        return std::uninitialized_default_construct_n(place, count), place;
      }
    }
    return far_.emplace_front(count).data();
  }

  static constexpr std::size_t kNear = 32;
  const Params& params_;
  Inputs<Scalar> in_;
  Outputs<Scalar> out_;
  std::forward_list<std::vector<Scalar>> far_;
  std::size_t near_used_ = 0;
  alignas(Scalar) std::byte near_[kNear * sizeof(Scalar)];
  Quotients<Scalar> quotients_;
};

}  // namespace rewright
