// Kernels that copy a tensor from one storage to another.
#pragma once

#include <rewright/loop/loop_program.h>

#include <vector>

namespace rewright::compile {

/// y = x, of the buffer's sizes and elements.
[[nodiscard]] loop::Program copying(const Buffer& of);
/// To or from channels last, of four sizes, places as one dimension: y[n, c, p] = x[n, p, c], or the other way round.
[[nodiscard]] loop::Program transposing(const std::vector<IndexExpr>& sizes, bool from_last);

}  // namespace rewright::compile
