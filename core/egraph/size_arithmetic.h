// Size expressions over numbered slots (rewright/tensor/size_code.h), computed in the sizes of a goal.
#pragma once

#include <rewright/tensor/size_code.h>

#include <span>

#include "egraph/sizes.h"

namespace rewright::egraph {

struct SizeArithmetic {
  using Slot = DimId;
  using Value = DimId;

  Sizes& sizes;

  [[nodiscard]] DimId load(DimId slot) const { return slot; }
  [[nodiscard]] DimId constant(std::int64_t number) const { return sizes.constant(number); }
  [[nodiscard]] DimId floor_divide(DimId value, std::int64_t divisor) const {
    return sizes.floor_divide(value, divisor);
  }
  [[nodiscard]] DimId multiply(DimId a, DimId b) const { return sizes.multiply(a, b); }
  [[nodiscard]] DimId add(DimId sum, std::int64_t factor, DimId value) const {
    return sizes.combine(1, sum, factor, value);
  }
};

[[nodiscard]] inline DimId compute(const SizeCode& size, Sizes& sizes, std::span<const DimId> slots) {
  return size.run(SizeArithmetic{sizes}, slots);
}
[[nodiscard]] inline Condition compute(const ConstraintCode& constraint, Sizes& sizes, std::span<const DimId> slots) {
  const DimId left = compute(constraint.left, sizes, slots);
  return {constraint.kind, left, compute(constraint.right, sizes, slots)};
}

}  // namespace rewright::egraph
