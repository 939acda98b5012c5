// Weights whose smallest numbers become 0. What is computed changes; shapes and nodes do not.
//
// Source  Han et al., Learning both weights and connections for efficient neural networks, NIPS'15; of all layers
//         together: Gibson, Compiler-centric across-stack deep learning acceleration, 2023, chapter 4 (global L1).
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include "compress/compression.h"

namespace rewright::compress {

/// Of each layer's weight, or of all together, exactly the share (rounded down) becomes 0 that is least in magnitude;
/// of equal ones the first. Zeros that are there count. Errors: kUsage, what `check` says, a weight that would have
/// nothing but zeros, where nothing changes.
[[nodiscard]] REWRIGHT_API Result<CompressedGraph> with_zeros(const Graph& graph, const CompressOptions& options);

}  // namespace rewright::compress
