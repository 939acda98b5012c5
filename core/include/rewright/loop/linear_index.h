// Indices as linear forms over atoms, by which they are simplified and bounded:
//
//   index = constant + sum of coefficient * atom      atom: an axis, a floor, a mod, or data
//
// Beyond affine() a floor or mod is not the end of the form: it is an atom whose range is known.
//   floor((n q + r) / n) = q and (n q + r) mod n = r   where 0 <= r < n
//   n floor(x / n) + x mod n = x
// Sizes must be numbers.
#pragma once

#include <rewright/operator/expression.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace rewright::loop {

using AxisRanges = std::function<std::optional<IndexRange>(const Axis&)>;

struct LinearIndex {
  std::int64_t constant = 0;
  std::vector<std::pair<IndexExpr, std::int64_t>> terms = {};  ///< In the order of their first place; no zeros.

  void add(const IndexExpr& atom, std::int64_t coefficient);
  [[nodiscard]] std::int64_t coefficient(const IndexExpr& atom) const;
  [[nodiscard]] IndexExpr index() const;
};

/// Nothing for symbols, products of two atoms, and numbers beyond 2^40.
[[nodiscard]] REWRIGHT_API std::optional<LinearIndex> linear(const IndexExpr& index);
/// a + factor * b; nothing beyond 2^40.
[[nodiscard]] std::optional<LinearIndex> combined(const LinearIndex& a, const LinearIndex& b, std::int64_t factor);
/// By intervals of the atoms.
[[nodiscard]] std::optional<IndexRange> range_of(const LinearIndex& form, const AxisRanges& axes);

/// An index of the same values for all axes within their ranges, with fewer floors and mods.
[[nodiscard]] REWRIGHT_API IndexExpr simplified(const IndexExpr& index, const AxisRanges& axes);

}  // namespace rewright::loop
