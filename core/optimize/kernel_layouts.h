// What a kernel costs by the layouts of its tensors.
//
// A layout is an order of the axes in memory (AxisOrder). Of each rank some are considered: all for matrices and stacks
// of them, for tensors of rank 4 those that begin with axis 0, so that images with their channels last and the heads of
// an attention are among them, and images with their channels in blocks of 16 or 8. What a kernel can be in follows
// from how the definition of its first operator reads the operands along their axes (operator/properties.h):
//
//   each axis by its own index (relu, concat, ...)   all tensors in one order; no part may begin or end inside a block
//   [.., i, k] times [.., k, j] (matmul)             each tensor in any order whose fastest axis is one of the last two
//   windows through all channels (conv2d)            channels first, last or in blocks, the image and the output each
//   windows over an image (pooling)                  the same, on both sides alike
//   the last axis as a whole (softmax)               all in one order, the last axis the fastest
//   axes moved and nothing else (transpose)          nothing: the output is the operand, in another order
//   any other                                        all in order
//
// and what is fused with it reads each axis by its own index; as far as the cost model has a cost for it. An operand
// that lies otherwise is brought into place first, which costs what the cost model says of the transpose that does it;
// where blocks are cut or joined, of a transpose that moves no axis, from the one order into the other.
#pragma once

#include <rewright/optimize/cost.h>

#include <cstdint>
#include <span>
#include <vector>

#include "optimize/kernel_costs.h"
#include "optimize/pbqp.h"

namespace rewright {

/// In order (empty) first; at most Pbqp::kMostStates.
[[nodiscard]] std::span<const AxisOrder> orders_of_rank(int rank);

struct KernelLayouts {
  Pbqp::Own own = {};                ///< By order of the outputs, in units of PoolCosts.
  std::vector<Pbqp::Pair> operands;  ///< By operand from outside that is data: [its order][order of the outputs].
};
/// Operands from outside: those of the first application, then those of the others without the joined ones.
/// Errors: of the cost model.
[[nodiscard]] Result<KernelLayouts> kernel_layouts(KernelCosts& costs, const Kernel& kernel);
/// Asks what the kernel costs with all tensors in order, and no more: kernel_layouts() has that answer then.
[[nodiscard]] Status ask_in_order(KernelCosts& costs, const Kernel& kernel);
/// What bringing a tensor from one order into another costs, by both.
[[nodiscard]] Result<Pbqp::Pair> reorder_costs(KernelCosts& costs, const Shape& shape);

}  // namespace rewright
