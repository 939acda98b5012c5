// Graphs as ONNX models.
//
// Applications are written by their operators, opaque nodes as they were, with their tensors rewired. Work on weights
// whose values are known is done here, in double precision, and written as its result. Weights of one repeated number
// are written as ConstantOfShape nodes, which keep a file small; every runtime folds them when it loads the model.
// A bias that is added to a convolution or to a product of matrices, and to nothing else, is the third input of Conv or
// Gemm.
//
// Opset   Operators write forms of opset 17, adapted where a later opset takes another form. The model keeps its opset
//         where every written node is valid there and means the same; otherwise it is raised to the lowest opset, at
//         most 17, at which that holds and every opaque node, too, still means what it meant. If there is none, the
//         model is refused with a sentence. A graph without origin gets opset 17.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>

#include <cstdint>
#include <functional>
#include <string>

#include "onnx/import.h"

namespace rewright {

struct ExportOptions {
  /// Bytes that folding may add to the file beyond the weights that it replaces.
  std::int64_t fold_bytes = std::int64_t{64} << 20;
  /// Floating-point operations that folding may take.
  double fold_flops = 2e10;
  /// Told, in one sentence, of work on weights that is left in the model because of these limits.
  std::function<void(const std::string&)> note;
};

/// A serialized ModelProto; equal graphs give equal bytes. `graph` must have the inputs and outputs of origin.graph.
/// Errors: kUnsupported where an operator has no counterpart in ONNX, no opset fits or the model passes 2 GiB.
[[nodiscard]] REWRIGHT_API Result<std::string> export_model(const Graph& graph, const ImportedModel& origin,
                                                            const ExportOptions& options = {});
/// The same for a graph that no model was the origin of.
[[nodiscard]] REWRIGHT_API Result<std::string> export_model(const Graph& graph, const ExportOptions& options = {});

}  // namespace rewright
