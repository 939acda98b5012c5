// Shapes: the sizes of a tensor along its axes, outermost first, in elements.
//
// BasicShape<Dim> holds sizes of two kinds: Shape has numbers (std::int64_t), SymbolicShape has linear
// expressions over the sizes of a pattern's inputs (SymbolicDim). An operator's shape rule is written once, for both.
#pragma once

#include <rewright/base/result.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// No tensor has more axes than this.
inline constexpr int kMaxRank = 8;

template <class Dim>
class BasicShape {
 public:
  BasicShape() = default;
  BasicShape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit BasicShape(std::vector<Dim> dims) : dims_(std::move(dims)) {}

  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }
  [[nodiscard]] const Dim& operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] Dim& operator[](int axis) { return dims_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::span<const Dim> dims() const { return dims_; }
  [[nodiscard]] auto begin() const { return dims_.begin(); }
  [[nodiscard]] auto end() const { return dims_.end(); }
  void append(Dim dim) { dims_.push_back(std::move(dim)); }

  friend bool operator==(const BasicShape&, const BasicShape&) = default;

 private:
  std::vector<Dim> dims_;
};

/// Concrete sizes, each >= 0.
class Shape : public BasicShape<std::int64_t> {
 public:
  using BasicShape::BasicShape;
  Shape() = default;
  Shape(BasicShape<std::int64_t> base) : BasicShape(std::move(base)) {}

  /// The product of the sizes; 1 for a scalar. Input whose product passes 2^62 is refused where shapes are read.
  [[nodiscard]] std::int64_t elements() const {
    return std::accumulate(begin(), end(), std::int64_t{1}, [](std::int64_t a, std::int64_t b) { return a * b; });
  }
  friend bool operator==(const Shape&, const Shape&) = default;
  friend auto operator<=>(const Shape& a, const Shape& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }
};

/// "(2, 4, 5, 5)"; "()" for a scalar.
[[nodiscard]] inline std::string to_string(const Shape& shape) {
  return fmt::format("({})", fmt::join(shape.begin(), shape.end(), ", "));
}

}  // namespace rewright

template <>
struct fmt::formatter<rewright::Shape> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const rewright::Shape& shape, Context& context) const {
    return fmt::formatter<std::string>::format(rewright::to_string(shape), context);
  }
};
