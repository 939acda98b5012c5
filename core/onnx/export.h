// Graphs as ONNX models.
//
// What no rewrite touched is written as it was: the node with its name, attributes and spelling, its tensors under
// their names, what the model declares of them (kept.h). Other applications are written by their operators, opaque
// nodes with their tensors rewired. Work on weights whose values are known is done here, in double precision, and
// written as its result, unless rounding it to its element type would lose numbers. Weights of one repeated number are
// written as ConstantOfShape nodes, which keep a file small; every runtime folds them when it loads the model. A bias
// that is added to a convolution or to a product of matrices, and to nothing else, is the third input of Conv or Gemm.
//
// Sizes   Inputs and outputs keep their declared types, open sizes among them.
// Opset   Operators write forms of opset 17, which are converted to the model's opset (opset_convert.h). Where a node
//         cannot be said there, all nodes are converted to the lowest opset above at which every one can; if there is
//         none, the model is refused with a sentence. A graph without origin gets opset 17.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <string>
#include <vector>

#include "onnx/export_options.h"
#include "onnx/import.h"

namespace rewright {

/// A serialized ModelProto; equal graphs give equal bytes. `graph` must have the inputs and outputs of origin.graph.
/// Errors: kUnsupported where an operator has no counterpart in ONNX, no opset fits or the model passes 2 GiB.
[[nodiscard]] REWRIGHT_API Result<std::string> export_model(const Graph& graph, const ImportedModel& origin,
                                                            const ExportOptions& options = {});
/// The same for a graph that no model was the origin of.
[[nodiscard]] REWRIGHT_API Result<std::string> export_model(const Graph& graph, const ExportOptions& options = {});

/// What export_model(graph, origin, options) tells options.lost, in its order: empty where the result loses nothing.
/// A rewrite that brings such a loss is to be refused unless the user asked for fast arithmetic. Costs as much as the
/// export. Errors: those of export_model.
[[nodiscard]] REWRIGHT_API Result<std::vector<std::string>> lossy_folds(const Graph& graph, const ImportedModel& origin,
                                                                        ExportOptions options = {});

}  // namespace rewright
