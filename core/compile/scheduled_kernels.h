// Kernels as they run fast: tensors between them with channels last and zeros around (compile/storage.h), each with a
// schedule (schedule/one_shot.h), weights in the layout that it asks for.
//
// Channels are last in what is a sum of products with weights that name the result's dimension 1 and neither 2 nor 3,
// and in what is made of such tensors. Inputs and outputs of the graph are as their user has them; such sums
// read and write copies of these.
#pragma once

#include <functional>
#include <optional>

#include "compile/kernels.h"
#include "compile/node_algorithms.h"
#include "schedule/one_shot.h"

namespace rewright::compile {

/// The schedule of a kernel's program, conditions of sums inside; nothing: as one_shot() has it.
using ScheduleChoice = std::function<std::optional<schedule::OneShot>(const loop::Program& program)>;

/// `threads`: above 1, the outermost loop of each nest that may runs in parallel, where there is much to do. Errors:
/// kInternal, a kernel that the validator refuses.
[[nodiscard]] REWRIGHT_API Result<Kernels> scheduled(const Graph& graph, const Kernels& kernels,
                                                     const schedule::VectorUnit& unit, int threads = 1,
                                                     const ScheduleChoice& choose = {},
                                                     const WeightWishes& wishes = {});

}  // namespace rewright::compile
