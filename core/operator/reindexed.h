// Indices of tensors that hold the same elements in the same order, in other sizes.
//
//     (2, 3, 4) as (6, 4):  y[i, j] = x[floor(i / 3), i mod 3, j]
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/operator/expression.h>

#include <span>
#include <vector>

namespace rewright {

/// An element's place in a tensor of sizes `to` that has the elements of one of sizes `from` in the same order.
[[nodiscard]] REWRIGHT_API std::vector<IndexExpr> reindexed(std::span<const IndexExpr> at,
                                                            std::span<const IndexExpr> from,
                                                            std::span<const IndexExpr> to);

}  // namespace rewright
