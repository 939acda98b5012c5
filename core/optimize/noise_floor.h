// How far rounding alone moves the elements of an output, and whether another graph's outputs stay within that.
//
// Given an output in exact arithmetic, O, and what the same graph gave in arithmetics that round, R1, R2, ..., the
// error of element k is e_k = max over i of |Ri_k - O_k|. The floor is a function of an element's magnitude, so that
// small elements beside large ones keep a small floor:
//
//   F(x) = max(u |x|, v, 1.25 q(x) (1 + 2 / sqrt(m)))
//
// where u is the unit roundoff of the output's type, v half the spacing of its least numbers, q(x) the error that 98 %
// of the elements of about x's magnitude do not pass, and m how many those are: the elements of x's binade, and where
// they are fewer than 64 those of binades up to 3 away. 2 / sqrt(m) is for quantiles of few elements. Bands with more
// elements than 2,048 are sampled. For zeros F is at least 2^-50 of the mean magnitude of the output's other elements:
// what cancels in one graph need not in the other. For outputs of float64, whose rounding the exact evaluation shares,
// F is at least 2^-46 |x| and 2^-50 of that mean everywhere.
//
// An element is beyond the floor where the difference is greater, or where one of both is not finite and the other is
// not the same; an infinity is explained where the noise reaches beyond the type's greatest number.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/tensor/scalar.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rewright {

class REWRIGHT_API NoiseFloor {
 public:
  /// Of no noise but the type's own.
  explicit NoiseFloor(ElementType type);
  /// `rounded`: spans as long as `exact`.
  NoiseFloor(ElementType type, std::span<const Real> exact, std::span<const std::span<const Real>> rounded);

  [[nodiscard]] double at(double exact) const;
  /// The greatest finite number of the output's type.
  [[nodiscard]] double greatest() const { return greatest_; }

 private:
  /// By the bits of a double's exponent: what at() adds to the unit roundoff.
  std::vector<double> by_exponent_;
  double unit_roundoff_;
  double least_error_;
  double greatest_;
};

/// How far an output is from the original's.
struct Deviation {
  std::size_t elements = 0;  ///< That were compared.
  std::size_t beyond = 0;    ///< Further than the floor allows.
  std::size_t place = 0;     ///< The element that is furthest beyond, or furthest off.
  double error = 0;          ///< There: the absolute difference,
  double floor = 0;          ///< the floor,
  double expected = 0;       ///< and both values.
  double actual = 0;
  double greatest = 0;        ///< Absolute difference of any two finite elements,
  double greatest_floor = 0;  ///< and the floor there.

  /// More elements than rounding explains: 1 % of them, and at least one.
  [[nodiscard]] bool is_too_far() const { return is_more_than(0.01); }
  [[nodiscard]] bool is_more_than(double share) const {
    return beyond > 0 && static_cast<double>(beyond) >= share * static_cast<double>(elements);
  }
};

/// `multiple`: how many times the floor is allowed. `only_where`: elements to compare, where it is finite; empty: all.
[[nodiscard]] REWRIGHT_API Deviation compare(std::span<const Real> expected, std::span<const Real> actual,
                                             const NoiseFloor& floor, double multiple,
                                             std::span<const Real> only_where = {});
/// Of types without a fraction: every difference is beyond.
[[nodiscard]] REWRIGHT_API Deviation compare_whole(std::span<const Real> expected, std::span<const Real> actual);

}  // namespace rewright
