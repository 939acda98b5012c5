// Kernels as they run fast: tensors between them with channels last and zeros around (compile/storage.h), each with a
// schedule (schedule/one_shot.h), weights in the layout that it asks for.
//
// Channels are last in what is a sum of products with weights that name the result's dimension 1 and neither 2 nor 3,
// and in what is made of such tensors. Inputs and outputs of the graph are as their user has them; such sums
// read and write copies of these.
#pragma once

#include "compile/kernels.h"
#include "schedule/one_shot.h"

namespace rewright::compile {

/// Errors: kInternal, a kernel that the validator refuses.
[[nodiscard]] REWRIGHT_API Result<Kernels> scheduled(const Graph& graph, const Kernels& kernels,
                                                     const schedule::VectorUnit& unit);

}  // namespace rewright::compile
