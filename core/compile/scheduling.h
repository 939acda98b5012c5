// Kernels as they are to run on a processor's vectors: where tensors lie in blocks, how loops run, weights packed.
//
// Storage   A tensor of four dimensions that a sum of products with a weight of four reads or makes, or a kernel that
//           keeps its channels where they are, lies in blocks of channels; inputs and outputs of the graph lie in
//           order. What a sum reads beyond an edge lies in a border of zeros (schedule/storage.h).
// Loops     of each kernel by schedule/one_shot.h.
// Weights   that a schedule packs are packed here, once.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/loop/target.h>

#include <map>
#include <string>

#include "compile/kernels.h"
#include "schedule/one_shot.h"

namespace rewright::compile {

/// `target` packs the weights. `external`: weights whose values lie in files. Errors: of the target, kIo; kInternal,
/// a schedule that makes no valid loops.
[[nodiscard]] REWRIGHT_API Result<Kernels> scheduled(const Graph& graph, Kernels kernels,
                                                     const std::map<std::string, ExternalWeight>& external,
                                                     const Target& target, const schedule::VectorUnit& unit);

}  // namespace rewright::compile
