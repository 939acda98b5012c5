// Which axes of an operator's tensors run together: where one element less along one of them is one less along all.
//
//   conv2d      y[n, o, i, j] = sum(c, s, t) x[n, c, i + s, j + t] w[o, c, s, t]     { x.1 w.1 c }  { w.0 y.1 o }
//   depthwise   y[n, o, i, j] = sum(s, t) x[n, o, i + s, j + t] w[o, 0, s, t]        { x.1 w.0 y.1 o }
//   flattened   y[n, f] = x[n, floor(f / 49), floor(f / 7) mod 7, f mod 7]           { x.1 y.1 f }, 49 of f for one of
//   x.1
//
// It follows from the definition: an axis that is an index by itself ties what it indexes; what is divided into blocks
// ties by blocks. Every other use of an axis pins it: in a sum of indices, in a condition, as a number, in a reduction
// that is no sum of products, whose terms may be left out.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/operator/expression.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace rewright::compress {

struct AxisTies {
  std::vector<std::vector<std::size_t>> of_buffer;  ///< The class, by buffer and dimension.
  std::map<std::uint32_t, std::size_t> of_axis;     ///< By the axis' id.
  std::vector<bool> pinned;                         ///< By class.
  std::vector<std::int64_t> channels;               ///< By class: the least size of what is in it.
};

/// Of a definition whose sizes are numbers.
[[nodiscard]] REWRIGHT_API AxisTies axis_ties(const Definition& definition);

/// The extents of all axes of a definition, those of reductions too; -1 where one is no number.
[[nodiscard]] std::map<std::uint32_t, std::int64_t> extents_of(const Definition& definition);
/// As loop::simplified, with 0 for axes of one position.
[[nodiscard]] IndexExpr simplified(const IndexExpr& index, const std::map<std::uint32_t, std::int64_t>& extents);

}  // namespace rewright::compress
