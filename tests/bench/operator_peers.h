// Library kernels for the operators of experiments/tuning: of oneDNN, OpenBLAS and ONNX Runtime.
#pragma once

#include <rewright/onnx/runtime.h>

#include <string>
#include <vector>

#include "dnnl_peers.h"

namespace rewright::bench {

/// `program`: conv1d, conv2d, conv3d, grouped, dilated, depthwise, transposed, capsule, product or norm, with the sizes
/// that its file names; others have none. `blas`: the file of OpenBLAS's library. ONNX Runtime runs a node alone and,
/// where its output can be its input, one of five in a chain, as it keeps channels in blocks between nodes.
/// Errors: a library that is not there, or does not take its node.
[[nodiscard]] Result<std::vector<Peer>> operator_peers(const std::string& program, const Sizes& sizes,
                                                       const std::string& blas, const Runtime& onnxruntime);

}  // namespace rewright::bench
