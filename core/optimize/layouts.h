// A graph's tensors in the layouts that are best together.
//
// Every kernel's outputs lie in one order of their axes; an operand that must lie otherwise is brought there. The
// orders are chosen together, as a partitioned boolean quadratic problem (pbqp.h). What is brought into one order for
// two users is counted twice, so that the cost is at most too high.
//
// ONNX knows no layouts: tensors lie in order, images with their channels first. What can be said in it is which side
// of an operator a matrix is transposed on; runtimes do a transpose in the product after it. So matrices that lie by
// columns are written as such, with Transpose where they are used. Any other layout, blocks of channels among them, is
// up to the runtime, and a model that counts on it is one of a runtime that keeps it: nothing of it is written.
//
// Source  Jia et al., TASO, SOSP 2019, section 5 (joint optimisation of substitutions and data layout).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/optimize/cost.h>

#include <vector>

namespace rewright {

struct LayoutChoice {
  double cost_us = 0;             ///< Infinite where there is no choice; all tensors are in order then.
  std::vector<AxisOrder> orders;  ///< By node: of its outputs.
};
/// Errors: of the cost model. `cost` must choose layouts. All kernels are asked about in order first: where that is
/// stopped later (KernelCosts::watch), the choice is among what was known until then.
[[nodiscard]] REWRIGHT_API Result<LayoutChoice> choose_layouts(GraphCost& cost, const Graph& graph);

/// The same function, with matrices that lie by columns computed as their transposes.
[[nodiscard]] REWRIGHT_API Result<Graph> write_layouts(const Graph& graph, const LayoutChoice& choice,
                                                       const Operator& transpose);

}  // namespace rewright
