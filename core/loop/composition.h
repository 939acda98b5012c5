// Definitions one after another, as one; and what need not be stored between them.
//
//   y = matmul(x, w); z = relu(y)      z[i, j] = max(sum(k < 8, x[i, k] * w[k, j]), 0)
//
// A temporary is inlined if one stage defines all of it, each element by itself, and either
//   - it has no reduction, and is cheap to compute again, or is read once for each element; or
//   - it has a reduction, and one stage without any reads each element once: what follows an anchor.
#pragma once

#include <rewright/operator/expression.h>

#include <span>
#include <string_view>
#include <vector>

namespace rewright::loop {

/// Adds `part` to `whole`: its inputs and weights are `operands`, in their order, which may have other sizes of as many
/// elements; its other buffers are new temporaries, their names and those of its stages behind `prefix`. Returns its
/// outputs, in order.
REWRIGHT_API std::vector<BufferId> append(Definition& whole, const Definition& part, std::span<const BufferId> operands,
                                          std::string_view prefix);

/// Without the temporaries that can be inlined, and those that nothing reads.
[[nodiscard]] REWRIGHT_API Definition inlined(Definition definition);

}  // namespace rewright::loop
